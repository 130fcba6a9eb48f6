"""Walks through the console of a real server in Chromium: `console.py SOJOURN [SCREENSHOTS]`, the program and a folder for pictures.

Each function is a rule; its name and docstring say which. They run in this order in one profile of the browser."""

import datetime
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse

from selenium.webdriver.common.by import By

import served
from chromium import Browser
from rules import play_rules, rules_of
from served import KEY

PASSWORD = "correct horse battery"
HOSTILE = "\"><script>window.pwned=1</script><img src=x onerror=window.pwned=1>'\u202eevil"
LONG = "x" * 100 + "<\"&"
KEYS = json.dumps({"keys": [{
    "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
    "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]})

# The package wraps axe-core for another driver; only the file is used.
package = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
axe = pathlib.Path(package, "axe.min.js").read_text()
CHECK = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ["violations"] }).then((result) => done(result.violations.map(
  (one) => one.id + ": " + one.nodes.map((node) => node.target.join(" ") + " (" + node.failureSummary + ")").join("; "))));
"""


class Server(served.Server):
    """A server with a database of its own, and with the program's commands."""

    def __init__(self, program, folder):
        # The clock moves on, so that what happened yesterday really did.
        super().__init__(program, folder, "--test-clock")
        self.program, self.folder = program, folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SOJOURN_")}
        self.environment |= {"SOJOURN_ADMIN_KEY": KEY, "SOJOURN_DATABASE_URL": f"sqlite:{folder}/db"}
        # What pages print is run by a shell that finds the program by its name.
        os.mkdir(f"{folder}/bin")
        os.symlink(program, f"{folder}/bin/sojourn")
        self.environment["PATH"] = f"{folder}/bin:" + self.environment["PATH"]

    def log_in(self, username, device):
        return self.call(
            self.public + "/v1/login", {"username": username, "password": PASSWORD, "device": device})

    def command(self, *words):
        """The output of a command."""
        return subprocess.run(
            [self.program, *words, "--database", f"sqlite:{self.folder}/db"], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, check=True).stdout.strip()


    def advance(self, seconds):
        """Moves the clock forward. Returns what it says then, in UTC."""
        now = self.admin("/test/clock", {"advance_seconds": seconds})["now"]
        return datetime.datetime.fromtimestamp(now, datetime.timezone.utc)

    def shell(self, line):
        """Runs a line that a page has printed."""
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stdout} {done.stderr}"
        return done.stdout


folder = tempfile.TemporaryDirectory()
server = Server(os.path.abspath(sys.argv[1]), folder.name)
pictures = sys.argv[2] if len(sys.argv) > 2 else None
browser = Browser()
driver = browser.driver
by, text = browser.by, browser.text
known = {}


def visit(path):
    driver.get(server.private + path)


clicks = 0


def press(element):
    """A click, which is counted."""
    global clicks
    clicks += 1
    element.click()


def click(element):
    """A click that leads to another document."""
    old = by("html")
    press(element)
    browser.until("the next page", lambda: browser.gone(old))
    browser.until("the whole page", lambda: driver.execute_script("return document.readyState") == "complete")


def button(label):
    return driver.find_element(By.XPATH, f"//button[normalize-space()='{label}']")


def find(what):
    visit("/console")
    by("input[name=q]").send_keys(what)
    click(by("main form button"))


def picture(name):
    if pictures:
        browser.look("light", 1080)
        height = driver.execute_script("return document.documentElement.scrollHeight")
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 1080, "height": min(max(500, height), 900), "deviceScaleFactor": 1, "mobile": False})
        driver.save_screenshot(f"{pictures}/{name}.png")
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def a_link_lets_the_browser_in():
    """`sojourn console` prints a link that opens the console once; the second time it says how to get another one."""
    link = server.command("console", "--name", "laptop of Ada")
    assert link.startswith(server.private + "/console/enter?t=sjl_"), link
    driver.get(link)
    picture("console-enter")
    assert "laptop of Ada" in text()
    click(button("Open the console"))
    assert driver.current_url == server.private + "/console", driver.current_url
    picture("console-find")
    driver.get(link)
    assert "sojourn console" in text() and "expired or was used" in text(), text()


def a_link_to_a_page_leads_there_after_the_key():
    """A page that is opened from outside asks for the key, and comes then."""
    visit("/console")
    click(button("Leave"))
    visit("/console/clients")
    by("input[name=key]").send_keys("wrong")
    click(button("Enter"))
    assert "no admin key" in text()
    by("input[name=key]").send_keys(KEY)
    click(button("Enter"))
    assert driver.current_url.endswith("/console/clients"), driver.current_url


def enter(key):
    """Leaves the console, and enters it with that key."""
    visit("/console")
    # A browser that was idle for too long is out already.
    if driver.find_elements(By.XPATH, "//button[normalize-space()='Leave']"):
        click(button("Leave"))
    by("input[name=key]").send_keys(key)
    click(button("Enter"))


def named(user):
    """A user where an admin acts: the name with the id."""
    return user + r" \([0-9a-f]{32}\)"


def answer(yesterday):
    """From the search to what a change for everyone would do. Nothing but the console is asked."""
    global clicks
    visit("/console")
    clicks = 0
    by("input[name=q]").send_keys("grace")
    click(by("main form button"))
    row = driver.find_element(By.XPATH, "//tr[contains(., 'idle expired')]")
    device = row.find_element(By.TAG_NAME, "a")
    day = f"{yesterday:%b} {yesterday.day}, {yesterday.year}"
    assert device.text == "Pixel 9" and day in row.text, row.text
    picture("console-user")
    click(device)
    page = text()
    assert re.search(named("grace") + " logged in", page) and "Pixel 9" in page and "It ended" in page, page
    assert "did not refresh for longer than offline_session_idle allows" in page
    ended = next(line for line in page.splitlines() if line.startswith("It ended"))
    assert f"It ended {day}, " in ended, ended
    assert re.search(r"\((2[4-9]|3[0-9]|4[0-7]) hours ago\)", ended), ended
    picture("console-session-ended")
    click(driver.find_element(By.LINK_TEXT, "Change it for everyone"))
    field = by("input[name=offline_session_idle]")
    field.clear()
    field.send_keys("30d")
    click(button("What would happen?"))
    assert "would end at once" in text(), text()
    picture("console-settings")


def why_was_this_user_logged_out():
    """Why, on which device, and how do I stop it happening to everyone: an answer in six clicks, which are counted."""
    server.admin("/users", {"username": "grace", "password": PASSWORD, "email": "grace@example.com", "display_name": "Grace Hopper"})
    old = server.admin("/settings/sessions")
    tokens = server.log_in("grace", {"id": "pixel-9", "name": "Pixel 9", "platform": "android", "app_version": "4.2"})
    # The phone was off for as long as the session lives without a refresh, and is switched on again.
    yesterday = server.advance(old["offline_session_idle"])
    try:
        server.call(server.public + "/v1/refresh", {"refresh_token": tokens["refresh_token"]})
        raise AssertionError("the session has not ended")
    except urllib.error.HTTPError as error:
        assert json.load(error)["code"] == "idle_expired"
    # The user asks the day after, and the help desk's own clock says so as well.
    today = server.advance(86400 + 3600)
    assert (today.date() - yesterday.date()).days in (1, 2), (yesterday, today)
    ahead = old["offline_session_idle"] + 86400 + 3600
    driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": f"{{ const now = Date.now; Date.now = () => now() + {ahead * 1000}; }}"})
    server.log_in("grace", {"id": "ipad", "name": "iPad", "platform": "ios", "app_version": "4.3"})
    # The help desk finds the answer, and the call that the owner of the settings has to make.
    enter(server.admin("/admin-keys", {"name": "help desk", "scope": "support"})["admin_key"])
    answer(yesterday)
    assert clicks <= 4, clicks
    assert not driver.find_elements(By.XPATH, "//button[normalize-space()='Change the settings']")
    assert server.admin("/settings/sessions")["offline_session_idle"] == old["offline_session_idle"]
    # An owner makes the change as well.
    enter(KEY)
    answer(yesterday)
    press(by("details.act summary"))
    click(button("Change the settings"))
    assert "acts from now on" in text(), text()
    assert clicks <= 6, clicks
    print(f"why, on which device, and stopped for everyone: {clicks} clicks")
    assert server.admin("/settings/sessions")["offline_session_idle"] == 30 * 86400


def a_session_is_drawn():
    """The page of a living session has its life and its refresh tokens as drawings, and ends it after a question."""
    tokens = server.log_in("grace", {"id": "mac", "name": "MacBook", "platform": "macos"})
    server.call(server.public + "/v1/refresh", {"refresh_token": tokens["refresh_token"]})
    find(tokens["session_id"])
    assert len(driver.find_elements(By.CSS_SELECTOR, "figure svg")) == 2
    picture("console-session")
    by("details.act summary").click()
    assert re.search(f"Log {named('grace')} out on MacBook\\?", text()), text()
    assert f"sojourn session end {tokens['session_id']}" in text()
    click(button("End the session on MacBook"))
    assert "The session is over." in text()


def a_pasted_token_is_explained():
    """A pasted refresh token is explained in a sentence, and not shown again."""
    tokens = server.log_in("grace", {"id": "watch", "name": "Watch"})
    find(tokens["refresh_token"])
    assert "the newest refresh token of its session" in text(), text()
    assert tokens["refresh_token"] not in driver.page_source and tokens["refresh_token"] not in driver.current_url
    picture("console-token")


def a_user_is_disabled_with_a_reason():
    """The page says who has disabled the logins, and why."""
    find("grace")
    summary = driver.find_element(By.XPATH, "//summary[contains(., 'Disable logins')]")
    summary.click()
    by("details[open] input[name=reason]").send_keys("lost phone, ticket 17")
    picture("console-disable")
    click(button("Disable logins of grace"))
    assert "lost phone, ticket 17" in text(), text()


def a_user_is_made_edited_and_deleted():
    """A user of his own maximum gets a link for a password, which can be copied, and is deleted."""
    visit("/console/users")
    click(driver.find_element(By.LINK_TEXT, "New user"))
    by("input[name=display_name]").send_keys("Bert Brecht")
    click(button("Make the user"))
    # What was typed stays.
    assert "username" in text() and by("input[name=display_name]").get_attribute("value") == "Bert Brecht"
    by("input[name=username]").send_keys("bert")
    by("input[name=offline_session_max]").send_keys("30d")
    picture("console-new-user")
    click(button("Make the user"))
    assert "without a password" in text() and "30 days" in text(), text()
    driver.find_element(By.XPATH, "//summary[contains(., 'Link for a new password')]").click()
    click(button("Make the link"))
    link = by(".secret code").text
    assert link.startswith(server.public + "/reset#sjv_"), link
    driver.execute_script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    by(".secret [data-copy]").click()
    assert driver.execute_script("return window.copied") == link and by(".secret [data-copy]").text == "Copied"
    picture("console-reset-link")
    driver.find_element(By.XPATH, "//summary[contains(., 'Delete this user')]").click()
    click(button("Delete bert"))
    assert "It is deleted." in text() and "bert" not in [one["username"] for one in server.admin("/users")["items"]]


def a_form_outlives_the_stay():
    """What is typed while the stay ends is kept through the entry, and is sent only by another click."""
    find("grace")
    driver.find_element(By.XPATH, "//summary[normalize-space()='Edit …']").click()
    field = by("details[open] input[name=given_name]")
    field.send_keys("Grace Brewster")
    driver.delete_cookie("sojourn-console")
    click(button("Save the profile of grace"))
    assert "What you typed is kept" in text(), text()
    by("input[name=key]").send_keys(KEY)
    click(button("Enter"))
    assert "Grace Brewster" in text() and "given_name" not in server.admin("/users/username:grace")
    picture("console-once-more")
    click(button("Send it"))
    assert "The profile is changed." in text()
    assert server.admin("/users/username:grace")["given_name"] == "Grace Brewster"


def a_client_is_made_and_tested():
    """A preset fills the form, the call can be seen before it is made, and redirect URIs are tested."""
    visit("/console/new-client?preset=page")
    picture("console-new-client")
    by("input[name=client_id]").send_keys("shop")
    assert by("textarea[name=redirect_uris]").get_attribute("value") == ""
    by("textarea[name=redirect_uris]").send_keys("com.example.app:/callback")
    click(button("Show the commands"))
    assert "Nothing has happened yet" in text() and "/admin/v1/clients" in text()
    click(button("Make the client"))
    assert driver.current_url.split("?")[0].endswith("/console/clients/shop"), text()
    by("input[name=redirect_uri]").send_keys("com.example.app:/callback/")
    click(button("Test"))
    assert "byte for byte" in text()
    picture("console-client")


def the_last_hour_says_why_sessions_ended():
    """The page Now counts the ends of sessions at this node, and says that nothing needs attention."""
    visit("/console/now")
    page = text()
    assert "Why sessions ended, in the last hour at this node" in page and "revoked by admin" in page, page
    assert "Nothing needs attention." in page, page


def a_login_with_a_phone_is_seen_and_ended():
    """A device asks, a phone lets it in: the console has the login, the device below the phone, and the end of both."""
    grant = "urn:ietf:params:oauth:grant-type:device_code"
    server.admin("/clients", {"client_id": "tv", "client_name": "TV", "grant_types": [grant, "refresh_token"], "scope": "read"})
    server.admin("/users", {"username": "ada", "password": PASSWORD, "display_name": "Ada Lovelace"})
    phone = server.log_in("ada", {"id": "fairphone", "name": "Fairphone 5", "platform": "android"})

    def act(path, body=None):
        return server.call(server.public + path, body or {}, "POST", phone["access_token"])

    def form(path, **fields):
        return server.call(server.public + path, form=fields)

    asked = form("/oauth/device_authorization", client_id="tv", scope="read")
    login, secret = asked["login_id"], asked["device_code"]
    known["login"] = login
    find(login)
    assert driver.current_url.split("?")[0].endswith("/console/logins/" + login), driver.current_url
    assert "No phone has claimed it yet." in text()
    code = server.call(f"{server.public}/v1/logins/{login}", bearer=secret)["qr"]
    act("/v1/me/logins", {"code": code, "source": "qr"})
    number = server.call(f"{server.public}/v1/logins/{login}", bearer=secret)["number"]
    state = act(f"/v1/me/logins/{login}/confirm", {"number": number})
    if state.get("input") == "WAIT_FOR_SECOND_FACTOR":
        act(f"/v1/me/logins/{login}/second-factor", {"password": PASSWORD})
    form("/oauth/token", grant_type=grant, client_id="tv", device_code=secret, device_id="tv-1")
    visit("/console/logins")
    assert "logged in" in text() and "fairphone" in text() and "ACTIVE" not in text(), text()
    click(driver.find_element(By.LINK_TEXT, "A device"))
    assert "Fairphone 5" in text() and "The device is logged in." in text(), text()
    picture("console-login")
    click(driver.find_element(By.LINK_TEXT, "ada"))
    assert "↳" in text(), text()
    click(driver.find_element(By.LINK_TEXT, "Logins with a phone"))
    click(driver.find_element(By.LINK_TEXT, "A device"))
    press(by("details.act summary"))
    assert f"sojourn login end {login}" in text()
    click(button("End this login"))
    assert "The login is over." in text() and "revoked by admin" in text(), text()


def act(label):
    """The act with that label."""
    return driver.find_element(By.XPATH, f"//details[@class='act'][summary[normalize-space()='{label} …']]")


def printed(label, **typed):
    """The commands of an act, that of curl and that of the program, for what is typed into its form."""
    one = act(label)
    if not one.get_attribute("open"):
        one.find_element(By.TAG_NAME, "summary").click()
    for name, value in typed.items():
        field = one.find_element(By.NAME, name)
        if field.get_attribute("type") == "checkbox":
            assert field.is_selected() != value
            field.click()
        elif field.tag_name == "select":
            field.find_element(By.CSS_SELECTOR, f"option[value='{value}']").click()
        else:
            field.clear()
            field.send_keys(value)
    if one.find_elements(By.CSS_SELECTOR, "button[name=show]"):
        click(one.find_element(By.CSS_SELECTOR, "button[name=show]"))
        one = act(label)
    codes = [code.get_attribute("textContent") for code in one.find_elements(By.CSS_SELECTOR, "pre code")]
    assert len(codes) == 2 and codes[0].startswith(("curl ", "for id in")) and "sojourn " in codes[1], codes
    return codes


def typed(**fields):
    """The commands of the form of a client, that of curl and that of the program, with what is typed into it."""
    for name, value in fields.items():
        field = by(f"[name={name}]")
        field.clear()
        field.send_keys(value)
    click(button("Show the commands"))
    codes = driver.find_elements(By.XPATH, "//section[h2='The same by hand']//pre/code")
    codes = [code.get_attribute("textContent") for code in codes]
    assert len(codes) == 2 and codes[0].startswith("curl ") and "sojourn client " in codes[1], codes
    return codes


def what_is_printed_does_the_same():
    """The commands beside the forms run in a shell as they stand, and do what the forms do, whatever the names are and whatever
    is typed."""
    name = "o'hara$(touch${IFS}pwned)`id`"
    user = server.admin("/users", {"username": name, "password": PASSWORD})["user_id"]
    client = "-x'$(touch${IFS}pwned)"
    note = "a 'note' \"of\" $(touch pwned) `id`"

    def living():
        ends = [one for one in server.admin(f"/users/{user}/sessions?limit=200")["items"] if not one.get("ended_at")]
        return len(ends)

    def shown():
        return server.admin(f"/users/{user}")

    # Each of both commands does all that the form says.
    for number in (0, 1):
        for device in range(7):
            server.log_in(name, {"id": f"-d{device}", "app_version": "9.9.9"})
        visit("/console/bulk?version=9.9.9")
        server.shell(printed("End these 7 sessions")[number])
        assert living() == 0, living()
        page = "/console/users/" + user
        server.log_in(name, {"id": "one"})
        visit(page)
        server.shell(printed("End all sessions")[number])
        assert living() == 0, living()
        server.log_in(name, {"id": "two"})
        visit(page)
        server.shell(printed("Disable logins", reason=note, effective="on_expiry", revoke_sessions=True)[number])
        disabled = shown()["login_disabled_by_admin"]
        assert (disabled["effective"], disabled["reason"], living()) == ("on_expiry", note, 0), disabled
        visit(page)
        server.shell(printed("Enable logins")[number])
        assert "login_disabled_by_admin" not in shown()
        # A user with a name of its own keeps it.
        server.admin(f"/users/{user}", {"display_name": "Mine", "country": "AT"}, "PATCH")
        visit(page)
        server.shell(printed(
            "Edit", given_name=note, country="", offline_session_max=f"{number + 3}d", claims='{"role":"a \'b\'"}' )[number])
        changed = shown()
        assert changed["display_name"] == "Mine" and "country" not in changed, changed
        assert (changed["given_name"], changed["offline_session_max"], changed["claims"]) == (
            note, (number + 3) * 86400, {"role": "a 'b'"}), changed
        visit(page)
        assert "sjv_" in server.shell(printed("Link for a new password")[number])
        server.admin(f"/users/{user}", {"given_name": None, "offline_session_max": None, "claims": None}, "PATCH")
        visit("/console/new-user")
        server.shell(printed("New user", username=f"-made-{number}", display_name=note, country="DE")[number])
        made = next(one for one in server.admin("/users?query=-made")["items"] if one["username"] == f"-made-{number}")
        assert (made["display_name"], made["country"], made["has_password"]) == (note, "DE", False), made
        visit("/console/users/" + made["user_id"])
        server.shell(printed("Delete this user")[number])
        assert made["user_id"] not in [one["user_id"] for one in server.admin("/users?query=-made")["items"]]
        server.admin("/clients", {"client_id": client, "token_endpoint_auth_method": "client_secret_basic",
                                  "grant_types": ["client_credentials"], "scope": "a"})
        visit("/console/clients/" + urllib.parse.quote(client, safe=""))
        assert "sjc_" in server.shell(printed("New secret", secret_overlap="7d")[number])
        visit("/console/clients/" + urllib.parse.quote(client, safe=""))
        assert "Secret before it" in text(), text()
        server.shell(printed("Delete this client")[number])
        assert client not in [one["client_id"] for one in server.admin("/clients")["items"]]
        # Keys of a client come on the standard input of the command.
        visit("/console/new-client?preset=fapi")
        server.shell(typed(client_id="-keys", client_name=note, redirect_uris="https://a.example/cb", jwks=KEYS)[number])
        made = server.admin("/clients/-keys")
        assert (made["client_name"], made["jwks"]["keys"][0]["kty"], made["dpop"]) == (note, "EC", "required"), made
        visit("/console/clients/-keys")
        server.shell(typed(client_name="", redirect_uris="https://a.example/1 https://a.example/2")[number])
        changed = server.admin("/clients/-keys")
        assert "client_name" not in changed and len(changed["redirect_uris"]) == 2 and changed["jwks"] == made["jwks"], changed
        server.admin("/clients/-keys", method="DELETE")
        visit("/console/keys")
        assert "sja_" in server.shell(printed("New admin key", name=note, scope="support", expires_in="2h")[number])
        key = next(one for one in server.admin("/admin-keys")["items"] if one["name"] == note)
        assert key["scope"] == "support" and key["expires_at"] - key["created_at"] == 7200, key
        visit("/console/keys")
        labels = [one.get_attribute("textContent") for one in driver.find_elements(By.CSS_SELECTOR, "details.act summary")]
        label = next(one for one in labels if key["id"] in one).removesuffix(" …")
        one = driver.find_element(By.XPATH, f"//details[summary[contains(., '{key['id']}')]]")
        server.shell([code.get_attribute("textContent") for code in one.find_elements(By.CSS_SELECTOR, "pre code")][number])
        assert key["id"] not in [one["id"] for one in server.admin("/admin-keys")["items"]], label
        count = len(server.admin("/keys")["items"])
        visit("/console/keys")
        server.shell(printed("New signing key", immediately=True)[number])
        assert len(server.admin("/keys")["items"]) > count
        visit("/console/settings")
        field = by("input[name=rotation_interval]")
        field.clear()
        field.send_keys(f"{number + 1}m")
        click(button("What would happen?"))
        server.shell(printed("Change the settings")[number])
        assert server.admin("/settings/sessions")["rotation_interval"] == (number + 1) * 60
    assert not os.path.exists(server.folder + "/pwned")


def a_command_goes_when_a_field_changes():
    """A command that was shown is that of the fields as they were, so that it goes with the first key that is pressed."""
    find("grace")
    assert printed("Edit", given_name="one")
    act("Edit").find_element(By.NAME, "given_name").send_keys("x")
    assert not act("Edit").find_elements(By.CSS_SELECTOR, "pre code")


def no_two_acts_have_one_name():
    """Each summary and each button of a page says what it is for."""
    for number in range(8):
        server.admin("/admin-keys", {"name": "console"})
    for page in ("/console/keys", "/console/clients/shop", "/console/users/" + server.admin("/users/username:grace")["user_id"]):
        visit(page)
        names = [one.get_attribute("textContent") for one in driver.find_elements(By.CSS_SELECTOR, "details.act > summary")]
        names += [one.get_attribute("textContent") for one in driver.find_elements(
            By.CSS_SELECTOR, "details.act button:not([name=show], [data-copy])")]
        assert len(set(names)) == len(names), names


def hostile_texts_are_texts():
    """Whatever a stranger or an admin has typed is text on every page."""
    # A username has no blanks, and a browser takes a slash for one in a tag. A mailbox has no brackets.
    name = HOSTILE[:60].replace(" ", "/")
    server.admin("/users", {"username": name, "password": PASSWORD, "display_name": HOSTILE.replace("\u202e", ""),
                            "email": "&b'`{|}~@example.com", "phone_number": "<i>1</i>", "claims": {"a<b>": "</code><script>"}})
    device = {"id": "\"><script>", "name": name, "platform": "<b>ios</b>", "app_version": LONG[:100]}
    tokens = server.log_in(name, device)
    server.admin(f"/users/{tokens['user']['user_id']}/disable", {"reason": HOSTILE})
    server.admin("/clients", {"client_id": "\"><script>", "client_name": name, "redirect_uris": ["https://a.example/%22"]})
    server.admin("/admin-keys", {"name": name})
    known["hostile"] = tokens
    known["pages"] = [
        "/console", "/console/now", "/console/clients", "/console/clients/mobile", "/console/clients/shop",
        "/console/clients/" + urllib.parse.quote("\"><script>", safe=""), "/console/new-client?preset=web",
        "/console/settings", "/console/keys", "/console/events", "/console/events?reason=" + urllib.parse.quote(HOSTILE[:60]),
        "/console/deliveries", "/console/bulk", "/console/logins", "/console/logins?phase=signed_in&user=grace",
        "/console/logins/" + known["login"], "/console/bulk?client=mobile", "/console/new-client?preset=device", "/console/users?q=%3C",
        "/console/users", "/console/new-user", "/console/users/" + tokens["user"]["user_id"], "/console/sessions/" + tokens["session_id"],
        "/console/users?q=" + urllib.parse.quote(HOSTILE[:60]), "/console/clients/shop?redirect_uri=" + urllib.parse.quote(HOSTILE),
        "/console/enter", "/console/enter?t=" + urllib.parse.quote(HOSTILE), "/console/nowhere",
    ]
    browser.complaints()
    for page in known["pages"]:
        visit(page)
        assert driver.execute_script("return window.pwned") is None, page
        assert len(driver.find_elements(By.CSS_SELECTOR, "script:not([src]), main img, b, i")) == 0, page
    find(HOSTILE)
    assert driver.execute_script("return window.pwned") is None
    find("</title><script>window.pwned=1</script>")
    assert driver.execute_script("return window.pwned") is None


def every_page_looks_right():
    """In light, in dark and on 320 pixels: nothing that axe-core finds, no violation of the policy, no request to another origin,
    nothing wider than the window."""
    failures = []
    browser.requests()
    for look, width in (("light", 1200), ("dark", 1200), ("light", 320), ("dark", 320)):
        browser.look(look, width)
        for page in known["pages"]:
            visit(page)
            for act in driver.find_elements(By.CSS_SELECTOR, "details.act:not([open]) summary"):
                driver.execute_script("arguments[0].click()", act)
            where = f"{page} {look} {width}"
            # A page that says that there is nothing, or that the link was used, has a status that says so too.
            failures += [f"{where}: {one}" for one in browser.complaints() if not re.search("status of (404|410)", one)]
            for url in browser.requests():
                if not url.startswith(server.private + "/") and not url.startswith("data:"):
                    failures.append(f"{where}: asks {url}")
            wide = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
            if wide > 0:
                failures.append(f"{where}: {wide} pixels too wide")
            driver.execute_script(axe)
            failures += [f"{where}: {one}" for one in driver.execute_async_script(CHECK)]
    assert not failures, "\n".join(failures)


def no_page_is_heavy():
    """No page has more than 60 kB, with 50 events, and with all that is folded."""
    for number in range(60):
        server.admin("/users/username:ada", {"country": ("AT", "DE")[number % 2]}, "PATCH")
    browser.look("light", 1280)
    visit("/console/events")
    assert len(driver.find_elements(By.CSS_SELECTOR, "tbody tr")) == 50
    heights = driver.execute_script("return [...document.querySelectorAll('tbody tr')].map((one) => one.offsetHeight)")
    assert max(heights) < 40, heights
    for page in known["pages"]:
        visit(page)
        size = driver.execute_script("return performance.getEntriesByType('navigation')[0].decodedBodySize")
        assert size <= 60_000, f"{page}: {size}"


def addresses_stay_whole():
    """The longest address of IPv4 stands on one line of its column, and no page gets wider than the window by it."""
    user = server.admin("/users/username:grace")["user_id"]
    for width in (800, 1000, 1060, 1120):
        browser.look("light", width)
        for page in ("/console/users/" + user, "/console/events", "/console/logins"):
            visit(page)
            found, broken, wide = driver.execute_script("""
                const all = [...document.querySelectorAll(".address")];
                for (const one of all) one.textContent = "203.113.255.255";
                return [all.length, all.filter((one) => one.getClientRects().length != 1).length,
                        document.documentElement.scrollWidth - innerWidth];""")
            assert found and not broken and wide <= 0, f"{page} {width}: {found} addresses, {broken} broken, {wide} too wide"


WORDS = """
    // The words of the controls and of the cells, and each in how many lines.
    const broken = [];
    for (const one of document.querySelectorAll("td, th, button, .badge, summary, .bar a, dd, dt, legend, label")) {
      const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = walker.currentNode;
        if (node.parentElement.closest("pre, code, option, details:not([open]) > :not(summary)")) continue;
        for (const word of node.data.matchAll(/[^\\s-]+/g)) {
          if (word[0].length > 20 || !/^[\\w.@]+$/.test(word[0])) continue;
          const range = document.createRange();
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          if (new Set([...range.getClientRects()].map((line) => line.top)).size > 1) broken.push(word[0]);
        }
      }
    }
    return broken;
"""


def no_word_is_broken():
    """No word of a cell, a button or a badge is broken in two, however wide the window is."""
    failures = []
    for width in (320, 800, 1080, 1440):
        browser.look("dark", width)
        for page in known["pages"]:
            visit(page)
            broken = driver.execute_script(WORDS)
            if broken:
                failures.append(f"{page} {width}: {broken}")
    assert not failures, "\n".join(failures)


def a_small_window_has_no_stray_labels():
    """On 320 pixels a cell has its label, an empty cell has no line, a bar of a chart has none, and drawings can be read."""
    browser.look("light", 320)
    for page in known["pages"]:
        visit(page)
        stray = driver.execute_script("""
            const label = (cell) => getComputedStyle(cell, "::before").content;
            return [...document.querySelectorAll("tbody td")].filter((cell) =>
                cell.dataset.label ? !cell.textContent && cell.offsetHeight : label(cell) != "none").length;""")
        assert stray == 0, f"{page}: {stray}"
    visit("/console/sessions/" + known["hostile"]["session_id"])
    height = driver.execute_script(
        "return Math.min(...[...document.querySelectorAll('.rotation text')].map((one) => one.getBoundingClientRect().height))")
    assert height >= 12, height


def more_pictures():
    """The pages that no rule shows at its best, and all of them at both widths and in both looks."""
    if not pictures:
        return
    for width in (1280, 375):
        for look in ("light", "dark"):
            browser.look(look, width)
            for page in known["pages"]:
                visit(page)
                name = re.sub(r"\W+", "-", urllib.parse.unquote(page))[:60].strip("-")
                height = driver.execute_script("return document.documentElement.scrollHeight")
                driver.execute_cdp_cmd(
                    "Emulation.setDeviceMetricsOverride",
                    {"width": width, "height": min(height, 2400), "deviceScaleFactor": 1, "mobile": False})
                driver.save_screenshot(f"{pictures}/all-{width}-{look}-{name}.png")
                driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    for name, page in (("console-now", "/console/now"), ("console-keys", "/console/keys"), ("console-events", "/console/events"),
                       ("console-bulk", "/console/bulk?client=mobile"), ("console-clients", "/console/clients"),
                       ("console-deliveries", "/console/deliveries")):
        visit(page)
        picture(name)
    browser.look("dark", 1080)


def a_key_that_only_reads_sees_no_buttons():
    """With the scope `read` no page has an act."""
    key = server.admin("/admin-keys", {"name": "reader", "scope": "read"})["admin_key"]
    visit("/console")
    click(button("Leave"))
    by("input[name=key]").send_keys(key)
    click(button("Enter"))
    for page in known["pages"]:
        visit(page)
        assert not driver.find_elements(By.CSS_SELECTOR, "details.act"), page
    visit("/console/new-client?preset=web")
    assert "scope owner" in text()


def picture_of(rule):
    if pictures:
        driver.save_screenshot(f"{pictures}/failed-{rule.__name__}.png")
    return driver.current_url[:200]


failures = play_rules(rules_of(globals()), failed=picture_of)
driver.quit()
server.process.terminate()
server.process.wait()
folder.cleanup()
sys.exit(1 if failures else 0)
