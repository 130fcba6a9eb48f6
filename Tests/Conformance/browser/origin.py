"""The origin of a page in a browser: files of a folder, and a way through to a server, so that both have one origin."""

import http.client
import http.server
import os
import threading
import urllib.parse

TYPES = {".js": "text/javascript", ".html": "text/html; charset=utf-8"}
# Fields that concern one connection.
HOP = {"host", "connection", "accept-encoding", "transfer-encoding", "keep-alive", "content-length", "x-once"}


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A browser that cuts a connection is no error."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one request on each connection. A browser repeats a POST by itself only on a connection that was used before."""

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", fields=()):
        self.send_response_only(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class Site:
    """Serves `roots`, a dictionary of paths and folders, and `pages`, one of paths and files with further fields. It passes
    `/through/ORIGIN/…` on to that origin, and all other paths to `upstream`."""

    def __init__(self, roots, pages=None, upstream=None):
        self.roots, self.pages, self.upstream = roots, pages or {}, upstream
        self.seen = set()
        # Called with the path of each request that goes through, before it goes; tests lose requests and answers there.
        self.before, self.after = lambda path: True, lambda path: True
        site = self

        class OwnHandler(Handler):
            def do_GET(self):
                site.serve(self)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

        self.server = QuietServer(("127.0.0.1", 0), OwnHandler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, handler):
        path = urllib.parse.urlsplit(handler.path).path
        if path.startswith("/through/"):
            _, _, address, rest = handler.path.split("/", 3)
            return self.pass_on(handler, urllib.parse.unquote(address), "/" + rest)
        if path in self.pages:
            return self.send(handler, *self.pages[path])
        for root, folder in self.roots.items():
            if path.startswith(root):
                file = os.path.normpath(folder + "/" + path[len(root):])
                if file.startswith(folder) and os.path.isfile(file):
                    return self.send(handler, file)
        if self.upstream:
            return self.pass_on(handler, self.upstream, handler.path)
        handler.answer(404)

    def send(self, handler, file, *fields):
        with open(file, "rb") as content:
            body = content.read()
        kind = TYPES.get(os.path.splitext(file)[1], "application/octet-stream")
        handler.answer(200, body, [("Content-Type", kind), *fields])

    def pass_on(self, handler, origin, path):
        """Sends the request on, and the answer back. What the server cuts off is cut off here."""
        once = handler.headers.get("X-Once")
        if once in self.seen:
            # The browser itself has repeated the request. The client under test has not.
            return
        self.seen.add(once) if once else None
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        target = urllib.parse.urlsplit(origin)
        fields = {name: value for name, value in handler.headers.items() if name.lower() not in HOP}
        if not self.before(path):
            return
        connection = http.client.HTTPConnection(target.hostname, target.port)
        try:
            connection.request(handler.command, path, body or None, fields)
            answer = connection.getresponse()
            received = answer.read()
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()
        if not self.after(path):
            return
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOP]
        try:
            handler.answer(answer.status, received, kept)
        except OSError:
            pass

    def close(self):
        self.server.shutdown()
        self.server.server_close()
