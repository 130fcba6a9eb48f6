"""Logs in with the Swift SDK's phone on the pages of real nodes in Chromium: `nodes.py PROGRAM PHONE FOLDER [DATABASE]`.

With DATABASE, an empty one of PostgreSQL, there are two nodes: the browser speaks to the first, the phone to the second. Without
it there is one, with a file. The phone is the program `sojourn-phone`, which gets what zbarimg reads on a picture of the screen.
Each function is a rule.
"""

import base64
import json
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By

from chromium import Browser
from provider import Listener
from rules import play_rules, rules_of
from served import CHALLENGE, VERIFIER, pass_on

program, phone_program, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
database = sys.argv[4] if len(sys.argv) > 4 else f"sqlite:{folder}/nodes.sqlite"
PASSWORD = "correct horse battery staple"
KEY, ROOT_KEY = "k" * 40, secrets.token_hex(32)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Node:
    """A process that serves the database."""

    def __init__(self, name):
        self.folder = folder / name
        self.folder.mkdir()
        self.port = free_port()
        self.start()

    def start(self):
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SOJOURN_")}
        self.process = subprocess.Popen(
            [program, "serve", "--database", database, "--public", f"127.0.0.1:{self.port}", "--admin", "127.0.0.1:0",
             "--issuer", ORIGIN, "--ready-file", ready, "--log-level", "error"],
            env={**environment, "SOJOURN_ADMIN_KEY": KEY, "SOJOURN_ROOT_KEY": ROOT_KEY}, cwd=self.folder)
        end = time.monotonic() + 60
        while not ready.exists():
            assert self.process.poll() is None and time.monotonic() < end, "the node does not start"
            time.sleep(0.02)
        self.admin = json.loads(ready.read_text())["admin"].rstrip("/")

    def kill(self):
        """As `kill -9` does, or a machine without power."""
        self.process.kill()
        self.process.wait()


class Balancer:
    """What stands before the nodes at the address of the issuer: it gives the browser one node, and the phone another one. A node
    that is not there is left out."""

    def __init__(self, port):
        self.desktop, self.phone = None, None
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        head = b""
        try:
            while b"\r\n\r\n" not in head:
                received = connection.recv(65536)
                if not received:
                    return connection.close()
                head += received
            first = self.desktop if b"Mozilla/" in head else self.phone
            for node in [first] + [other for other in nodes if other is not first]:
                try:
                    upstream = socket.create_connection(("127.0.0.1", node.port), timeout=5)
                    break
                except OSError:
                    continue
            else:
                return connection.close()
            upstream.settimeout(None)
            upstream.sendall(head)
        except OSError:
            return connection.close()
        for source, target in ((connection, upstream), (upstream, connection)):
            threading.Thread(target=pass_on, args=(source, target), daemon=True).start()


class App:
    """`sojourn-phone`: an app with the Swift SDK, signed in."""

    count = 0

    def __init__(self):
        App.count += 1
        place = folder / f"app-{App.count}"
        place.mkdir()
        self.process = subprocess.Popen(
            [phone_program, place, "--server", ORIGIN, "--renewal", "refresh-token", "--device", f"phone-{App.count}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask("start")
        assert self.ask("login", username="anna", password=PASSWORD).get("user") == "anna"

    def ask(self, verb, **members):
        self.process.stdin.write(json.dumps({"id": 1, "do": verb, **members}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def until(self, word, **members):
        """Asks again and again for as long as the network has trouble, as a user does."""
        end = time.monotonic() + 30
        while True:
            answer = self.ask(word, **members)
            if answer.get("error") != "unreachable" or time.monotonic() > end:
                return answer
            time.sleep(0.2)

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)


def call(path, body=None, admin=False, form=False):
    data = None
    if body is not None:
        data = (urllib.parse.urlencode(body) if form else json.dumps(body)).encode()
    living = next(node for node in nodes if node.process.poll() is None)
    request = urllib.request.Request((living.admin if admin else f"http://127.0.0.1:{living.port}") + path, data)
    request.add_header("Content-Type", f"application/{'x-www-form-urlencoded' if form else 'json'}")
    if admin:
        request.add_header("Authorization", f"Bearer {KEY}")
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


def by(selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def shown(selector):
    try:
        return any(element.is_displayed() for element in driver.find_elements(By.CSS_SELECTOR, selector))
    except StaleElementReferenceException:
        # The page was replaced between the two questions.
        return False


def scan():
    """What a scanner reads on the screen."""
    path = str(folder / "screen.png")
    end = time.monotonic() + 20
    while True:
        driver.save_screenshot(path)
        text = subprocess.run(["zbarimg", "-q", "--raw", path], capture_output=True, text=True).stdout.strip()
        if text or time.monotonic() > end:
            return text
        time.sleep(0.2)


def begin():
    """Opens the login page, and chooses the phone. Returns the id of the login."""
    callback.asked.clear()
    driver.get("about:blank")
    driver.get(f"{ORIGIN}/oauth/authorize?" + urllib.parse.urlencode({
        "response_type": "code", "client_id": "web", "redirect_uri": REDIRECT, "scope": "openid", "state": "s1",
        "nonce": "n1", "ui_locales": "en", "code_challenge": CHALLENGE, "code_challenge_method": "S256"}))
    by("form[action='/login/phone'] button").click()
    browser.until("the code", lambda: shown("#code"))
    return driver.current_url.split("/login/phone/")[1].split("?")[0]


def tokens(page):
    """Waits until the browser brings a code to the client, and exchanges it. Where Chromium says that the server is not there, its
    user goes back to `page`, and presses the button. None: the page says that the code was fetched before, and its answer was lost."""
    answers = lambda: [path for path in callback.asked if path.startswith("/callback?")]

    def is_over():
        if shown("#main-frame-error"):
            driver.get(page)
            if shown("#finish button"):
                by("#finish button").click()
        return answers() or shown("[data-for=finished]")

    browser.until("the code of the client", is_over, 30)
    if not answers():
        return None
    query = dict(urllib.parse.parse_qsl(answers()[-1].split("?")[1]))
    return call("/oauth/token", {
        "grant_type": "authorization_code", "code": query["code"], "client_id": "web", "redirect_uri": REDIRECT,
        "code_verifier": VERIFIER, "device_id": "browser"}, form=True)


def refresh(token):
    return call("/oauth/token", {"grant_type": "refresh_token", "client_id": "web", "refresh_token": token}, form=True)


def strike(victim):
    """Kills a node. The other one goes on; a single one is started again."""
    victim.kill()
    if len(nodes) == 1:
        victim.start()


def play(at=None, victim=None):
    """A whole login and its end. In the state `at` the node `victim` is killed."""
    def reached(state):
        if state == at:
            strike(victim)

    balancer.desktop, balancer.phone = nodes[0], nodes[-1]
    # A browser that the phone has let in before needs no second factor.
    driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    app = App()
    try:
        login = begin()
        page = driver.current_url
        reached("STARTING")
        claimed = app.until("scan", text=scan())
        assert claimed.get("login") == login and claimed.get("input") == "WAIT_FOR_CONFIRMATION", claimed
        reached("WAIT_FOR_CONFIRMATION")
        browser.until("the number", lambda: shown("#number"), 30)
        confirmed = app.until("confirm", number=int(by("#number").text))
        assert confirmed.get("input") == "WAIT_FOR_SECOND_FACTOR", confirmed
        reached("WAIT_FOR_SECOND_FACTOR")
        proved = app.until("prove", password=PASSWORD)
        assert proved.get("state") == "ACTIVE", proved
        reached("ACTIVE")
        session = tokens(page)
        if session is None:
            assert at == "ACTIVE" and len(nodes) == 1, at
            return
        part = session["id_token"].split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        assert claims["sid"] == login and claims["amr"] == ["phone"], claims
        reached("LOGGED_IN")
        renewed = refresh(session["refresh_token"])
        assert "access_token" in renewed, renewed
        app.ask("logout")
        # The SDK tells the server in the background.
        browser.until("the desktop's end", lambda: refresh(renewed["refresh_token"]).get("reason") == "parent_ended", 30)
        shown_login = call(f"/admin/v1/logins/{login}", admin=True)
        assert (shown_login["history"], shown_login["cause"]) == ("LOGGED_OUT", "parent_ended"), shown_login
    finally:
        app.end()
        for node in nodes:
            if node.process.poll() is not None:
                node.start()


def the_app_reads_the_screen_and_the_desktop_comes_and_goes():
    """The whole way: picture, number, second factor, session, and the end with the phone."""
    play()


def approve_by_link(app, link):
    """Lets the app of the phone follow a link, and approve. Returns the URL that it opens then, as the system of a phone does."""
    claimed = app.until("link", text=link)
    assert claimed.get("input") == "WAIT_FOR_CONFIRMATION" and "return_url" not in claimed, claimed
    confirmed = app.until("confirm")
    assert confirmed.get("input") == "WAIT_FOR_SECOND_FACTOR", confirmed
    proved = app.until("prove", password=PASSWORD)
    assert proved.get("state") == "ACTIVE", proved
    return proved["return_url"]


def the_app_follows_the_link_of_the_page_and_leads_back_to_the_browser():
    """The link is on the page in the browser of the phone itself. What the app opens goes on in another tab of that browser."""
    balancer.desktop, balancer.phone = nodes[0], nodes[-1]
    login, app = begin(), App()
    try:
        url = approve_by_link(app, by("[data-for~=waiting] a.button").get_attribute("href"))
        browser.until("the sentence", lambda: shown("[data-for=opened]"), 30)
        waiting = driver.current_window_handle
        driver.switch_to.new_window("tab")
        driver.get(url)
        session = tokens(url)
        assert session and "access_token" in session, session
        driver.close()
        driver.switch_to.window(waiting)
        browser.until("the end", lambda: shown("[data-for=finished]"), 30)
        browser.until("the phone hears of it", lambda: app.ask("login-state").get("history") == "LOGGED_IN", 30)
        assert "return_url" not in app.ask("login-state")
        assert call(f"/admin/v1/logins/{login}", admin=True)["history"] == "LOGGED_IN"
    finally:
        app.end()


def the_app_follows_the_link_of_another_app_and_leads_back_to_it():
    """The app that waits has no browser of its own: the return URI gets the token, without which it is never let in."""
    balancer.desktop, balancer.phone = nodes[0], nodes[-1]
    app = App()
    try:
        asked = call("/oauth/device_authorization", {"client_id": "shop", "redirect_uri": REDIRECT}, form=True)
        url = approve_by_link(app, asked["link"])
        grant = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "shop",
                 "device_id": "shop-1", "device_code": asked["device_code"]}
        assert call("/oauth/token", grant, form=True)["error"] == "authorization_pending"
        callback.asked.clear()
        driver.get(url)
        browser.until("the return", lambda: [path for path in callback.asked if "return_token=" in path], 30)
        path = next(path for path in callback.asked if "return_token=" in path)
        query = dict(urllib.parse.parse_qsl(path.split("?")[1]))
        assert query["login_id"] == asked["login_id"], query
        session = call("/oauth/token", {**grant, "return_token": query["return_token"]}, form=True)
        assert session.get("session_id") == asked["login_id"], session
    finally:
        app.end()


def the_login_goes_on_when_a_node_is_killed():
    """In each state, the node of the browser and the node of the phone."""
    for state in ("STARTING", "WAIT_FOR_CONFIRMATION", "WAIT_FOR_SECOND_FACTOR", "ACTIVE", "LOGGED_IN"):
        for victim in nodes:
            try:
                play(state, victim)
            except Exception as error:
                raise AssertionError(f"killed in {state}: {victim.folder.name}") from error


def a_page_without_any_node_says_so_or_goes_on():
    """All nodes are gone for some seconds while the code is shown: the page shows a fresh code afterwards."""
    balancer.desktop, balancer.phone = nodes[0], nodes[-1]
    login, app = begin(), App()
    try:
        for node in nodes:
            node.kill()
        time.sleep(3)
        assert shown("#code") or shown("[role=alert]"), by("body").text
        for node in nodes:
            node.start()
        old = scan()
        browser.until("a fresh code", lambda: scan() not in ("", old), 40)
        claimed = app.until("scan", text=scan())
        assert claimed.get("login") == login, claimed
        browser.until("the number", lambda: shown("#number"), 30)
        denied = app.until("deny")
        assert denied.get("history") == "ABORTED", denied
        browser.until("the sentence", lambda: shown("[data-for=cancelled]"), 30)
    finally:
        app.end()


ISSUER_PORT = free_port()
ORIGIN = f"http://localhost:{ISSUER_PORT}"
callback = Listener(lambda *_: ("text/plain", b"back"))
REDIRECT = f"http://127.0.0.1:{callback.port}/callback"
nodes = []
balancer = Balancer(ISSUER_PORT)
browser = Browser()
driver = browser.driver


def main():
    for name in ("one", "two") if database.startswith("postgres") else ("one",):
        nodes.append(Node(name))
    call("/admin/v1/users", {"username": "anna", "password": PASSWORD}, admin=True)
    call("/admin/v1/clients", {
        "client_id": "web", "client_name": "Harbor Bank", "grant_types": ["authorization_code", "refresh_token"],
        "scope": "openid", "redirect_uris": [REDIRECT], "login_methods": ["password", "phone"]}, admin=True)
    call("/admin/v1/clients", {
        "client_id": "shop", "grant_types": ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        "scope": "read", "redirect_uris": [REDIRECT]}, admin=True)
    browser.look("light", 1000)
    return play_rules(rules_of(globals()), failed=lambda rule: driver.current_url)


try:
    sys.exit(1 if main() else 0)
finally:
    driver.quit()
    for node in nodes:
        node.process.kill()
        node.process.wait()
