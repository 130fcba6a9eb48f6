// Follows a login with the phone: an event names the state to show. Where a proxy holds the stream back, the page asks.
const find = (id) => document.getElementById(id);
const live = find("live");
const { events } = live.dataset;
const parts = [...live.querySelectorAll("[data-for]")];
const ends = ["approved", "finished", ...find("over").dataset.for.split(" ")];
const hasEnded = () => ends.includes(live.dataset.state);
let seen = "";
let source;

function show(state, data) {
  if (seen === `${state}.${data}`) return;
  seen = `${state}.${data}`;
  live.dataset.state = state;
  const code = find("code");
  if (state === "waiting" && code) code.src = `${code.src.split("?")[0]}?${data}`;
  if (state === "number") find("number").textContent = data;
  for (const part of parts) part.hidden = !part.dataset.for.split(" ").includes(state);
  if (hasEnded()) source.close();
  if (state === "approved") find("finish").requestSubmit();
}

function follow() {
  source = new EventSource(events);
  const silence = setTimeout(ask, 5000);
  for (const { dataset } of parts) {
    source.addEventListener(dataset.for, (event) => {
      clearTimeout(silence);
      show(dataset.for, event.data);
    });
  }
  source.onerror = () => {
    clearTimeout(silence);
    if (source.readyState === EventSource.CLOSED) ask();
  };
}

async function ask() {
  source.close();
  while (!hasEnded()) {
    try {
      const answer = await fetch(`${events}?wait=20&seen=${seen}`);
      if (answer.status === 404) return location.reload();
      const { event, data } = await answer.json();
      show(event, data);
    } catch {
      await new Promise((again) => setTimeout(again, 3000));
    }
  }
}

if (!hasEnded()) follow();
find("again").hidden = true;
