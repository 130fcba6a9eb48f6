"""What every script here has: a program of another project in a folder of its own, and a Chromium that logs in to it on the
server's page. On a failure it prints where the browser is, what it shows, and what the program has said."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback

import requests
from selenium.webdriver.common.by import By

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[5]
sys.path += [str(HERE.parents[1] / "Clients"), str(ROOT / "Tests/System/BrowserTests/Scripts")]

import chromium
import stage

#: Where `.ci/setup` installs each program from PyPI.
PROGRAMS = ROOT / ".build/programs"
#: The user: the username, the name for people, the mailbox, and the groups.
USER, NAME, MAIL, GROUPS = "wanda", "Wanda Wagner", "wanda@example.org", ["staff", "admins"]
GIVEN_NAME, FAMILY_NAME = NAME.split()
#: Chromium trusts no authority of the tests.
SWITCHES = ["--ignore-certificate-errors"]


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def clean_environment(**more):
    """What a program inherits: nothing of the tests but the authority that it trusts."""
    kept = {name: value for name, value in os.environ.items() if name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")}
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **kept, **more}


class Stage:
    """A folder, the programs that run in it, and a browser, all of which end with the `with`."""

    def __init__(self, name):
        self.name = name
        self.running = []

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"program-{self.name}-"))
        self.folder.chmod(0o755)
        self.origin = f"http://127.0.0.1:{free_port()}"
        self.port = self.origin.split(":")[-1]
        self.browser = chromium.Browser(*SWITCHES)
        self.driver = self.browser.driver
        self.driver.set_window_size(1280, 900)
        return self

    def __exit__(self, kind, error, _):
        if error:
            traceback.print_exception(error)
            self.explain()
        self.driver.quit()
        for process in reversed(self.running):
            process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        if error:
            sys.exit(1)

    def explain(self):
        """Prints what there is to see."""
        print("the browser is at", self.driver.current_url)
        print(self.text()[:2000])
        for log in sorted(self.folder.glob("*.log")):
            print(f"-- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-60:]))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def executable(self, name):
        """A program that `.ci/setup` has installed."""
        path = PROGRAMS / self.name / "bin" / name
        assert path.exists(), f"{path} is missing: .ci/setup installs it"
        return str(path)

    def run(self, *command, **environment):
        """Runs a command to its end."""
        result = subprocess.run(
            command, cwd=self.folder, env=clean_environment(HOME=str(self.folder), **environment),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert result.returncode == 0, f"{command}\n{result.stdout}"
        return result.stdout

    def start(self, *command, until=None, **environment):
        """Starts a program, and waits until the URL answers."""
        log = self.folder / f"{self.name}-{len(self.running)}.log"
        process = subprocess.Popen(
            command, cwd=self.folder, env=clean_environment(HOME=str(self.folder), **environment),
            stdout=log.open("w"), stderr=subprocess.STDOUT)
        self.running.append(process)
        end = time.monotonic() + 120
        while until:
            assert process.poll() is None and time.monotonic() < end, f"{command[0]} does not start"
            try:
                if requests.get(until, allow_redirects=False, timeout=5).status_code < 400:
                    break
            except requests.RequestException:
                pass
            time.sleep(0.05)
        return process

    # What the browser does.

    def by(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def has(self, selector):
        return any(element.is_displayed() for element in self.driver.find_elements(By.CSS_SELECTOR, selector))

    def text(self):
        return self.driver.execute_script("return document.body ? document.body.innerText : ''")

    def until(self, what, condition, seconds=30):
        self.browser.until(what, condition, seconds)

    def until_text(self, text):
        self.until(text, lambda: text in self.text())

    def until_page(self):
        self.until("the login page", lambda: self.driver.current_url.startswith(stage.PUBLIC) and self.has("[name=password]"))

    def fill_page(self):
        """Fills in the server's login page."""
        self.until_page()
        self.by("[name=username]").clear()
        self.by("[name=username]").send_keys(USER)
        self.by("[name=password]").send_keys(stage.PASSWORD + "\n")

    def confirm_logout(self):
        """Answers the server's question after a logout that came without an ID token."""
        self.until("the question", lambda: self.driver.current_url.startswith(stage.PUBLIC) and self.has("main form button"))
        self.by("main form button").click()

    def picture(self, name):
        folder = os.environ.get("SOJOURN_SCREENSHOTS")
        if folder:
            self.driver.save_screenshot(f"{folder}/{self.name}-{name}.png")


def make_user():
    """The user that logs in everywhere."""
    stage.admin("POST", "/users", {
        "username": USER, "password": stage.PASSWORD, "email": MAIL, "email_verified": True, "display_name": NAME,
        "given_name": GIVEN_NAME, "family_name": FAMILY_NAME, "claims": {"groups": GROUPS}})


def make_client(name, redirect, **more):
    """A web application as the manual registers it. Returns its secret."""
    members = {
        "client_id": name, "token_endpoint_auth_method": "client_secret_basic", "browser_session": "shared",
        "grant_types": ["authorization_code", "refresh_token"], "scope": "openid profile email groups",
        "redirect_uris": [redirect],
    }
    return stage.admin("POST", "/clients", members | more)["client_secret"]


def sessions(client):
    """The sessions of the user that live by a client."""
    items = stage.admin("GET", f"/users/username:{USER}/sessions")["items"]
    return [one for one in items if one["client_id"] == client and "ended_at" not in one]
