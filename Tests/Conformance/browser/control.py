"""Orders for pages, and their answers. A page reads its orders as events and posts what it has to say."""

import json
import queue
import threading
import urllib.parse

from origin import Handler, QuietServer


class Page:
    """One page as its host sees it."""

    def __init__(self, heed):
        self.orders = queue.Queue()
        # Called with each message of the page.
        self.heed = heed
        self.is_ready = threading.Event()
        # Set when a page that stands still may go on; made anew at each stop.
        self.thawed = threading.Event()


class Control:
    """Gives orders to pages. It has a port of its own, because a request that is held takes a connection of its origin."""

    def __init__(self, stopped):
        """`stopped` is called with a page and what it has run into: `freeze`, which is held until the thaw, or `crash`."""
        self.pages = {}
        control = self

        class OwnHandler(Handler):
            def do_GET(self):
                page = control.pages.get(self.words()[1])
                if page is None:
                    return self.answer(404)
                self.send_response_only(200)
                for name, value in (("Content-Type", "text/event-stream"), ("Access-Control-Allow-Origin", "*"),
                                    ("Cache-Control", "no-store"), ("Connection", "close")):
                    self.send_header(name, value)
                self.end_headers()
                page.is_ready.set()
                while (order := page.orders.get()) is not None:
                    self.wfile.write(b"data: " + order.encode() + b"\n\n")

            def do_POST(self):
                kind, name, *rest = self.words()
                text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                page = control.pages.get(name)
                if page and kind == "said":
                    page.heed(json.loads(text))
                elif page and kind == "stop":
                    page.thawed.clear()
                    stopped(page, rest[0])
                    page.thawed.wait()
                self.answer(204, fields=[("Access-Control-Allow-Origin", "*")])

            def words(self):
                return urllib.parse.unquote(self.path).split("/")[1:]

        self.server = QuietServer(("127.0.0.1", 0), OwnHandler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
