// Follows a login with the phone: each event names the state whose parts are shown.
const live = document.getElementById("live");
const over = ["cancelled", "timed_out", "wrong_number", "contested", "failed"];
const names = ["waiting", "scanned", "number", "approved", "no_account", ...over];
const source = new EventSource(live.dataset.events);

function show(state, data) {
  live.dataset.state = state;
  const code = document.getElementById("code");
  if (state === "waiting" && code && data) {
    const url = new URL(code.src);
    url.searchParams.set("slot", data);
    code.src = url.href;
  }
  if (state === "number") document.getElementById("number").textContent = data.slice(0, 2);
  for (const part of live.querySelectorAll("[data-for]")) {
    const states = part.dataset.for.split(" ");
    part.hidden = !states.includes(state) && !(over.includes(state) && states.includes("over"));
  }
  if (over.includes(state) || state === "approved") source.close();
  if (state === "approved") document.getElementById("finish").requestSubmit();
}

for (const name of names) source.addEventListener(name, (event) => show(name, event.data));
document.getElementById("again").hidden = true;
