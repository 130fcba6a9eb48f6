"""Apache with mod_auth_openidc (Debian's libapache2-mod-auth-openidc), as an OAuth 2.0 resource server: one door verifies
access tokens by the published keys, another one asks the introspection endpoint about each."""

import os
import pathlib
import socket
import subprocess
import tempfile
import time

import requests

import stage

MODULES = "mpm_event authn_core authz_core authz_user alias mime auth_openidc".split()
COMMON = """
ServerRoot "{folder}"
DefaultRuntimeDir "{folder}"
PidFile "{folder}/{name}.pid"
ErrorLog "{folder}/{name}.log"
LogLevel warn auth_openidc:debug
ServerName localhost
User #65534
Group #65534
Listen 127.0.0.1:{port}
DocumentRoot "{folder}/www"
TypesConfig /dev/null
OIDCCryptoPassphrase "of this run alone"
OIDCCABundlePath "{authority}"
OIDCOAuthRemoteUserClaim sub
<Directory "{folder}/www">
  AuthType oauth20
  Require claim "client_id:ap-app"
</Directory>
"""
BY_KEYS = 'OIDCOAuthVerifyJwksUri "{jwks_uri}"\n'
# The answer is not kept, so that an ended session opens nothing from then on.
BY_ASKING = """
OIDCOAuthIntrospectionEndpoint "{introspection_endpoint}"
OIDCOAuthClientID ap-door
OIDCOAuthClientSecret "{secret}"
OIDCOAuthTokenIntrospectionInterval -1
"""


class Apache:
    """One that runs as long as the `with` lasts."""

    def __init__(self, folder, name, door):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/page"
        self.log = folder / (name + ".log")
        loads = [f"LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n" for module in MODULES]
        common = COMMON.format(folder=folder, name=name, port=port, authority=folder / "ca.crt")
        (folder / (name + ".conf")).write_text("".join(loads) + common + door)
        self.command = ["/usr/sbin/apache2", "-X", "-f", str(folder / (name + ".conf"))]

    def __enter__(self):
        self.process = subprocess.Popen(self.command)
        deadline = time.monotonic() + 20
        while True:
            try:
                requests.get(self.url)
                return self
            except requests.ConnectionError:
                assert self.process.poll() is None and time.monotonic() < deadline, self.text()
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def text(self):
        return self.log.read_text() if self.log.exists() else "no log"

    def status(self, token):
        return requests.get(self.url, headers={"Authorization": "Bearer " + token} if token else {}).status_code


def main():
    stage.make_user("paula")
    stage.make_client("ap-app", "none", access_token_lifetime=3600)
    stage.make_client("ap-short", "none")
    secret = stage.make_client("ap-door", "client_secret_basic", grant_types=["client_credentials"])
    known = stage.metadata()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "www").mkdir()
        (folder / "www" / "page").write_text("inside")
        (folder / "ca.crt").write_bytes(pathlib.Path(os.environ["SSL_CERT_FILE"]).read_bytes())
        keys = Apache(folder, "keys", BY_KEYS.format(**known))
        asking = Apache(folder, "asking", BY_ASKING.format(secret=secret, **known))
        with keys, asking:
            try:
                life(keys, asking)
            except AssertionError:
                print(keys.text(), asking.text())
                raise


def life(keys, asking):
    tokens = stage.log_in("paula", "ap-app")
    token = tokens["access_token"]
    for door in (keys, asking):
        assert door.status(token) == 200
        assert door.status(None) == 401
        assert door.status("not.a.token") == 401
        assert door.status(tokens["refresh_token"]) == 401
        assert door.status(stage.log_in("paula", "ap-short", device="tv")["access_token"]) in (401, 403)
    fresh = requests.post(stage.PUBLIC + "/v1/refresh", json={"refresh_token": tokens["refresh_token"]}).json()
    assert keys.status(fresh["access_token"]) == asking.status(fresh["access_token"]) == 200
    requests.post(stage.PUBLIC + "/v1/logout", json={"refresh_token": fresh["refresh_token"]}).raise_for_status()
    assert asking.status(token) == asking.status(fresh["access_token"]) == 401
    # Who verifies by the keys alone learns of an end when the token expires.
    assert keys.status(token) == 200


main()
