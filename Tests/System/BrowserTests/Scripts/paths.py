"""The pages of a server whose issuer has a path, in Chromium behind nginx: `paths.py SOJOURN strips|keeps`.

nginx removes `/auth` from each request, or does not, by the rules of the manual. Everything outside `/auth/` and the documents at the root of the host is
another site's. Each function is a rule; they run in this order in one profile of the browser."""

import json
import os
import pathlib
import re
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


from chromium import Browser
from rules import play_rules, rules_of
from served import CHALLENGE, Server, VERIFIER, pass_on

PASSWORD = "correct horse battery"
CALLBACK = "http://127.0.0.1/callback"
START = "http://127.0.0.1/start"
# What the manual has operators write; the first location is the path, the others are the root of the host.
SNIPPET = pathlib.Path(__file__, "../../../ServerTests/Snippets/nginx-path.conf").resolve().read_text()


class Nginx:
    """nginx behind a port that is taken once: connections to it are passed on to a socket in the folder."""

    def __init__(self, folder):
        self.folder, self.process = folder, None
        self.path = f"{folder}/proxy.sock"
        nginx = self

        class Connection(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    other = socket.socket(socket.AF_UNIX)
                    other.connect(nginx.path)
                except OSError:
                    return
                thread = threading.Thread(target=pass_on, args=(other, self.request), daemon=True)
                thread.start()
                pass_on(self.request, other)
                thread.join()

        self.listener = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection)
        self.listener.daemon_threads = True
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        self.origin = "http://127.0.0.1:%d" % self.listener.server_address[1]

    def start(self, server, strips, isWhole=True):
        """Serves anew by the snippet of the manual, or by its first location alone, and 404 elsewhere."""
        self.stop()
        locations = SNIPPET if isWhole else SNIPPET.split("}")[0] + "}"
        if not strips:
            locations = locations.replace("http://sojourn/;", "http://sojourn;")
        scratch = "".join(f"{name}_temp_path {self.folder}/{name};" for name in
                          ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(f"{self.folder}/nginx.conf", "w") as file:
            file.write(f"""
                daemon off; master_process off; pid {self.folder}/nginx.pid;
                events {{ }}
                http {{
                    access_log off; {scratch}
                    upstream sojourn {{ server {server.public.removeprefix("http://")}; }}
                    server {{
                        listen unix:{self.path};
                        proxy_set_header Host $http_host;
                        {locations}
                        location / {{ return 404 "another site"; }}
                    }}
                }}""")
        self.process = subprocess.Popen(["/usr/sbin/nginx", "-e", "stderr", "-c", f"{self.folder}/nginx.conf"])
        end = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(self.origin + "/auth/healthz", timeout=5).read()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < end, "nginx does not start"
                time.sleep(0.05)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            os.unlink(self.path)
            self.process = None


folder = tempfile.TemporaryDirectory()
nginx = Nginx(folder.name)
strips = sys.argv[2] == "strips"
program = os.path.abspath(sys.argv[1])
issuer = nginx.origin + "/auth"
server = Server(program, folder.name, "--issuer", issuer)
nginx.start(server, strips)
browser = Browser()
driver = browser.driver
by, text = browser.by, browser.text
tokens = {}


def press(selector):
    browser.press(by(selector))


def log_in():
    by("#username").clear()
    by("#username").send_keys("anna")
    by("#password").send_keys(PASSWORD)
    press("form[action='/auth/login/password'] button.primary")


def authorize():
    """Opens the authorization endpoint as an application does that has read the metadata."""
    query = urllib.parse.urlencode({
        "response_type": "code", "client_id": "shop", "redirect_uri": CALLBACK, "code_challenge": CHALLENGE,
        "code_challenge_method": "S256", "state": "s", "scope": "openid"})
    metadata = server.call(issuer + "/.well-known/openid-configuration")
    try:
        driver.get(f"{metadata['authorization_endpoint']}?{query}")
    except Exception:
        pass  # The callback is not served.
    return metadata


def cookies():
    return {cookie["name"] for cookie in driver.execute_cdp_cmd("Network.getAllCookies", {})["cookies"]}


def an_application_logs_in_on_the_page():
    """From the metadata to the tokens."""
    metadata = authorize()
    assert metadata["issuer"] == issuer
    assert driver.current_url.startswith(issuer + "/login?r="), driver.current_url
    assert by("main").value_of_css_property("max-width") != "none", "the style sheet is loaded"
    log_in()
    browser.until("the callback", lambda: driver.current_url.startswith(CALLBACK))
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(driver.current_url).query)["code"][0]
    tokens.update(server.call(metadata["token_endpoint"], form={
        "grant_type": "authorization_code", "code": code, "client_id": "shop", "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER, "device_id": "browser"}))
    assert server.call(metadata["userinfo_endpoint"], bearer=tokens["access_token"])["sub"]


def the_cookies_have_the_path_in_their_names():
    """Two servers on one host keep their cookies apart."""
    assert cookies() == {"sojourn-flow.auth", "sojourn-session.auth"}, cookies()


def the_browser_remembers_the_login():
    """The next authorization request is answered without a page."""
    authorize()
    assert driver.current_url.startswith(CALLBACK), driver.current_url


def every_tab_of_the_account_opens():
    """The links of the navigation lead from page to page, and a form leads back."""
    driver.get(issuer + "/account")
    if "/login?r=" in driver.current_url:
        log_in()
    assert driver.current_url == issuer + "/account", driver.current_url
    for path in ("/account/security", "/account/activity", "/account"):
        press(f"nav a[href='/auth{path}']")
        assert driver.current_url == issuer + path, driver.current_url
    driver.get(issuer + "/account/security")
    press("form[action='/auth/account/logins'] button.danger")
    press("form[action='/auth/account/logins'] button")
    assert "Sign-ins are possible again." in text(), text()


def a_password_manager_finds_the_page_of_the_password():
    """It asks at the root of the host."""
    driver.get(nginx.origin + "/.well-known/change-password")
    assert driver.current_url == issuer + "/account/security", driver.current_url


def the_user_signs_out_and_in_with_another_device():
    """The logout, the page of the user code, and the page of a wrong path."""
    press("header form[action='/auth/oauth/logout'] button")
    assert "You are signed out" in text(), text()
    driver.get(issuer + "/device")
    log_in()
    by("#user_code").send_keys("BCDFGHJK")
    press("form[action='/auth/device'] button.primary")
    assert driver.current_url.startswith(issuer), driver.current_url
    driver.get(issuer + "/nothing")
    assert "404" in text() or "not" in text(), text()


def a_password_is_reset_by_the_link_of_the_console():
    """The link that an admin passes on lies below the path."""
    token = server.admin("/users/username:anna/password-reset", {})["reset_token"]
    driver.get(f"{issuer}/reset#{token}")
    by("#new_password").send_keys(PASSWORD + "!")
    press("form[action='/auth/reset'] button.primary")
    assert "Your password is changed" in text(), text()


def the_picture_for_the_phone_is_shown_and_followed():
    """The picture and the events come from below the path, and so do the links in an answer to a device."""
    driver.get("about:blank")
    authorize()
    press("form[action='/auth/login/phone'] button")
    browser.until("the picture", lambda: driver.execute_script("return document.querySelector('#code')?.naturalWidth > 0"))
    assert driver.execute_script("return document.querySelector('#live').dataset.events").startswith("/auth/login/phone/")
    followed = lambda: any(
        message["method"] == "Network.responseReceived" and "/events" in message["params"]["response"]["url"]
        and message["params"]["response"]["status"] == 200 for message in browser.messages())
    browser.until("the events", followed)
    device = server.call(issuer + "/oauth/device_authorization", form={"client_id": "shop"})
    assert device["verification_uri"] == issuer + "/device", device
    assert device["qr"].startswith(issuer.upper().replace("/AUTH", "/auth") + "/L/"), device


def an_app_signs_the_browser_in():
    """The URL of an AppLogin: the page reads the nonce in the fragment, asks, and leads to the client, whose login is answered."""
    driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    phone = server.call(issuer + "/v1/login", {
        "username": "anna", "password": PASSWORD + "!", "device": {"id": "phone"}})["access_token"]
    login = server.call(issuer + "/v1/me/app-login", {"client_id": "shop"}, bearer=phone)["login"]["login_id"]
    answer = server.call(issuer + "/v1/me/app-login", {"login_id": login, "password": PASSWORD + "!"}, bearer=phone)
    assert answer["url"].startswith(issuer + "/login/app#"), answer
    driver.get(answer["url"])
    browser.until("the question", lambda: "sign this browser in as anna" in text())
    assert "#" not in driver.current_url, driver.current_url
    press("form[action='/auth/login/app'] button.primary")
    browser.until("the client", lambda: driver.current_url.startswith(START))
    assert urllib.parse.quote(issuer, safe="") in driver.current_url, driver.current_url
    authorize()
    assert driver.current_url.startswith(CALLBACK + "?code="), driver.current_url
    assert not [url for url in browser.requests() if "sjn_" in url.split("#")[0]]


def the_documents_at_the_root_are_those_of_the_server():
    """RFC 8414's metadata, and what phones ask for."""
    for name in ("oauth-authorization-server", "openid-configuration", "ssf-configuration"):
        assert server.call(f"{nginx.origin}/.well-known/{name}/auth")["issuer"] == issuer
    for name in ("apple-app-site-association", "assetlinks.json"):
        assert server.call(f"{nginx.origin}/.well-known/{name}") is not None


def no_address_left_the_path():
    """Nothing of another site was asked for, and no page broke its policy."""
    known = re.compile(re.escape(nginx.origin) + r"/(auth/|\.well-known/change-password$)")
    asked = [url for url in asked_for if url.startswith(nginx.origin) and not known.match(url)]
    assert asked == [] and len(asked_for) > 20, asked
    said = [line for line in browser.complaints()
            if not re.search("status of (404|422)|ERR_CONNECTION_REFUSED", line)]
    assert said == [], said


def the_doctor_says_what_the_proxy_lacks():
    """It is content, until the root of the host is not passed on, or nothing is. Where the path is removed, it names the second form of each path."""
    second = f", and so does {issuer}/auth: with server.issuer_path \"removed\" no path has a second form" if strips else ""
    assert examine() == [("ok", f"{issuer} leads to this server{second}")], examine()
    assert examine("removed" if strips else "kept") == [("ok", f"{issuer} leads to this server")]
    nginx.start(server, strips, isWhole=False)
    [(result, said)] = examine()
    assert result == "warn" and f"{nginx.origin}/.well-known/oauth-authorization-server/auth answers 404" in said, said
    nginx.stop()
    assert {result for result, _ in examine()} == {"warn"}, examine()


def examine(issuer_path="either"):
    """The findings of the doctor about the issuer."""
    run = subprocess.run(
        [program, "doctor", "--json", "--database", f"sqlite:{folder.name}/db"], cwd=folder.name, capture_output=True,
        env={"SOJOURN_SERVER_ISSUER": issuer, "SOJOURN_SERVER_ISSUER_PATH": issuer_path, "PATH": os.environ["PATH"]})
    findings = json.loads(run.stdout)["items"]
    return [(one["result"], one["detail"]) for one in findings if one["check"] == "issuer"]


asked_for = []


def main():
    server.admin("/users", {"username": "anna", "password": PASSWORD})
    server.admin("/clients", {
        "client_id": "shop", "client_name": "Shop", "redirect_uris": [CALLBACK], "browser_session": "client",
        "initiate_login_uri": START,
        "login_methods": ["password", "phone"], "scope": "openid", "grant_types": [
            "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]})
    return play_rules(
        rules_of(globals()), after=lambda rule: asked_for.extend(browser.requests()),
        failed=lambda rule: f"{driver.current_url}\n{text()}")


try:
    sys.exit(1 if main() else 0)
finally:
    driver.quit()
    nginx.stop()
    server.process.terminate()
    server.process.wait()
    folder.cleanup()
