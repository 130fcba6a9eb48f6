// How far times are from now, buttons that copy, and printed commands.
const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const words = new Intl.RelativeTimeFormat("en", { numeric: "always" });
for (const time of document.querySelectorAll("time[datetime]")) {
  // A row of a dense table is one line.
  if (time.closest(".dense")) continue;
  const seconds = Math.round((new Date(time.dateTime) - Date.now()) / 1000);
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= 2 * size) ?? units[3];
  const distance = document.createElement("span");
  distance.className = "distance";
  distance.textContent = ` (${words.format(Math.trunc(seconds / length), unit)})`;
  time.after(distance);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
    button.textContent = "Copied";
  });
}

// A printed command is that of the fields as they were, so that it goes when one changes.
for (const act of document.querySelectorAll("details.act")) {
  act.addEventListener("input", () => act.querySelector("[data-by-hand]")?.remove());
}
