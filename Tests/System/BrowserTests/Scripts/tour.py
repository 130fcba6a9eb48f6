"""Takes the manual's tour in Chromium, with its files as they stand but for the ports: `tour.py SOJOURN [SCREENSHOTS]`."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

from selenium.webdriver.common.by import By

from chromium import Browser

SNIPPETS = pathlib.Path(__file__).parents[2] / "ServerTests" / "Snippets"
PASSWORD = "correct horse battery staple"


def free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [str(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Tour:
    def __init__(self, program, folder):
        self.folder = folder
        public, private, self.app = free_ports(3)
        self.ports = {"8080": public, "8081": private, "9000": self.app}
        words = folder / "bin"
        words.mkdir()
        (words / "sojourn").symlink_to(program)
        (words / "python3").symlink_to(sys.executable)
        # A virtual environment is found by the place of its program, which a link hides.
        libraries = ":".join(path for path in sys.path if path.endswith("site-packages"))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SOJOURN_")}
        self.environment = kept | {
            "PATH": f"{words}:{os.environ['PATH']}", "PYTHONPATH": libraries, "PYTHONDONTWRITEBYTECODE": "1"}
        (folder / "tour-app.py").write_text(self.text("tour-app.py"))
        self.shell = subprocess.Popen(
            ["bash", "-e"], cwd=folder, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def text(self, name):
        text = (SNIPPETS / name).read_text()
        for old, new in self.ports.items():
            text = text.replace(old, new)
        return text

    def run(self, name):
        """Runs a file in the reader's shell. Returns what it says."""
        listen = f"sojourn serve --public 127.0.0.1:{self.ports['8080']} --admin 127.0.0.1:{self.ports['8081']} "
        self.shell.stdin.write(self.text(name).replace("sojourn serve ", listen) + "\necho; echo the end\n")
        self.shell.stdin.flush()
        lines = []
        while (line := self.shell.stdout.readline()) != "the end\n":
            assert line, "".join(lines)
            lines.append(line)
        return "".join(lines)

    def close(self):
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()


folder = tempfile.TemporaryDirectory()
tour = Tour(os.path.abspath(sys.argv[1]), pathlib.Path(folder.name))
pictures = sys.argv[2] if len(sys.argv) > 2 else None
browser = Browser()
driver = browser.driver
text = browser.text


def picture(name):
    if pictures:
        driver.save_screenshot(f"{pictures}/tour-{name}.png")


def go(path, wanted):
    driver.get(f"http://127.0.0.1:{tour.app}{path}")
    browser.until(wanted, lambda: wanted in text())


def main():
    said = tour.run("tour-begin.sh")
    assert "tour" in said, said
    browser.until("the application", lambda: socket.socket().connect_ex(("127.0.0.1", int(tour.app))) == 0)
    go("/", "You are out")
    driver.find_element(By.LINK_TEXT, "Sign in").click()
    browser.until("the page", lambda: "Sign in to The tour" in text())
    picture("login")
    driver.find_element(By.ID, "username").send_keys("anna")
    driver.find_element(By.ID, "password").send_keys(PASSWORD + "\n")
    browser.until("the way back", lambda: "You are in" in text() and "as anna" in text())
    picture("in")
    # Once more, without a page.
    go("/login", "You are in")
    said = tour.run("tour-end.sh")
    assert "tour" in said and "browser" in said, said
    browser.until("the end", lambda: driver.refresh() or driver.get(f"http://127.0.0.1:{tour.app}/") or "You are out" in text())
    picture("out")
    driver.find_element(By.LINK_TEXT, "Sign in").click()
    browser.until("the password is asked", lambda: driver.find_elements(By.ID, "password"))
    picture("asked-again")
    tour.shell.stdin.write("sojourn event list; echo the end\n")
    tour.shell.stdin.flush()
    events = ""
    while (line := tour.shell.stdout.readline()) and line != "the end\n":
        events += line
    for word in ("login_approved", "session_started", "session_ended", "revoked_by_admin"):
        assert word in events, (word, events)
    print("the tour, 0 failures")


try:
    main()
finally:
    driver.quit()
    tour.close()
    folder.cleanup()
