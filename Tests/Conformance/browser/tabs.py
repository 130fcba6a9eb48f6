"""A headless Chromium, of which a test kills single tabs.

It is spoken to by the DevTools protocol: a WebDriver attaches itself to each tab, and hangs when one is killed in that moment."""

import json
import os
import signal
import subprocess
import threading
import time

import websocket

SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
    # A tab has a process of its own, and a killed one is not replaced by a spare one.
    "--disable-features=SpareRendererForSitePerProcess", "--disable-hang-monitor", "--disable-popup-blocking",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--remote-debugging-port=0",
    "--disable-backgrounding-occluded-windows", "--disable-component-update", "--disable-background-networking",
    "--password-store=basic", "--use-mock-keychain",
)


def below(root):
    """The descendants of a process, with their command lines."""
    every = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stat, open(f"/proc/{name}/cmdline") as command:
                    every[int(name)] = (int(stat.read().rpartition(")")[2].split()[1]), command.read())
            except (OSError, ValueError):
                pass  # It has ended meanwhile.
    found, todo = {}, [root]
    while todo:
        parent = todo.pop()
        for process, (above, command) in every.items():
            if above == parent:
                found[process] = command
                todo.append(process)
    return found


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Tab:
    """A tab: the ID of its target, and of the process that draws it."""

    def __init__(self, target, process):
        self.target, self.process, self.session = target, process, None


class Chromium:
    """A Chromium with a profile. `maps` leads a name and port of the browser to a port of this machine."""

    def __init__(self, profile, maps=None, *switches):
        os.makedirs(profile, exist_ok=True)
        port = profile + "/DevToolsActivePort"
        if os.path.exists(port):
            os.remove(port)
        rules = ",".join(f"MAP {name} 127.0.0.1:{number}" for name, number in (maps or {}).items())
        self.process = subprocess.Popen(
            ["/usr/bin/chromium", *SWITCHES, *switches, f"--user-data-dir={profile}", f"--host-resolver-rules={rules}",
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.lock = threading.RLock()
        self.last = 0
        lines = self.wait_for(port)
        self.socket = websocket.create_connection(
            f"ws://127.0.0.1:{lines[0]}{lines[1]}", suppress_origin=True, timeout=60)
        end = time.monotonic() + 10
        while not self.renderers() and time.monotonic() < end:
            time.sleep(0.03)  # The first page, which is none of the tabs.

    def wait_for(self, port):
        """The lines of the file in which the browser says where it can be spoken to."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with open(port) as file:
                    lines = file.read().split()
                if len(lines) == 2:
                    return lines
            except FileNotFoundError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError("the browser does not start")

    def command(self, method, tab=None, **parameters):
        """A command of the protocol, to the browser or to a tab."""
        with self.lock:
            if tab and tab.session is None:
                tab.session = self.command("Target.attachToTarget", targetId=tab.target, flatten=True)["sessionId"]
            self.last += 1
            message = {"id": self.last, "method": method, "params": parameters}
            if tab:
                message["sessionId"] = tab.session
            self.socket.send(json.dumps(message))
            while (answer := json.loads(self.socket.recv())).get("id") != self.last:
                pass  # An event, or the answer to a command that was given up.
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def run(self, tab, text, *values):
        """Runs the body of an async function in a tab, and returns what it returns."""
        words = ", ".join(json.dumps(value) for value in values)
        answer = self.command(
            "Runtime.evaluate", tab, expression=f"(async (...values) => {{ {text} }})({words})", awaitPromise=True,
            returnByValue=True)
        if "exceptionDetails" in answer:
            thrown = answer["exceptionDetails"]
            raise AssertionError(thrown.get("exception", {}).get("description", thrown["text"]))
        return answer["result"].get("value")

    def renderers(self):
        """The processes that draw pages. The browser draws parts of its own windows by such ones, too."""
        return {process for process, command in below(self.process.pid).items()
                if "--type=renderer" in command and "--top-chrome-webui" not in command and "--extension-process" not in command}

    def open(self, url):
        """Opens a tab in a window of its own, so that it is visible."""
        with self.lock:
            before = self.renderers()
            target = self.command("Target.createTarget", url=url, newWindow=True)["targetId"]
            end = time.monotonic() + 5
            while not (made := self.renderers() - before) and time.monotonic() < end:
                time.sleep(0.03)
            return Tab(target, made.pop() if len(made) == 1 else None)

    def crash(self, tab):
        """Kills the process of a tab, as a system does that needs the memory, and removes what is left of it."""
        if tab.process:
            kill(tab.process)
        try:
            self.command("Target.closeTarget", targetId=tab.target)
        except AssertionError:
            pass  # The target is gone.

    def close(self):
        """Kills the browser at once."""
        every = [self.process.pid, *below(self.process.pid)]
        for process in every:
            kill(process)
        self.process.wait()
