// Leaves the page when its session has ended elsewhere: with the phone that had let the browser in.
const { events, logout } = document.querySelector("[data-events]").dataset;
const source = new EventSource(events);
source.addEventListener("ended", () => {
  source.close();
  location.replace(logout);
});
