// Times in the reader's zone, a token from the fragment, a look at the password, no form twice.
const all = (selector) => document.querySelectorAll(selector);

const { lang } = document.documentElement;
const locale = navigator.languages.find((tag) => tag.split("-")[0] === lang) ?? lang;
for (const time of all("time[datetime]")) {
  const at = new Date(time.dateTime);
  if (isNaN(at)) continue;
  const style = time.className === "day" ? { dateStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
  time.title = time.textContent;
  time.textContent = new Intl.DateTimeFormat(locale, style).format(at);
}

const [opened] = location.hash[1] ? all("#reset, #app-login, #proof-link, #act-link") : [];
if (opened) {
  opened.elements.token.value = location.hash.slice(1);
  document.getElementById("token-field")?.setAttribute("hidden", "");
  history.replaceState(null, "", location.pathname);
}

for (const button of all("button[data-shows]")) {
  const input = button.parentElement.querySelector("input");
  button.hidden = false;
  button.addEventListener("click", () => {
    const shows = input.type === "password";
    input.type = shows ? "text" : "password";
    button.setAttribute("aria-pressed", shows);
  });
}

const again = () => {
  for (const form of all("form[data-sent]")) {
    delete form.dataset.sent;
    form.querySelector("[aria-busy]")?.removeAttribute("aria-busy");
  }
};
for (const form of all("form")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "1";
    event.submitter?.setAttribute("aria-busy", "true");
    for (const input of form.querySelectorAll("[aria-pressed=true]")) input.click();
    // The page stays where the answer opens an app.
    setTimeout(again, 4000);
  });
}
const { account } = document.body.dataset;
addEventListener("pageshow", ({ persisted }) => {
  again();
  // The browser has kept the page, and its user may have signed out meanwhile.
  if (persisted && account !== undefined) {
    document.body.hidden = true;
    // A URL with a fragment would load nothing.
    const here = location.pathname + location.search;
    location.replace(account && location.pathname !== account ? account : here);
  }
});

if (["app-login", "act-link"].includes(opened?.id)) opened.requestSubmit();
