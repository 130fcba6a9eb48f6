// How far times are from now, and buttons that copy a command.
const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const words = new Intl.RelativeTimeFormat("en", { numeric: "always" });
for (const time of document.querySelectorAll("time[datetime]")) {
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
