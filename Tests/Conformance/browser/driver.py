"""The driver of `sojourn-conformance` for the client in a browser: lines of JSON in, lines of JSON out.

    driver.py [--direct] DIST DIR --server URL --renewal refresh-token|bound

DIST is the compiled client. Its requests go to the server through the origin of the page; with `--direct` they go to the server
itself, which is another origin. A process stands for one tab. The browser of a DIR belongs to a process of its own (host.py), which
the first driver starts: a second driver opens a tab in the running browser, and one that stands still holds up no other."""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
is_direct = sys.argv[1] == "--direct"
dist, folder, *words = sys.argv[2 if is_direct else 1:]
folder = os.path.abspath(folder)


def connect():
    """The connection to the host of the folder, which is started if there is none."""
    name = "\0sojourn-browser-" + hashlib.sha256(folder.encode()).hexdigest()[:32]
    started = None
    end = time.monotonic() + 25
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(name)
            return connection
        except OSError:
            connection.close()
        if started is None:
            # In a session of its own, because it outlives this process.
            started = subprocess.Popen(
                [sys.executable, "-B", FOLDER + "/host.py", os.path.abspath(dist), folder, name[1:]],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
        if time.monotonic() > end:
            sys.exit("no browser")
        time.sleep(0.02)


def say(line):
    sys.stdout.write(line)
    sys.stdout.flush()


def obey():
    """Passes answers on, and stops or ends this process when its tab has passed such a point."""
    for line in host_lines:
        message = json.loads(line)
        order = message.get("order")
        if order == "freeze":
            os.kill(os.getpid(), signal.SIGSTOP)
            host.sendall(b'{"do": "thaw"}\n')
        elif order == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        elif order == "log":
            print(message["text"], file=sys.stderr, flush=True)
        else:
            say(line)
    os._exit(1)


host = connect()
host_lines = host.makefile("r", encoding="utf-8")
hello = {"server": words[words.index("--server") + 1], "renewal": words[words.index("--renewal") + 1]}
if is_direct:
    hello["direct"] = "yes"
host.sendall(json.dumps(hello).encode() + b"\n")
threading.Thread(target=obey, daemon=True).start()
for command in sys.stdin:
    if json.loads(command)["do"] == "exit":
        break
    host.sendall(command.encode())
os._exit(0)
