"""A real server for scripts that use its pages."""

import json
import os
import socket
import subprocess
import time
import urllib.parse
import urllib.request

KEY = "sja_" + "A" * 43
# Those of RFC 7636 appendix B.
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


class Server:
    """A server with a database of its own."""

    def __init__(self, program, folder, *options, settings=None):
        self.ready = f"{folder}/ready.json"
        # The server refuses variables that it does not know, those of the tests among them.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SOJOURN_")}
        environment |= {"SOJOURN_ADMIN_KEY": KEY, "SOJOURN_PASSKEYS_RP_ID": "localhost"}
        environment |= settings or {}
        self.process = subprocess.Popen(
            [program, "serve", "--database", f"sqlite:{folder}/db", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0",
             "--ready-file", self.ready, "--log-level", "error", *options],
            cwd=folder, env=environment)
        end = time.monotonic() + 30
        while not os.path.exists(self.ready):
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError("the server did not start")
            time.sleep(0.02)
        with open(self.ready) as file:
            addresses = json.load(file)
        self.public, self.private = addresses["public"], addresses["admin"]

    def call(self, url, body=None, method=None, bearer=None, form=None, headers=None):
        """A call of the API: the JSON of its answer."""
        data = None
        headers = dict(headers or {})
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        if form is not None:
            data = urllib.parse.urlencode(form).encode()
        request = urllib.request.Request(url, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def admin(self, path, body=None, method=None):
        return self.call(self.private + "/admin/v1" + path, body, method, KEY)


def pass_on(source, target):
    """Passes bytes on from one socket to another until the source ends."""
    try:
        while received := source.recv(65536):
            target.sendall(received)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
