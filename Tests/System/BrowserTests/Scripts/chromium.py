"""A server for the documents that PageSamples.write has written, and a Chromium that looks at them."""

import http.server
import json
import threading
import time
import urllib.parse

from selenium import webdriver
from selenium.webdriver.common.by import By


class Site:
    """Serves a folder on a free port of the loopback address, with the header fields of a page, and keeps what is posted."""

    def __init__(self, folder):
        self.folder = folder
        self.use("headers")
        # What was posted: paths with fields. Answered with 303 to `redirect`, if there is one.
        self.posts, self.redirect = [], None
        # Addresses that were asked for.
        self.asked = []
        # The events that a stream sends, with the seconds to wait before each.
        self.events = []
        # The answers to long polls, one after the other, where the stream is refused; None: the stream works.
        self.polls = None
        site = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def end_headers(self):
                if self.path.split("?")[0].endswith(".html"):
                    for name, value in site.fields:
                        if name != "Content-Type":
                            self.send_header(name, value)
                super().end_headers()

            def guess_type(self, path):
                # A document is UTF-8 by its own word, as the server's are by their field.
                return super().guess_type(path) + ("; charset=utf-8" if path.endswith(".html") else "")

            def do_GET(self):
                site.asked.append(self.headers["Host"] + self.path)
                path = self.path.split("?")[0]
                if path == "/callback":
                    self.answer("text/plain", b"back")
                elif path.endswith("/code.svg"):
                    self.answer("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'/>")
                elif path.endswith("/events"):
                    self.poll() if site.polls is not None else self.stream()
                else:
                    super().do_GET()

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                site.posts.append((self.path, dict(urllib.parse.parse_qsl(body, keep_blank_values=True))))
                if site.redirect:
                    self.send_response(303)
                    self.send_header("Location", site.redirect)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                else:
                    self.answer("text/plain", b"posted")

            def answer(self, kind, body):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def poll(self):
                if "event-stream" in self.headers.get("Accept", "") or not site.polls:
                    self.send_error(503)
                else:
                    name, data = site.polls.pop(0)
                    self.answer("application/json", json.dumps({"event": name, "data": data}).encode())

            def stream(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                for delay, name, data in site.events:
                    time.sleep(delay)
                    self.wfile.write(f"event: {name}\ndata: {data}\n\n".encode())
                    self.wfile.flush()
                time.sleep(1)

            def log_message(self, *_):
                pass

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.port = server.server_port
        self.origin = f"http://localhost:{server.server_port}"

    def use(self, name):
        """Takes the header fields of a file."""
        with open(f"{self.folder}/{name}.txt") as lines:
            self.fields = [line.rstrip("\n").split(": ", 1) for line in lines]


# Notes what the policy refuses, before any script of the page runs.
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation",
  (event) => violations.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
"""


class Browser:
    """A headless Chromium."""

    def __init__(self, *switches):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        usual = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
        for word in usual + switches:
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})

    def look(self, scheme, width, scale=1):
        """Takes a color scheme, a width, and a scale of the text."""
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        # A text of 200 % in a window is a window of half the width, as browsers zoom.
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width // scale, "height": 800 // scale, "deviceScaleFactor": scale, "mobile": width < 500})

    def complaints(self):
        """What the console says about errors, and the violations of the policy."""
        said = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return said + self.driver.execute_script("return window.violations ?? []")

    def requests(self):
        """The addresses that were asked for since the last call."""
        sent = [one for one in self.messages() if one["method"] == "Network.requestWillBeSent"]
        return [one["params"]["request"]["url"] for one in sent]

    def messages(self):
        """What the browser told about pages and requests since the last call."""
        return [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]

    def by(self, selector):
        """The first element of a selector."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self):
        """The text of the page."""
        return self.by("body").text

    @staticmethod
    def gone(element):
        """Whether the document of the element was left."""
        try:
            return element.is_enabled() is None
        except Exception:
            return True

    def press(self, element):
        """Presses a button and waits for the next document."""
        old = self.by("html")
        element.click()
        self.until("the next page", lambda: self.gone(old))

    def until(self, what, condition, seconds=10):
        """Waits until the condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"never: {what}")
            time.sleep(0.02)
