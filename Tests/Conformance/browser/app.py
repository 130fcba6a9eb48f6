"""An app without a server in a browser, and the server at which its users sign in."""

import json
import os
import tempfile
import time

from selenium.webdriver.common.by import By

from chromium import Browser
from origin import Site
from served import Server

FOLDER = os.path.dirname(os.path.abspath(__file__))
PASSWORD = "correct horse battery"
ISOLATED = ("Cross-Origin-Opener-Policy", "same-origin")
# Runs a text as the body of an async function.
ASYNC = """const [text, values, done] = arguments
    new (Object.getPrototypeOf(async function () {}).constructor)('...values', text)(...values)
        .then((value) => done({value}), (error) => done({error: String(error)}))"""


class App:
    """`origins` is one, where a proxy gives app and server one origin, or two, where the client has a list of origins."""

    def __init__(self, program, dist, origins="one", settings=None):
        self.folder = tempfile.TemporaryDirectory()
        self.dist = os.path.abspath(dist)
        page = FOLDER + "/pages/app.html"
        self.site = Site(
            {"/dist/": self.dist, "/app.js": FOLDER + "/pages/app.js",
             "/settings.json": self.folder.name + "/settings.json", "/entry.js": self.folder.name + "/entry.js"},
            {"/app": [page], "/callback": [page], "/elsewhere": [FOLDER + "/pages/elsewhere.html"],
             "/coop/app": [page, ISOLATED], "/coop/callback": [page, ISOLATED]})
        self.origin = f"http://localhost:{self.site.port}"
        words = ["--issuer", self.origin] if origins == "one" else []
        self.server = Server(
            os.path.abspath(program), self.folder.name, *words, settings={"SOJOURN_PASSKEYS_ORIGINS": self.origin})
        if origins == "one":
            self.site.upstream = self.server.public
        self.issuer = self.origin if origins == "one" else self.server.public
        self.set_up([self.origin] if origins == "two" else None, settings or {})
        self.driver = Browser("--disable-popup-blocking").driver
        self.driver.set_page_load_timeout(40)

    def set_up(self, origins, settings):
        # The folder of the compiler, or that of the archive, which has one module for each part.
        module = "/dist/browser.js" if os.path.exists(self.dist + "/browser.js") else "/dist/browser/index.js"
        with open(self.folder.name + "/entry.js", "w") as file:
            file.write(f"export * from '{module}'\n")
        with open(self.folder.name + "/settings.json", "w") as file:
            json.dump({"server": self.issuer, "clientID": "shop-web", "scope": "openid account", **settings}, file)
        self.server.admin("/users", {"username": "anna", "password": PASSWORD})
        client = {
            "client_id": "shop-web", "client_name": "Shop", "scope": "openid account", "browser_session": "client",
            "grant_types": [
                "authorization_code", "refresh_token", "login", "urn:ietf:params:oauth:grant-type:device_code"],
            "redirect_uris": [self.origin + "/callback", self.origin + "/coop/callback"]}
        self.server.admin("/clients", {**client, "allowed_origins": origins} if origins else client)

    def open_page(self, path="/app"):
        self.driver.get(self.origin + path)
        self.until("the app", lambda: self.script("return window.isReady === true"))

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def run(self, text, *arguments):
        """Runs the body of an async function in the page, and returns what it returns."""
        answer = self.driver.execute_async_script(ASYNC, text, arguments)
        assert "error" not in answer, answer
        return answer.get("value")

    def until(self, what, condition, seconds=30):
        end = time.monotonic() + seconds
        while not self.holds(condition):
            if time.monotonic() > end:
                raise AssertionError(f"never: {what}; {self.driver.current_url}; {self.said('state')}; {self.said('result')}")
            time.sleep(0.02)

    @staticmethod
    def holds(condition):
        try:
            return condition()
        except Exception:
            # The document is being replaced.
            return False

    def said(self, place):
        elements = self.driver.find_elements(By.ID, place)
        return json.loads(elements[0].text) if elements and elements[0].text else None

    def state(self):
        return self.said("state")["kind"]

    def press(self, name):
        self.driver.find_element(By.ID, name).click()

    def log_in(self):
        """Fills the server's login page."""
        self.until("the login page", lambda: self.driver.find_elements(By.ID, "password"))
        self.driver.find_element(By.ID, "username").send_keys("anna")
        self.driver.find_element(By.ID, "password").send_keys(PASSWORD)
        self.driver.find_element(By.CSS_SELECTOR, "form[action='/login/password'] button.primary").click()

    def requests(self, end):
        """How many requests the page has sent to paths with that end."""
        names = self.script("return performance.getEntriesByType('resource').map(({name}) => name)")
        return sum(name.endswith(end) for name in names)

    def sessions(self):
        """The IDs of the app's sessions that have not ended. The login page's own stay in the browser is a session too."""
        items = self.server.admin("/users/username:anna/sessions")["items"]
        own = [one for one in items if one["client_id"] == "shop-web"]
        return [one["session_id"] for one in own if not one.get("ended") and not one.get("ended_at")]

    def block(self, urls):
        """Lets requests to such addresses fail, as without a network."""
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": urls})

    def clear(self):
        """Removes what the app has stored, as a browser does that needs the space. Cookies stay."""
        self.driver.execute_cdp_cmd(
            "Storage.clearDataForOrigin", {"origin": self.origin, "storageTypes": "indexeddb,local_storage"})

    def close(self):
        self.driver.quit()
        self.server.process.terminate()
        self.server.process.wait()
        self.folder.cleanup()
