"""Logs in with the phone on the pages of a real server in Chromium: `phone.py PROGRAM FOLDER`. Each function is a rule.

The phone is `Phone`: it reads the code from a picture of the screen with zbarimg, and calls the API as an app does. Pictures of the
pages go to FOLDER.
"""

import base64
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By

from chromium import Browser
from provider import Listener
from rules import play_rules, rules_of
from served import CHALLENGE, Server, VERIFIER

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
PASSWORD = "correct horse battery staple"


class Refused(Exception):
    """An answer that is an error, as JSON."""


class Server:
    """The program, with an issuer on `localhost`."""

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.origin, self.key = f"http://localhost:{port}", "k" * 40
        ready = folder / "ready.json"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SOJOURN_")}
        self.process = subprocess.Popen(
            [program, "serve", "--database", f"sqlite:{folder}/phone.sqlite", "--public", f"127.0.0.1:{port}",
             "--admin", "127.0.0.1:0", "--issuer", self.origin, "--root-key-file", folder / "root-key",
             "--ready-file", ready, "--log-level", "error"],
            env={**environment, "SOJOURN_ADMIN_KEY": self.key}, cwd=folder)
        end = time.monotonic() + 60
        while not ready.exists():
            assert self.process.poll() is None and time.monotonic() < end, "the server does not start"
            time.sleep(0.02)
        self.admin_origin = json.loads(ready.read_text())["admin"].rstrip("/")

    def call(self, path, body=None, token=None, admin=False, form=False, method=None):
        """The JSON of an answer. Throws `Refused`."""
        data = None
        if body is not None:
            data = (urllib.parse.urlencode(body) if form else json.dumps(body)).encode()
        request = urllib.request.Request((self.admin_origin if admin else self.origin) + path, data, method=method)
        if data is not None:
            request.add_header("Content-Type", f"application/{'x-www-form-urlencoded' if form else 'json'}")
        if admin or token:
            request.add_header("Authorization", f"Bearer {self.key if admin else token}")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            raise Refused(f"{path}: {error.code} {error.read().decode()}") from error


class Phone:
    """The app of a user on a phone."""

    def __init__(self, name, device):
        self.tokens = server.call("/v1/login", {"username": name, "password": PASSWORD, "device": {"id": device}})

    def call(self, path, body=None):
        return server.call(path, {} if body is None else body, self.tokens["access_token"])

    def claim(self, text, source="qr"):
        return self.call("/v1/me/logins", {"code": text, "source": source})

    def approve(self, login, number=None):
        """Types the number, and then the password, if the server wants it."""
        state = self.call(f"/v1/me/logins/{login}/confirm", {} if number is None else {"number": int(number)})
        if state.get("input") == "WAIT_FOR_SECOND_FACTOR":
            state = self.call(f"/v1/me/logins/{login}/second-factor", {"password": PASSWORD})
        assert state["state"] == "ACTIVE", state
        return state

    def log_out(self):
        self.call("/v1/logout")


def scan(name):
    """What a scanner reads on the screen."""
    path = str(folder / f"{name}.png")
    driver.save_screenshot(path)
    run = subprocess.run(["zbarimg", "-q", "--raw", path], capture_output=True, text=True)
    return run.stdout.strip()


def by(selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def shown(selector):
    try:
        return any(element.is_displayed() for element in driver.find_elements(By.CSS_SELECTOR, selector))
    except StaleElementReferenceException:
        # The page was replaced between the two questions.
        return False


def picture(name):
    """A picture of the page in light, in dark, and as narrow as a phone's."""
    for look, scheme, width in (("light", "light", 1000), ("dark", "dark", 1000), ("narrow", "light", 320)):
        browser.look(scheme, width)
        driver.save_screenshot(str(folder / f"{name}-{look}.png"))
    browser.look("light", 1000)


def authorize(language="en"):
    driver.get(f"{server.origin}/oauth/authorize?" + urllib.parse.urlencode({
        "response_type": "code", "client_id": "web", "redirect_uri": REDIRECT, "scope": "openid", "state": "s1",
        "nonce": "n1", "ui_locales": language, "code_challenge": CHALLENGE, "code_challenge_method": "S256"}))


def begin(language="en"):
    """Opens the login page, and chooses the phone. Returns the id of the login."""
    callback.asked.clear()
    driver.get("about:blank")
    authorize(language)
    by("form[action='/login/phone'] button").click()
    browser.until("the code", lambda: shown("#code"))
    return driver.current_url.split("/login/phone/")[1].split("?")[0]


def tokens():
    """Waits until the browser brings a code to the client, and exchanges it."""
    answers = lambda: [path for path in callback.asked if path.startswith("/callback?")]
    browser.until("the code of the client", answers)
    query = dict(urllib.parse.parse_qsl(answers()[-1].split("?")[1]))
    assert query["state"] == "s1", query
    return server.call("/oauth/token", {
        "grant_type": "authorization_code", "code": query["code"], "client_id": "web", "redirect_uri": REDIRECT,
        "code_verifier": VERIFIER, "device_id": "browser"}, form=True)


def refresh(token):
    return server.call("/oauth/token", {
        "grant_type": "refresh_token", "client_id": "web", "refresh_token": token}, form=True)


def refusal(act):
    """What an act is refused with."""
    try:
        answer = act()
    except Refused as refused:
        return str(refused)
    raise AssertionError(f"not refused: {answer}")


def the_phone_scans_the_screen_and_the_desktop_goes_with_it():
    """The page changes by itself: code, number, app. When the phone logs out, the desktop is out in the same moment."""
    phone = Phone("anna", "phone")
    login = begin()
    picture("phone-code")
    claimed = phone.claim(scan("phone-scanned"))
    assert claimed["login_id"] == login and claimed["number_required"], claimed
    browser.until("the number", lambda: shown("#number"))
    picture("phone-number")
    phone.approve(login, by("#number").text)
    session = tokens()
    part = session["id_token"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    assert claims["sid"] == login and claims["amr"] == ["phone"], claims
    assert refresh(session["refresh_token"])["access_token"]
    phone.log_out()
    assert "parent_ended" in refusal(lambda: refresh(session["refresh_token"]))


def the_code_changes_and_an_old_one_is_dead():
    """A picture of the screen is good for twenty seconds at most; the page itself has a fresh one by then."""
    phone = Phone("anna", "phone")
    begin()
    old = scan("phone-old")
    browser.until("another code", lambda: scan("phone-next") not in ("", old), 15)
    time.sleep(11)
    assert "404" in refusal(lambda: phone.claim(old))
    login = phone.claim(scan("phone-fresh"))["login_id"]
    browser.until("the number", lambda: shown("#number"))
    phone.approve(login, by("#number").text)
    assert tokens()["access_token"]


def the_phone_declines_and_the_page_says_so():
    """A new code is one press away."""
    phone = Phone("anna", "phone")
    login = phone.claim(scan_of(begin()))["login_id"]
    phone.call(f"/v1/me/logins/{login}/stop")
    browser.until("the sentence", lambda: shown("[data-for=cancelled]"))
    picture("phone-declined")
    by("#over button").click()
    browser.until("another code", lambda: shown("#code") and login not in driver.current_url)


def scan_of(login):
    return scan("phone-code-of-" + login)


def a_wrong_number_ends_it():
    """There is one try."""
    phone = Phone("anna", "phone")
    login = phone.claim(scan_of(begin()))["login_id"]
    browser.until("the number", lambda: shown("#number"))
    wrong = 10 + (int(by("#number").text) - 9) % 90
    assert "wrong_number" in refusal(lambda: phone.approve(login, wrong))
    browser.until("the sentence", lambda: shown("[data-for=wrong_number]"))
    picture("phone-wrong-number")


def two_phones_end_it():
    """Of two phones that scan one code neither lets the browser in."""
    one, two = Phone("anna", "phone"), Phone("bob", "other")
    begin()
    code = scan("phone-contested")
    one.claim(code)
    assert "contested" in refusal(lambda: two.claim(code))
    browser.until("the sentence", lambda: shown("[data-for=contested]"))
    assert callback.asked == [], callback.asked


def the_link_leads_back_into_this_browser():
    """The app on the same device opens the page to which the server leads it; the tab that waited says that it is done."""
    phone = Phone("anna", "phone")
    login = begin()
    link = by("[data-for~=waiting] a.button").get_attribute("href")
    assert link.startswith(server.origin + "/l/"), link
    phone.claim(link, "deep_link")
    browser.until("the sentence", lambda: shown("[data-for=opened]"))
    picture("phone-opened")
    url = phone.approve(login)["return_url"]
    waiting = driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get(url)
    assert tokens()["access_token"]
    driver.close()
    driver.switch_to.window(waiting)
    browser.until("the end", lambda: shown("[data-for=finished]"))


def a_camera_only_explains():
    """Who opens the code without the app sees what it is for."""
    driver.get(server.origin + "/l/" + "A" * 26)
    assert "This code is for the app" in by("body").text
    picture("phone-link")


def it_works_without_script():
    """The page renews itself: the number appears, and a button goes on to the app."""
    phone = Phone("anna", "phone")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        login = phone.claim(scan_of(begin()))["login_id"]
        browser.until("the number", lambda: shown("#number"), 20)
        phone.approve(login, by("#number").text)
        browser.until("the button", lambda: shown("#finish button"), 20)
        by("#finish button").click()
        assert tokens()["access_token"]
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def it_speaks_german():
    """The words are those of the request."""
    begin("de")
    assert by("html").get_attribute("lang") == "de" and "Smartphone" in by("h1").text, by("h1").text
    picture("phone-german")


def no_page_broke_its_policy():
    """Neither the console nor the policy had anything to complain about."""
    said = [line for line in browser.complaints() if "favicon" not in line]
    assert said == [], said


callback = Listener(lambda *_: ("text/plain", b"back"))
server, browser = Server(), Browser()
driver = browser.driver
REDIRECT = f"http://127.0.0.1:{callback.port}/callback"


def main():
    for name in ("anna", "bob"):
        server.call("/admin/v1/users", {"username": name, "password": PASSWORD}, admin=True)
    server.call("/admin/v1/clients", {
        "client_id": "web", "client_name": "Harbor Bank", "grant_types": ["authorization_code", "refresh_token"],
        "scope": "openid", "redirect_uris": [REDIRECT], "login_methods": ["password", "phone"]}, admin=True)
    browser.look("light", 1000)
    return play_rules(rules_of(globals()), failed=lambda rule: driver.current_url)


try:
    sys.exit(1 if main() else 0)
finally:
    driver.quit()
    server.process.terminate()
    server.process.wait()
