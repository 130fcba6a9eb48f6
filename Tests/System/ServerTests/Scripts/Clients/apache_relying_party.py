"""Apache with mod_auth_openidc (Debian's libapache2-mod-auth-openidc), as a web application: code, PKCE, ID token, and a logout
over the back channel after an admin has ended the session. The configuration is the snippet of the manual."""

import os
import pathlib
import socket
import subprocess
import tempfile
import time

import requests

import stage
from browser import Browser, web_client

SNIPPET = pathlib.Path(__file__).parents[2] / "Snippets" / "apache-login.conf"
MODULES = "mpm_event authn_core authz_core authz_user alias mime auth_openidc".split()
COMMON = """
ServerRoot "{folder}"
DefaultRuntimeDir "{folder}"
PidFile "{folder}/{name}.pid"
ErrorLog "{folder}/{name}.log"
LogLevel warn auth_openidc:debug
ServerName 127.0.0.1
User #65534
Group #65534
Listen 127.0.0.1:{port}
DocumentRoot "{folder}/www"
TypesConfig /dev/null
OIDCCABundlePath "{authority}"
# Cookies know no ports, and the other application has the same host.
OIDCCookie {name}
"""


class Apache:
    """One that runs as long as the `with` lasts."""

    def __init__(self, folder, name, **more):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.origin = f"http://127.0.0.1:{port}"
        self.log = folder / (name + ".log")
        self.name = name
        secret = web_client(
            name, redirect_uris=[self.origin + "/oidc"], browser_session="shared",
            backchannel_logout_uri=self.origin + "/oidc?logout=backchannel",
            backchannel_logout_session_required=True, **more,
        )
        text = SNIPPET.read_text()
        for old, new in [
            ("https://login.example", stage.PUBLIC), ("wiki\n", name + "\n"),
            ("the-secret-that-the-command-has-shown", secret), ("https://wiki.example", self.origin),
        ]:
            assert old in text, old
            text = text.replace(old, new)
        loads = [f"LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n" for module in MODULES]
        common = COMMON.format(folder=folder, name=name, port=port, authority=folder / "ca.crt")
        algorithm = more.get("id_token_signed_response_alg")
        demand = f"OIDCIDTokenSignedResponseAlg {algorithm}\n" if algorithm else ""
        (folder / (name + ".conf")).write_text("".join(loads) + common + text + demand)
        self.command = ["/usr/sbin/apache2", "-X", "-f", str(folder / (name + ".conf"))]

    def __enter__(self):
        self.process = subprocess.Popen(self.command)
        deadline = time.monotonic() + 20
        while True:
            try:
                requests.get(self.origin + "/page", allow_redirects=False)
                return self
            except requests.ConnectionError:
                assert self.process.poll() is None and time.monotonic() < deadline, self.text()
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def text(self):
        return self.log.read_text() if self.log.exists() else "no log"

    def opens(self, browser):
        """Whether the page opens without a detour."""
        answer = browser.get(self.origin + "/page", allow_redirects=False)
        assert answer.status_code in (200, 302), answer.text
        return answer.status_code == 200

    def wait_until_closed(self, browser):
        for _ in range(200):
            if not self.opens(browser):
                return
            time.sleep(0.05)
        raise AssertionError("the application's session goes on")

    def log_in(self, browser, name):
        page = browser.get(self.origin + "/page")
        if page.url.startswith(stage.PUBLIC):
            page = browser.get(browser.log_in(page, name).headers["Location"])
        assert page.ok and page.text == "inside", page.text
        assert self.opens(browser)

    def session(self, name):
        """The session of the user at the server that this application has begun last."""
        sessions = stage.admin("GET", f"/users/username:{name}/sessions")["items"]
        return next(s for s in sessions if s["client_id"] == self.name and "ended_at" not in s)


def main():
    for name in ("wanda", "willi"):
        stage.make_user(name)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "www").mkdir()
        (folder / "www" / "page").write_text("inside")
        (folder / "ca.crt").write_bytes(pathlib.Path(os.environ["SSL_CERT_FILE"]).read_bytes())
        with Apache(folder, "rp-one") as one, Apache(folder, "rp-two", id_token_signed_response_alg="RS256") as two:
            try:
                life(one, two)
            except BaseException:
                print(one.text(), two.text())
                raise


def life(one, two):
    wanda, other = Browser(), Browser()
    one.log_in(wanda, "wanda")
    one.log_in(other, "willi")
    # The session of the browser answers the second application without a page.
    two.log_in(wanda, "wanda")
    assert one.opens(wanda) and two.opens(wanda) and one.opens(other)

    # An admin's call ends one session, and that of the browser, and nobody else's.
    stage.admin("DELETE", "/sessions/" + one.session("wanda")["session_id"])
    one.wait_until_closed(wanda)
    assert one.opens(other) and two.opens(wanda)
    page = wanda.get(one.origin + "/page")
    assert 'name="password"' in page.text, "the browser's session has ended, too"

    # What ends a user's sessions reaches every application.
    one.log_in(wanda, "wanda")
    assert one.opens(wanda) and two.opens(wanda)
    stage.admin("POST", "/users/username:wanda/revoke", {})
    one.wait_until_closed(wanda)
    two.wait_until_closed(wanda)
    assert one.opens(other)

    # The deletion of a user, too.
    stage.admin("DELETE", "/users/username:willi")
    one.wait_until_closed(other)


main()
