"""Logs in on the pages of a real server in Chromium: `login.py PROGRAM FOLDER`. Each function is a rule; its docstring says which.

Screenshots go to FOLDER.
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

from selenium.webdriver.common.by import By
from selenium.webdriver.common.virtual_authenticator import VirtualAuthenticatorOptions

from chromium import Browser
from provider import Listener, Provider
from rules import play_rules, rules_of
from served import CHALLENGE, Server, VERIFIER

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
PASSWORD = "correct horse battery staple"


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


class Server:
    """The program, with passkeys of `localhost` and one identity provider."""

    def __init__(self, provider):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.origin, self.key = f"http://localhost:{port}", "k" * 40
        configuration = folder / "sojourn.json5"
        configuration.write_text(json.dumps({
            "passkeys": {"rp_id": "localhost", "origins": [self.origin]},
            "identity_providers": [{
                "name": "acme", "issuer": provider.origin, "audiences": ["app"], "allow_http_on_loopback": True,
                "redirect": True, "client_id": "web", "display_name": "Acme"}]}))
        ready = folder / "ready.json"
        self.process = subprocess.Popen(
            [program, "serve", "--config", configuration, "--database", f"sqlite:{folder}/login.sqlite",
             "--public", f"127.0.0.1:{port}", "--admin", "127.0.0.1:0", "--issuer", self.origin,
             "--root-key-file", folder / "root-key", "--ready-file", ready, "--log-level", "error"],
            # The server refuses variables that it does not know, those of the tests among them.
            env={name: value for name, value in os.environ.items() if not name.startswith("SOJOURN_")}
            | {"SOJOURN_ADMIN_KEY": self.key}, cwd=folder)
        end = time.monotonic() + 60
        while not ready.exists():
            assert self.process.poll() is None and time.monotonic() < end, "the server does not start"
            time.sleep(0.02)
        self.admin_origin = json.loads(ready.read_text())["admin"]

    def call(self, path, body=None, token=None, admin=False, form=False):
        """The JSON of an answer; the answer to an error is an assertion."""
        origin = self.admin_origin.rstrip("/") if admin else self.origin
        data = None
        if body is not None:
            data = (urllib.parse.urlencode(body) if form else json.dumps(body)).encode()
        request = urllib.request.Request(origin + path, data)
        if data is not None:
            kind = "x-www-form-urlencoded" if form else "json"
            request.add_header("Content-Type", f"application/{kind}")
        if admin or token:
            request.add_header("Authorization", f"Bearer {self.key if admin else token}")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.code} {error.read().decode()}") from error

    def events(self, kind):
        items = self.call("/admin/v1/events?limit=200", admin=True)["items"]
        return [item.get("reason") for item in items if item["event"] == kind]


provider, callback = Provider(), Listener(lambda *_: ("text/plain", b"back"))
server, browser = Server(provider), Browser()
driver = browser.driver
REDIRECT = f"http://127.0.0.1:{callback.port}/callback"


def client(name, methods, session="none"):
    server.call("/admin/v1/clients", {
        "client_id": name, "client_name": "Harbor Bank", "grant_types": ["authorization_code", "refresh_token"],
        "scope": "openid", "redirect_uris": [REDIRECT], "login_methods": methods,
        "browser_session": session}, admin=True)


def begin(name="all", **more):
    """Opens the login page of a client."""
    callback.asked.clear()
    driver.get("about:blank")
    driver.get(f"{server.origin}/oauth/authorize?" + urllib.parse.urlencode({
        "response_type": "code", "client_id": name, "redirect_uri": REDIRECT, "scope": "openid", "state": "s1",
        "nonce": "n1", "code_challenge": CHALLENGE, "code_challenge_method": "S256", **more}))


def shown(selector):
    return any(element.is_displayed() for element in driver.find_elements(By.CSS_SELECTOR, selector))


def by(selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def id_token(name="all"):
    """Waits until the browser brings a code, and exchanges it."""
    # The browser asks for an icon as well.
    answers = lambda: [path for path in callback.asked if path.startswith("/callback?")]
    browser.until("the code", answers)
    query = dict(urllib.parse.parse_qsl(answers()[-1].split("?")[1]))
    assert query["state"] == "s1" and query["iss"] == server.origin, query
    answer = server.call("/oauth/token", {
        "grant_type": "authorization_code", "code": query["code"], "client_id": name, "redirect_uri": REDIRECT,
        "code_verifier": VERIFIER, "device_id": "browser"}, form=True)
    token = claims(answer["id_token"])
    assert token["nonce"] == "n1" and token["iss"] == server.origin and token["aud"] == name, token
    return token


class ByButton:
    """While it lasts, the browser offers no passkeys by itself."""

    def __enter__(self):
        self.script = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": "delete PublicKeyCredential.isConditionalMediationAvailable"})

    def __exit__(self, *_):
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", self.script)


def press():
    browser.until("the button", lambda: shown("[data-options]"))
    by("[data-options]").click()


def a_page_shows_every_way():
    """Password, passkey and provider stand on one page, in every look."""
    with ByButton():
        for name, scheme, width in (("light", "light", 1000), ("dark", "dark", 1000), ("phone", "light", 360)):
            browser.look(scheme, width)
            begin()
            browser.until("the button", lambda: shown("[data-options]"))
            driver.save_screenshot(str(folder / f"all-{name}.png"))
            begin("passkeys")
            browser.until("the button", lambda: shown("[data-options]"))
            assert not shown("#no-passkeys") and not shown("[name=password]")
            driver.save_screenshot(str(folder / f"passkeys-{name}.png"))
        browser.look("light", 1000)


def forget():
    """Deletes the cookies of every host."""
    driver.execute_cdp_cmd("Network.clearBrowserCookies", {})


def security_page():
    """The page of the account, after a login by password."""
    forget()
    with ByButton():
        driver.get(server.origin + "/account/security")
        by("#username").send_keys("anna")
        by("#password").send_keys(PASSWORD + "\n")
        browser.until("the page", lambda: shown("#add-passkey button"))


def remove(passkey):
    """An admin removes a passkey of anna; the browser is told nothing."""
    request = urllib.request.Request(
        f"{server.admin_origin.rstrip('/')}/admin/v1/users/username:anna/passkeys?id={passkey}",
        method="DELETE", headers={"Authorization": f"Bearer {server.key}"})
    urllib.request.urlopen(request, timeout=20).close()


def a_passkey_is_registered():
    """The button of the account page makes a passkey, once for each device."""
    options = VirtualAuthenticatorOptions(
        protocol=VirtualAuthenticatorOptions.Protocol.CTAP2, transport=VirtualAuthenticatorOptions.Transport.INTERNAL,
        has_resident_key=True, has_user_verification=True, is_user_verified=True)
    driver.add_virtual_authenticator(options)
    security_page()
    by("#add-passkey button").click()
    browser.until("the message", lambda: shown(".notice.success"))
    assert "is added" in by(".notice").text, by(".notice").text
    driver.save_screenshot(str(folder / "passkey-added.png"))
    [known] = driver.get_credentials()
    [passkey] = server.call("/admin/v1/users/username:anna/passkeys", admin=True)["items"]
    assert passkey["id"].rstrip("=") == known.id.rstrip("="), (passkey, known.id)
    by("#add-passkey button").click()
    browser.until("the sentence", lambda: shown("#passkey-here"))
    driver.save_screenshot(str(folder / "passkey-here.png"))
    forget()


def the_button_logs_in():
    """The button signs, and the ID token says how."""
    with ByButton():
        begin()
        press()
        token = id_token()
    assert token["amr"] == ["hwk", "user", "mfa"], token


def conditional_ui_logs_in():
    """The browser offers the passkey by itself, in the field of the username."""
    begin()
    assert id_token()["amr"][1:] == ["user", "mfa"]


def what_is_odd_is_accepted():
    """A counter that goes backwards and flags that flip are accepted and recorded."""
    [known] = driver.get_credentials()
    details = known.to_dict()
    driver.remove_all_credentials()
    # Selenium's own call has no flags of backups.
    driver.execute("addCredential", {
        **details, "signCount": 0, "backupEligibility": True, "backupState": True,
        "authenticatorId": driver.virtual_authenticator_id})
    with ByButton():
        begin()
        press()
        token = id_token()
    assert token["amr"][0] == "swk", token
    [reason] = server.events("passkey_changed")
    assert reason.endswith("counter backup"), reason


def a_login_by_password_offers_a_passkey():
    """Once: with a button the passkey is made, and either button goes on to the app."""
    kept = driver.get_credentials()
    [passkey] = server.call("/admin/v1/users/username:anna/passkeys", admin=True)["items"]
    remove(passkey["id"])
    driver.remove_all_credentials()
    for answer in ("#add-passkey button", "form:not([id]) button.secondary"):
        forget()
        with ByButton():
            begin("kept")
            browser.until("the browser says what it can", lambda: by("[name=offer]").get_attribute("value") == "1")
            by("#username").send_keys("anna")
            by("#password").send_keys(PASSWORD + "\n")
            browser.until("the offer", lambda: shown("#add-passkey button"))
            assert "faster" in by("h1").text and not callback.asked
            driver.save_screenshot(str(folder / "offer.png"))
            by(answer).click()
            assert id_token("kept")["amr"] == ["pwd"]
        if "add" in answer:
            [passkey] = server.call("/admin/v1/users/username:anna/passkeys", admin=True)["items"]
            assert len(driver.get_credentials()) == 1 == len(kept)
            remove(passkey["id"])
            driver.remove_all_credentials()
    # The browser was asked.
    driver.execute_cdp_cmd("Network.deleteCookies", {"name": "sojourn-session", "domain": "localhost"})
    with ByButton():
        begin("kept")
        browser.until("the browser says what it can", lambda: by("[name=offer]").get_attribute("value") == "1")
        by("#username").send_keys("anna")
        by("#password").send_keys(PASSWORD + "\n")
        assert id_token("kept")["amr"] == ["pwd"]
    security_page()
    by("#add-passkey button").click()
    browser.until("the message", lambda: shown(".notice.success"))
    forget()


def a_removed_passkey_is_offered_no_more():
    """The page tells the browser which passkeys are left, and the browser forgets the others."""
    security_page()
    by("#add-passkey button").click()
    browser.until("the sentence", lambda: shown("#passkey-here"))
    kept = driver.get_credentials()
    for details in driver.find_elements(By.CSS_SELECTOR, "details.ask summary"):
        if details.text.startswith("Remove"):
            details.click()
            break
    by("details[open] button.danger").click()
    browser.until("the message", lambda: shown(".notice.success"))
    browser.until("the browser has forgotten it", lambda: len(driver.get_credentials()) < len(kept))
    by("#add-passkey button").click()
    browser.until("the message", lambda: "is added" in by("main").text)
    assert len(driver.get_credentials()) == 1
    forget()


def an_unknown_passkey_is_refused_on_the_page():
    """The page says that the passkey was not accepted, and works."""
    [passkey] = server.call("/admin/v1/users/username:anna/passkeys", admin=True)["items"]
    with ByButton():
        begin()
        remove(passkey["id"])
        press()
        browser.until("the message", lambda: shown("[role=alert]"))
        assert "not accepted" in by("[role=alert]").text
        driver.save_screenshot(str(folder / "refused.png"))
        by("#username").send_keys("anna")
        by("#password").send_keys(PASSWORD + "\n")
        assert id_token()["amr"] == ["pwd"]
    driver.remove_virtual_authenticator()


def a_provider_logs_in():
    """The link leads to the provider and back with a code."""
    with ByButton():
        begin()
        by("a[href^='/login/provider']").click()
        token = id_token()
    assert token["amr"] == ["otp"], token
    assert provider.requests[-1]["prompt"] == "login", provider.requests


def an_error_of_the_provider_is_shown():
    """The page says that the provider did not sign the user in."""
    provider.error = "access_denied"
    with ByButton():
        begin()
        by("a[href^='/login/provider']").click()
        browser.until("the message", lambda: shown("[role=alert]"))
        assert "Acme" in by("[role=alert]").text
        driver.save_screenshot(str(folder / "provider-failed.png"))
    provider.error = None


def without_script_there_is_no_button():
    """Without script the password and the provider work, and a page of passkeys alone says what it takes."""
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        begin()
        assert not shown("[data-options]")
        by("#username").send_keys("anna")
        by("#password").send_keys(PASSWORD + "\n")
        assert id_token()["amr"] == ["pwd"]
        begin()
        by("a[href^='/login/provider']").click()
        assert id_token()["amr"] == ["otp"]
        begin("passkeys")
        assert shown("#no-passkeys") and not shown("[data-options]")
        driver.save_screenshot(str(folder / "no-script.png"))
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def keeps_the_policy(rule):
    violations = driver.execute_script("return window.violations ?? []")
    assert not violations, violations


def picture_of(rule):
    driver.save_screenshot(str(folder / f"failed-{rule.__name__}.png"))
    return driver.current_url[:120]


try:
    server.call("/admin/v1/users", {"username": "anna", "password": PASSWORD}, admin=True)
    client("all", ["password", "passkey", "provider:acme"])
    client("kept", ["password", "passkey"], "shared")
    client("passkeys", ["passkey"])
    client("words", ["password"])
    failures = play_rules(rules_of(globals()), after=keeps_the_policy, failed=picture_of)
finally:
    driver.quit()
    server.process.terminate()
    server.process.wait(20)
sys.exit(1 if failures else 0)
