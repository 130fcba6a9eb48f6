#!/usr/bin/env python3
"""A real identity provider (glewlwyd) on a free port, with a user and a client, and a server that knows it: logs in by its ID
tokens, and says what came of it, one line each. Usage: glewlwyd.py FOLDER SOJOURN"""
import gzip, http.cookiejar, json, os, socket, sqlite3, subprocess, sys, time
import urllib.error, urllib.parse, urllib.request

folder, sojourn = sys.argv[1:]
os.chdir(folder)
CONFIGURATION = """
port=%d
bind_address="127.0.0.1"
external_url="%s/"
login_url="login.html"
api_prefix="api"
log_mode="file"
log_level="ERROR"
log_file="%s/glewlwyd.log"
cookie_secure=0
session_expiration=3600
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="/usr/lib/glewlwyd/user"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
hash_algorithm = "SHA512"
database = { type = "sqlite3"; path = "%s/glewlwyd.db"; };
"""
DATABASE = "/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz"
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
base = f"http://127.0.0.1:{port}"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


def browser():
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    return urllib.request.build_opener(cookies, NoRedirect())


def call(who, method, path, body):
    request = urllib.request.Request(
        base + path, data=json.dumps(body).encode(), method=method, headers={"Content-Type": "application/json"})
    with who.open(request) as answer:
        answer.read()


def prepare():
    """An administrator makes a scope, a user, a public client, and a provider that signs with RSA."""
    admin = browser()
    call(admin, "POST", "/api/auth/", {"username": "admin", "password": "password"})
    call(admin, "POST", "/api/scope/", {
        "name": "app", "display_name": "app", "description": "app", "password_required": False, "scheme": {}})
    call(admin, "POST", "/api/user/?source=database", {
        "username": "ada", "name": "Ada L", "password": "a password", "email": "ada@example.org", "enabled": True,
        "scope": ["app", "openid"]})
    call(admin, "POST", "/api/client/?source=database", {
        "client_id": "app", "name": "app", "enabled": True, "confidential": False,
        "redirect_uri": ["http://127.0.0.1/cb"], "authorization_type": ["code"], "scope": [],
        "token_endpoint_auth_method": ["none"]})
    call(admin, "POST", "/api/mod/plugin/", {
        "module": "oidc", "name": "oidc", "display_name": "OIDC", "order_rank": 0, "readonly": False, "parameters": {
            "iss": base, "jwt-type": "rsa", "jwt-key-size": "256", "key": open("rsa.key").read(),
            "cert": open("rsa.pub").read(), "access-token-duration": 600, "refresh-token-duration": 600,
            "code-duration": 600, "refresh-token-rolling": True, "allow-non-oidc": True,
            "auth-type-client-enabled": False, "auth-type-code-enabled": True, "auth-type-token-enabled": False,
            "auth-type-id-token-enabled": True, "auth-type-none-enabled": False,
            "auth-type-password-enabled": False, "auth-type-device-enabled": False,
            "auth-type-refresh-enabled": True, "subject-type": "public", "name-claim": "mandatory"}})


def id_token(user, nonce):
    """By the authorization code flow, without a browser's window."""
    query = urllib.parse.urlencode({
        "response_type": "code", "client_id": "app", "redirect_uri": "http://127.0.0.1/cb", "scope": "openid app",
        "state": "s", "nonce": nonce, "g_continue": ""})
    try:
        user.open(base + "/api/oidc/auth?" + query)
        raise SystemExit("no redirect")
    except urllib.error.HTTPError as error:
        location = error.headers["Location"]
    code = urllib.parse.parse_qs(urllib.parse.urlparse(location).query)["code"][0]
    form = {"grant_type": "authorization_code", "code": code, "client_id": "app",
            "redirect_uri": "http://127.0.0.1/cb"}
    with user.open(base + "/api/oidc/token", urllib.parse.urlencode(form).encode()) as answer:
        return json.load(answer)["id_token"]


def log_in(public, token, nonce):
    body = {"provider": "glewlwyd", "id_token": token, "nonce": nonce, "device": {"id": "phone"}}
    request = urllib.request.Request(
        public + "/v1/login", data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def wait(condition):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise SystemExit("it did not start")


def listens():
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


def play(provider):
    prepare()
    user = browser()
    call(user, "POST", "/api/auth/", {"username": "ada", "password": "a password"})
    call(user, "PUT", "/api/auth/grant/app", {"scope": "openid app"})
    entry = {
        "name": "glewlwyd", "issuer": base, "discovery_uri": base + "/api/oidc/.well-known/openid-configuration",
        "allow_http_on_loopback": True, "audiences": ["app"], "algorithms": ["RS256"], "nonce": "required"}
    with open("sojourn.json5", "w") as file:
        json.dump({"identity_providers": [entry]}, file)
    server = subprocess.Popen([
        sojourn, "serve", "--config", "sojourn.json5", "--database", "sqlite:sojourn.sqlite", "--public",
        "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ready-file", "ready.json"], stderr=open("sojourn.log", "w"),
        stdout=subprocess.DEVNULL)
    try:
        wait(lambda: os.path.exists("ready.json"))
        public = json.load(open("ready.json"))["public"]
        token = id_token(user, "n1")
        print("wrong nonce", log_in(public, token, "other")[0])
        status, first = log_in(public, token, "n1")
        print("login", status, first["user"]["display_name"])
        print("again", *[part if isinstance(part, int) else part["code"] for part in log_in(public, token, "n1")])
        status, second = log_in(public, id_token(user, "n2"), "n2")
        print("next login", status, second["user"]["user_id"] == first["user"]["user_id"])
        last = id_token(user, "n3")
        provider.terminate()
        provider.wait()
        print("provider gone", log_in(public, last, "n3")[0])
    finally:
        server.terminate()
        server.wait()


database = sqlite3.connect("glewlwyd.db")
database.executescript(gzip.open(DATABASE).read().decode())
database.commit()
database.close()
with open("glewlwyd.conf", "w") as file:
    file.write(CONFIGURATION % (port, base, folder, folder))
subprocess.run(["openssl", "genrsa", "-out", "rsa.key", "2048"], check=True, stderr=subprocess.DEVNULL)
subprocess.run(
    ["openssl", "rsa", "-in", "rsa.key", "-pubout", "-out", "rsa.pub"], check=True, stderr=subprocess.DEVNULL)
provider = subprocess.Popen(
    ["glewlwyd", "--config-file=glewlwyd.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    wait(listens)
    play(provider)
finally:
    if provider.poll() is None:
        provider.terminate()
        provider.wait()
