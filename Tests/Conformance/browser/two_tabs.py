"""Two tabs of one app renew at a real server, beside each other: `two_tabs.py SOJOURN DIST COUNT [SEED]`, COUNT renewals in each.

A fifth of the answers is lost, and each tab is killed at random and opened again. There must be no logout and no reuse, one
session, and no version of the record that two swaps have replaced."""

import collections
import os
import queue
import random
import sys
import tempfile
import time
import urllib.parse

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, FOLDER + "/../../System/BrowserTests/Scripts")

from control import Control, Page
from origin import Site
from served import Server
from tabs import Chromium

PASSWORD = "correct horse battery"
# The seconds between two kills.
PAUSE = (0.3, 2)


class Tab:
    """One of the two: it is opened again after each kill, and goes on until it has made its renewals."""

    def __init__(self, world, name):
        self.world, self.name = world, name
        self.renewals = self.failures = self.kills = self.generation = self.elapsed = 0
        self.page = self.tab = None

    def open(self):
        world = self.world
        self.generation += 1
        name = f"{self.name}{self.generation}"
        self.page = Page(lambda message: world.messages.put((self, message)))
        world.control.pages[name] = self.page
        query = urllib.parse.urlencode({
            "server": world.server.public, "renewal": "bound", "name": name,
            "control": f"http://127.0.0.1:{world.control.port}"})
        self.tab = world.chromium.open(f"{world.site_url}/tab.html?{query}")
        if not self.page.is_ready.wait(25):
            raise AssertionError("the tab does not load")

    def order(self, text):
        self.page.orders.put(text)

    def kill(self):
        self.page.orders.put(None)
        self.world.chromium.crash(self.tab)
        self.kills += 1


class World:
    def __init__(self, program, dist, count, seed):
        self.count, self.random = count, random.Random(seed)
        self.folder = tempfile.TemporaryDirectory()
        self.server = Server(program, self.folder.name)
        self.server.admin("/users", {"username": "anna", "password": PASSWORD})
        self.server.admin("/settings/sessions", {"rotation_interval": 0, "refresh_after": 10}, "PUT")
        self.site = Site({"/dist/": dist, "/": FOLDER + "/pages"})
        self.site_url = f"http://localhost:{self.site.port}"
        self.lost = self.renewed = self.elapsed = 0
        self.site.after = self.arrives
        self.control = Control(lambda page, kind: None)
        self.chromium = Chromium(self.folder.name + "/profile")
        self.messages = queue.Queue()
        self.replaced = collections.Counter()
        self.states = collections.Counter()
        self.tabs = [Tab(self, name) for name in "ab"]

    def arrives(self, path):
        """Whether the answer of a renewal reaches the browser."""
        if path != "/oauth/token":
            return True
        self.renewed += 1
        if self.random.random() < 0.2:
            self.lost += 1
            return False
        return True

    def sessions(self):
        return self.server.admin("/users/username:anna/sessions")["items"]

    def run(self):
        for tab in self.tabs:
            tab.open()
        self.tabs[0].order('{"id": 1, "do": "login", "username": "anna", "password": "%s"}' % PASSWORD)
        while "id" not in (answer := self.messages.get(timeout=30)[1]):
            pass
        assert answer.get("user") == "anna", answer
        for tab in self.tabs:
            self.go_on(tab)
        next_kill = time.monotonic() + self.random.uniform(*PAUSE)
        end = time.monotonic() + 60 + self.count * 2
        while any(tab.renewals < self.count for tab in self.tabs):
            if time.monotonic() > end:
                raise AssertionError("the renewals take too long")
            try:
                self.note(*self.messages.get(timeout=0.1))
            except queue.Empty:
                pass
            if time.monotonic() > next_kill:
                tab = self.random.choice(self.tabs)
                tab.kill()
                tab.elapsed = 0
                tab.open()
                self.go_on(tab)
                next_kill = time.monotonic() + self.random.uniform(*PAUSE)

    def go_on(self, tab):
        # A tab that was opened again is no younger than the others: its clock has gone on.
        tab.order('{"id": 2, "do": "clock", "elapse": %d}' % (self.elapsed - tab.elapsed))
        tab.order('{"id": 3, "do": "renewals"}')

    def note(self, tab, message):
        if message.get("order") == "log":
            print(message["text"])
        if message.get("order") != "renewed":
            return
        self.replaced.update(message["wins"])
        self.states[message["state"]] += 1
        tab.elapsed = message["elapsed"]
        self.elapsed = max(self.elapsed, tab.elapsed)
        if "failure" in message:
            tab.failures += 1
            assert message["failure"]["error"] == "unreachable", message["failure"]
        elif message["requests"]:
            tab.renewals += 1

    def judge(self, first):
        twice = [version for version, count in self.replaced.items() if count > 1]
        ids = {one["session_id"] for one in self.sessions()}
        faults = []
        if set(self.states) != {"signedIn"}:
            faults.append(f"states: {dict(self.states)}")
        if twice:
            faults.append(f"{len(twice)} versions were replaced twice")
        if len(ids) != 1:
            faults.append(f"{len(ids)} sessions")
        ends = [one for one in self.sessions() if one.get("ended")]
        if ends:
            faults.append(f"an ended session: {ends[0]['ended']}")
        kills = sum(tab.kills for tab in self.tabs)
        failures = sum(tab.failures for tab in self.tabs)
        print(f"{[tab.renewals for tab in self.tabs]} renewals, {failures} without an answer, {self.renewed} requests, "
              f"{self.lost} answers lost, {kills} kills, {len(self.replaced)} swaps, {time.monotonic() - first:.0f} s")
        for fault in faults:
            print("failed:", fault)
        print(f"two tabs, {len(faults)} failures")
        return 1 if faults else 0

    def close(self):
        self.chromium.close()
        self.server.process.terminate()
        self.server.process.wait()
        self.folder.cleanup()


def main(program, dist, count, seed=None):
    seed = seed or str(random.randrange(1 << 30))
    print(f"seed {seed}")
    world = World(os.path.abspath(program), os.path.abspath(dist), int(count), seed)
    begin = time.monotonic()
    try:
        world.run()
        return world.judge(begin)
    finally:
        world.close()


sys.exit(main(*sys.argv[1:]))
