"""A real identity provider, glewlwyd, with one user and one client, and what their browser and their app do with it."""
import gzip, http.cookiejar, json, os, socket, sqlite3, subprocess, time
import urllib.error, urllib.parse, urllib.request

CONFIGURATION = """
port=%d
bind_address="127.0.0.1"
external_url="%s"
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


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


def browser():
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    return urllib.request.build_opener(cookies, NoRedirect())


def ask(url, body=None, bearer=None):
    """The status and the members of an answer to a form, to JSON, or to a GET without a body."""
    if isinstance(body, str):
        content = body.encode(), {"Content-Type": "application/x-www-form-urlencoded"}
    else:
        content = body and json.dumps(body).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(url, *content)
    if bearer:
        request.add_header("Authorization", "Bearer " + bearer)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def wait(condition, state=lambda: ""):
    """Waits for a condition, for half a minute. The error, which is printed, says in which state it was met last."""
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    print("waited in vain:", state())
    raise SystemExit(1)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Glewlwyd:
    """Runs in the present folder, until the block ends or it is stopped; its user `ada` has logged in there."""

    def __init__(self, port=None):
        """Without a port it takes a free one, and another one if that was taken meanwhile."""
        self.moves = port is None
        self.port = port or free_port()

    def __enter__(self):
        database = sqlite3.connect("glewlwyd.db")
        database.executescript(gzip.open(DATABASE).read().decode())
        database.commit()
        database.close()
        for command in ["genrsa -out rsa.key 2048", "rsa -in rsa.key -pubout -out rsa.pub"]:
            subprocess.run(["openssl", *command.split()], check=True, stderr=subprocess.DEVNULL)
        self.start()
        try:
            wait(self.answers, lambda: f"glewlwyd: {self.process.poll()}, port {self.port}, {self.log()}")
            self.prepare()
            self.user = browser()
            self.call(self.user, "POST", "/api/auth/", {"username": "ada", "password": "a password"})
            self.call(self.user, "PUT", "/api/auth/grant/app", {"scope": "openid app"})
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *error):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        folder = os.getcwd()
        with open("glewlwyd.conf", "w") as file:
            file.write(CONFIGURATION % (self.port, self.url, folder, folder))
        self.process = subprocess.Popen(
            ["glewlwyd", "--config-file=glewlwyd.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def log(self):
        return open("glewlwyd.log").read() if os.path.exists("glewlwyd.log") else "no log"

    def answers(self):
        """Another program may hold the port for a moment, and then glewlwyd ends: it is started again."""
        if self.process.poll() is not None:
            if self.moves:
                self.port = free_port()
            self.start()
        return self.listens()

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except OSError:
            return False

    def call(self, who, method, path, body=None):
        request = urllib.request.Request(
            self.url + path, data=body and json.dumps(body).encode(), method=method,
            headers={"Content-Type": "application/json"})
        with who.open(request) as answer:
            return answer.read()

    def prepare(self):
        """An administrator makes a scope, a user, a public client, and a provider that signs with RSA."""
        admin = browser()
        self.call(admin, "POST", "/api/auth/", {"username": "admin", "password": "password"})
        self.call(admin, "POST", "/api/scope/", {
            "name": "app", "display_name": "app", "description": "app", "password_required": False, "scheme": {}})
        self.call(admin, "POST", "/api/user/?source=database", {
            "username": "ada", "name": "Ada L", "password": "a password", "email": "ada@example.org", "enabled": True,
            "scope": ["app", "openid"]})
        self.call(admin, "POST", "/api/client/?source=database", {
            "client_id": "app", "name": "app", "enabled": True, "confidential": False,
            "redirect_uri": ["http://127.0.0.1/cb"], "authorization_type": ["code", "refresh_token"], "scope": [],
            "token_endpoint_auth_method": ["none"]})
        self.call(admin, "POST", "/api/mod/plugin/", {
            "module": "oidc", "name": "oidc", "display_name": "OIDC", "order_rank": 0, "readonly": False, "parameters": {
                "iss": self.url, "jwt-type": "rsa", "jwt-key-size": "256", "key": open("rsa.key").read(),
                "cert": open("rsa.pub").read(), "access-token-duration": 600, "refresh-token-duration": 600,
                "code-duration": 600, "refresh-token-rolling": True, "refresh-token-one-use": "always", "allow-non-oidc": True,
                "auth-type-client-enabled": False, "auth-type-code-enabled": True, "auth-type-token-enabled": False,
                "auth-type-id-token-enabled": True, "auth-type-none-enabled": False,
                "auth-type-password-enabled": False, "auth-type-device-enabled": False,
                "auth-type-refresh-enabled": True, "subject-type": "public", "name-claim": "mandatory"}})

    def tokens(self, nonce):
        """By the authorization code flow, without a browser's window."""
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": "app", "redirect_uri": "http://127.0.0.1/cb", "scope": "openid app",
            "state": "s", "nonce": nonce, "g_continue": ""})
        try:
            self.user.open(self.url + "/api/oidc/auth?" + query)
            raise SystemExit("no redirect")
        except urllib.error.HTTPError as error:
            location = error.headers["Location"]
        code = urllib.parse.parse_qs(urllib.parse.urlparse(location).query)["code"][0]
        form = {"grant_type": "authorization_code", "code": code, "client_id": "app",
                "redirect_uri": "http://127.0.0.1/cb"}
        with self.user.open(self.url + "/api/oidc/token", urllib.parse.urlencode(form).encode()) as answer:
            return json.load(answer)

    def revoke_all(self):
        """The user takes back every refresh token that is still good. Returns how many there were."""
        path = "/api/oidc/token"
        tokens = json.loads(self.call(self.user, "GET", path + "?offset=0&limit=100"))
        good = [token["token_hash"] for token in tokens if token["enabled"]]
        for name in good:
            self.call(self.user, "DELETE", path + "/" + urllib.parse.quote(name, safe=""))
        return len(good)
