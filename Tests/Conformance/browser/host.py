"""The browser of one folder, for the drivers of `driver.py`: `host.py DIST DIR SOCKET`. Each connection is a tab.

A stop is a synchronous request that is not answered: the page stands still within the statement, with its timers and promises.
The host ends when no driver has been there for some seconds."""

import json
import os
import shutil
import socket
import sys
import threading
import time
import urllib.parse

from control import Control, Page
from origin import Site
from tabs import Chromium

FOLDER = os.path.dirname(os.path.abspath(__file__))
# One origin for all folders, because passkeys and the server's list of origins name it. Each browser finds its own port there.
ORIGIN = "localhost:4711"
IDLE = 8
# What a client in a browser has not: nothing is sealed, a phone lets others in, and a profile is no file with a record.
CAPABILITIES = {"lacks": ["biometry", "phone-approving", "files"], "origin": "http://" + ORIGIN}


class Host:
    def __init__(self, dist, folder):
        self.profile = folder + ".profile"
        self.site = Site({"/dist/": dist, "/": FOLDER + "/pages"})
        self.control = Control(self.stopped)
        self.lock = threading.RLock()
        self.chromium = None
        self.connections = {}
        self.count = 0
        self.last = time.monotonic()

    def browser(self):
        """The browser of the folder, which may have to be started again."""
        with self.lock:
            if self.chromium is None:
                self.chromium = Chromium(self.profile, {ORIGIN: self.site.port})
            return self.chromium

    # Drivers

    def serve(self, connection):
        """Carries out what a driver asks, until it is gone; then its tab is killed."""
        lines = connection.makefile("r", encoding="utf-8")
        hello = json.loads(lines.readline())
        with self.lock:
            self.count += 1
            name = str(self.count)
        page = Page(lambda message: self.say(connection, message))
        page.connection, page.tab, page.has_passkeys = connection, None, False
        self.control.pages[name] = self.connections[connection] = page
        url = f"http://{ORIGIN}/tab.html?" + urllib.parse.urlencode(
            {**hello, "control": f"http://127.0.0.1:{self.control.port}", "name": name})
        try:
            # Before the first verb, because the start of a browser is no part of what a scenario measures.
            page.tab = self.browser().open(url)
            page.is_ready.wait(25)
            for line in lines:
                self.obey(page, json.loads(line))
        except OSError:
            pass
        finally:
            self.end(page)

    def obey(self, page, command):
        verb = command["do"]
        if verb == "thaw":
            page.thawed.set()
        elif verb == "capabilities":
            self.say(page.connection, {"id": command["id"], **CAPABILITIES})
        else:
            if verb in ("add-passkey", "login-passkey", "show-presence", "unlock") and not page.has_passkeys:
                self.add_authenticator(page)
            page.orders.put(json.dumps(command))

    def add_authenticator(self, page):
        page.has_passkeys = True
        self.chromium.command("WebAuthn.enable", page.tab)
        self.chromium.command("WebAuthn.addVirtualAuthenticator", page.tab, options={
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "automaticPresenceSimulation": True})

    def say(self, connection, message):
        try:
            connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            pass

    def stopped(self, page, stop):
        """A page stands still at a point. A crash of the only tab is one of the whole browser."""
        if stop == "crash":
            with self.lock:
                others = [one for one in self.connections.values() if one is not page and one.tab]
                if others:
                    self.kill(page)
                else:
                    page.tab = None
                    self.chromium.close()
                    self.chromium = None
        self.say(page.connection, {"order": stop})

    def kill(self, page):
        with self.lock:
            if page.tab and self.chromium:
                self.chromium.crash(page.tab)
            page.tab = None

    def end(self, page):
        self.kill(page)
        page.thawed.set()
        page.orders.put(None)
        with self.lock:
            self.connections.pop(page.connection, None)
            self.last = time.monotonic()
        page.connection.close()

    def wait(self):
        """Returns when no driver has been there for a while."""
        while self.connections or time.monotonic() - self.last < IDLE:
            time.sleep(0.2)

    def close(self):
        with self.lock:
            if self.chromium:
                self.chromium.close()
        shutil.rmtree(self.profile, ignore_errors=True)


def main(dist, folder, name):
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind("\0" + name)
    except OSError:
        return  # Another driver has started one at the same moment.
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    host = Host(dist, folder)
    listener.listen(64)

    def accept():
        while True:
            connection, _ = listener.accept()
            host.last = time.monotonic()
            threading.Thread(target=host.serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        host.wait()
    finally:
        host.close()
    os._exit(0)


main(*sys.argv[1:])
