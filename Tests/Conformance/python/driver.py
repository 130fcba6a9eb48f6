"""The driver of `sojourn-conformance` for the client in Python: lines of JSON in, lines of JSON out.

    python3 driver.py DIR --server URL --renewal refresh-token|bound
"""

import json
import os
import signal
import sys
import threading

import sojourn_parts
from sojourn_parts import Clock, FileStore, Keys, SessionError, StoreError
from sojourn_session import Session


class Points:
    """Stops at points: the process stands still until SIGCONT, or is gone at once. Each stop happens once."""

    def __init__(self):
        self.armed = {}

    def passed(self, point):
        stop = self.armed.pop(point, None)
        if stop:
            os.kill(os.getpid(), signal.SIGSTOP if stop == "freeze" else signal.SIGKILL)


class FailingStore(FileStore):
    """A store that fails on command."""

    failure = "none"

    def load(self):
        if self.failure == "read":
            raise StoreError("locked")
        return super().load()

    def replace(self, expected, text):
        if self.failure != "none":
            raise StoreError("failed")
        return super().replace(expected, text)


class MovedClock(Clock):
    """The clocks of the system, with a wall that can be moved, and time that passes at once."""

    wall_shift = elapsed = 0

    def wall(self):
        return super().wall() + self.wall_shift + self.elapsed

    def uptime(self):
        return super().uptime() + self.elapsed


class Driver:
    def __init__(self, folder, server, is_bound):
        self.points = Points()
        self.store, self.clock = FailingStore(folder, self.points.passed), MovedClock()
        self.keys, self.server = Keys(folder) if is_bound else None, server
        self.made, self.making = None, threading.Lock()

    @property
    def session(self):
        # Made by the first verb that needs it, because the clock can be wrong already when a tool starts.
        with self.making:
            self.made = self.made or Session(self.server, "mobile", self.store, self.keys, self.clock, self.send)
            return self.made

    def send(self, *words):
        self.points.passed("before-send")
        answer = sojourn_parts.send(*words)
        self.points.passed("received")
        return answer

    def answer(self, command):
        try:
            return self.carry_out(command)
        except SessionError as error:
            return {"error": error.code, "reason": error.reason}
        except StoreError as error:
            return {"error": "locked", "detail": error.kind}
        except Exception as error:
            return {"error": "other", "detail": repr(error)}

    def carry_out(self, command):
        verb = command["do"]
        if verb == "capabilities":
            return {"lacks": ["biometry", "passkeys", "phone-asking", "phone-approving"]}
        if verb == "presence":
            # There is no prompt.
            return {"prompts": 0}
        if verb == "start":
            return self.session.start()
        if verb == "state":
            return self.session.state
        if verb == "login":
            more = {"authentication_mode": command["mode"]} if "mode" in command else {}
            return {"user": self.session.sign_in(command["username"], command["password"], **more)}
        if verb == "unlock":
            return {"user": self.session.unlock(command["password"])}
        if verb == "token":
            need = command.get("need", "usable")
            refused = self.session.access_token()[0] if need == "renewed" else None
            token, kind = self.session.access_token(need, refused)
            return {"token": token, "type": kind}
        if verb == "call":
            status, _, text = self.session.call(command["url"])
            return {"status": status, "body": text}
        if verb == "logout":
            self.session.sign_out()
        elif verb == "clock":
            self.clock.wall_shift += command.get("wall", 0)
            self.clock.elapsed += command.get("elapse", 0)
        elif verb == "store":
            self.store.failure = command.get("fail", "none")
        elif verb in ("freeze", "crash"):
            self.points.armed[command["at"]] = verb
        else:
            return {"error": f"no verb {verb}"}
        return {}


def main():
    words = sys.argv[1:]
    options = dict(zip(words[1::2], words[2::2]))
    driver, writing = Driver(words[0], options["--server"], options["--renewal"] == "bound"), threading.Lock()

    def run(command):
        line = json.dumps({**driver.answer(command), "id": command["id"]})
        with writing:
            print(line, flush=True)

    for text in sys.stdin:
        command = json.loads(text)
        if command["do"] == "exit":
            break
        # Side by side: a verb does not wait for the one before it.
        threading.Thread(target=run, args=(command,), daemon=True).start()
    sys.stdout.flush()
    os._exit(0)


main()
