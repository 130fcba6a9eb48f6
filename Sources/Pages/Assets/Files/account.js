// Leaves the page when its session has ended elsewhere: with the phone that had let the browser in.
const source = new EventSource(document.querySelector("[data-events]").dataset.events);
source.addEventListener("ended", () => {
  source.close();
  location.replace("/oauth/logout");
});
