"""Calls a real server from pages of other origins in Chromium: `cors.py SOJOURN`, the program.

Each function is a rule; its name and docstring say which. The pages stand on ports of their own, so that each is another origin."""

import http.server
import os
import sys
import tempfile
import threading

from chromium import Browser
from rules import play_rules, rules_of
from served import Server

PASSWORD = "correct horse battery"

# What the pages have: calls, their answers as a page sees them, and proofs of a key that no script can export.
SCRIPT = """
async function call(path, body, headers = {}, more = {}) {
  const isForm = body instanceof URLSearchParams
  const type = body && !isForm ? {"Content-Type": "application/json"} : {}
  try {
    const answer = await fetch(api + path, {
      method: body ? "POST" : "GET", body: body && !isForm ? JSON.stringify(body) : body, headers: {...type, ...headers},
      ...more})
    const names = ["DPoP-Nonce", "Retry-After", "Date", "X-Request-Id", "WWW-Authenticate", "ETag"]
    const text = await answer.text()
    const fields = Object.fromEntries(names.map(name => [name, answer.headers.get(name)]))
    return {status: answer.status, fields, body: text && text[0] === "{" ? JSON.parse(text) : text}
  } catch (error) { return {error: error.name} }
}
const text = value => new TextEncoder().encode(value)
const base64url = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes)))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
const json = value => base64url(text(JSON.stringify(value)))
let pair
async function proof(path, more = {}, age = 0) {
  pair ??= await crypto.subtle.generateKey({name: "ECDSA", namedCurve: "P-256"}, false, ["sign", "verify"])
  const {kty, crv, x, y} = await crypto.subtle.exportKey("jwk", pair.publicKey)
  const head = json({typ: "dpop+jwt", alg: "ES256", jwk: {kty, crv, x, y}})
  const claims = json({
    jti: crypto.randomUUID(), htm: "POST", htu: api + path, iat: Math.floor(Date.now() / 1000) - age, ...more})
  const signature = await crypto.subtle.sign({name: "ECDSA", hash: "SHA-256"}, pair.privateKey, text(`${head}.${claims}`))
  return {DPoP: `${head}.${claims}.${base64url(signature)}`}
}
function framed(path, body) {
  return new Promise(done => {
    const frame = document.createElement("iframe")
    frame.sandbox = "allow-scripts"
    frame.srcdoc = `<script>const api = ${JSON.stringify(api)};${call};
      call(${JSON.stringify(path)}, ${JSON.stringify(body)}).then(answer => parent.postMessage(answer, "*"))<` + "/script>"
    addEventListener("message", event => done({...event.data, origin: event.origin}), {once: true})
    document.body.append(frame)
  })
}
"""


class Page:
    """A page of an origin of its own. `/away` leads to the address in `target`, for every origin."""

    def __init__(self):
        page = self
        self.target = ""

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if self.path == "/away":
                    self.send_response(307)
                    self.send_header("Location", page.target)
                    self.send_header("Access-Control-Allow-Origin", "*")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                body = f"<!doctype html><title>page</title><body><script>const api = '{server.public}'\n{SCRIPT}</script>".encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        listener.daemon_threads = True
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        self.origin = f"http://localhost:{listener.server_port}"

    def run(self, script):
        """The value of an asynchronous script in the page."""
        if not driver.current_url.startswith(self.origin + "/"):
            driver.get(self.origin + "/")
        done = "arguments[arguments.length - 1]"
        answer = driver.execute_async_script(f"const done = {done}; (async () => {{ {script} }})().then(done, e => done(String(e)))")
        assert isinstance(answer, dict), answer
        return answer


folder = tempfile.TemporaryDirectory()
server = Server(
    os.path.abspath(sys.argv[1]), folder.name, settings={"SOJOURN_LIMITS_WRONG_PASSWORDS_PER_ADDRESS_PER_MINUTE": "1"})
browser = Browser()
driver = browser.driver
own, other, unknown = Page(), Page(), Page()
tokens = {}
LOGIN = "{username: 'anna', password: '%s', client_id: 'shop-web', device: {id: '%s'}}"


def log_in(page, device="page-1", headers="{}", more="{}"):
    return page.run(f"return call('/v1/login', {LOGIN % (PASSWORD, device)}, {headers}, {more})")


def is_hidden(answer):
    return answer == {"error": "TypeError"}


def a_page_logs_in():
    """The page of the client's own origin logs in with a password, and reads its tokens and the fields that it needs."""
    answer = log_in(own)
    assert answer["status"] == 200, answer
    assert answer["fields"]["Date"] and answer["fields"]["X-Request-Id"], answer
    tokens.update(answer["body"])


def a_page_reads_its_user():
    """A call with an access token, a preflight before it, and a 401 with its challenge."""
    bearer = "{Authorization: 'Bearer %s'}"
    answer = own.run(f"return call('/v1/me', null, {bearer % tokens['access_token']})")
    assert answer["status"] == 200 and answer["body"]["username"] == "anna", answer
    refused = own.run(f"return call('/v1/me', null, {bearer % 'wrong'})")
    assert refused["status"] == 401 and "Bearer" in refused["fields"]["WWW-Authenticate"], refused


def monitoring_may_add_its_fields():
    """The three fields of W3C pass, and any other one does not."""
    allowed = own.run("return call('/oauth/jwks', null, {baggage: 'a=b', traceparent: '00-1', tracestate: 'a=b'})")
    assert allowed["status"] == 200 and allowed["body"]["keys"], allowed
    assert log_in(own, "page-2", "{baggage: 'a=b', traceparent: '00-1'}")["status"] == 200
    assert is_hidden(log_in(own, "page-2", "{'X-Own': 'a'}"))


def a_renewal_reads_the_nonce():
    """A proof that is too old is refused with a nonce, which the page reads and puts into the next proof."""
    answer = own.run(f"""
      const login = await call('/v1/login', {LOGIN % (PASSWORD, 'page-3')}, await proof('/v1/login'))
      const body = {{refresh_token: login.body.refresh_token}}
      const old = await call('/v1/refresh', body, await proof('/v1/refresh', {{}}, 86400))
      const nonce = old.fields['DPoP-Nonce']
      const renewed = await call('/v1/refresh', body, await proof('/v1/refresh', {{nonce}}, 86400))
      return {{login: login.status, old, renewed}}""")
    assert answer["login"] == 200, answer
    assert answer["old"]["body"]["code"] == "use_dpop_nonce" and answer["old"]["fields"]["DPoP-Nonce"], answer
    assert answer["renewed"]["status"] == 200, answer


def other_pages_are_refused():
    """Pages of another client, and of none, read nothing and start no session; a form without a preflight spends no token."""
    form = f"new URLSearchParams({{grant_type: 'refresh_token', refresh_token: '{tokens['refresh_token']}'}})"
    for page in (other, unknown):
        assert is_hidden(log_in(page, "page-foreign")), page.origin
        assert is_hidden(page.run(f"return call('/oauth/token', {form})")), page.origin
    devices = str(server.call(server.public + "/v1/me/devices", bearer=tokens["access_token"]))
    assert "page-1" in devices and "page-foreign" not in devices, devices
    renewed = own.run(f"return call('/oauth/token', {form})")
    assert renewed["status"] == 200, renewed
    tokens.update(renewed["body"])


def a_sandboxed_frame_is_refused():
    """Its origin is `null`, also on the page of the client."""
    answer = own.run("return framed('/v1/login', %s)" % (LOGIN % (PASSWORD, "page-frame")))
    assert answer == {"error": "TypeError", "origin": "null"}, answer


def a_page_sends_no_cookies():
    """A call with credentials is not answered for the page."""
    assert is_hidden(log_in(own, "page-4", more="{credentials: 'include'}"))


def a_redirect_hides_the_page():
    """A redirect of another origin makes the origin `null`; one of the page's own origin keeps it."""
    own.target = other.target = f"{server.public}/oauth/device_authorization"
    form = "new URLSearchParams({client_id: 'shop-web'})"
    away = own.run(f"return call('', null, {{}}, {{}}) && fetch('{other.origin}/away').then(a => ({{status: a.status}}), e => ({{error: e.name}}))")
    assert is_hidden(away), away
    page = own.run("const a = await fetch(api + '/account', {redirect: 'manual'}).catch(e => e); return {kind: a.type ?? a.name}")
    assert page["kind"] in ("opaqueredirect", "TypeError"), page
    assert own.run(f"return call('/oauth/device_authorization', {form})")["status"] == 400


def public_documents_are_for_every_page():
    """Metadata and keys are read from an origin that no client has; pages, health and decisions for proxies are not."""
    for path in ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/oauth/jwks", "/openapi.json"):
        assert unknown.run(f"return call('{path}')")["status"] == 200, path
    for path in ("/healthz", "/login", "/v1/verify", "/oauth/authorize"):
        assert is_hidden(own.run(f"return call('{path}')")), path


def a_new_origin_is_known_at_once():
    """The admin adds an origin, and its page logs in; after the removal it is refused, whatever preflight is kept."""
    server.admin("/clients/shop-web", {"allowed_origins": [own.origin, unknown.origin]}, "PATCH")
    assert log_in(unknown, "page-5")["status"] == 200
    server.admin("/clients/shop-web", {"allowed_origins": [own.origin]}, "PATCH")
    assert is_hidden(log_in(unknown, "page-5"))


def too_many_attempts_say_when():
    """The answer 429 and its Retry-After are read."""
    answer = own.run(f"""
      let answer
      for (let i = 0; i < 5 && answer?.status !== 429; i++) answer = await call('/v1/login', {LOGIN % ('wrong', 'page-6')})
      return answer""")
    assert answer["status"] == 429 and int(answer["fields"]["Retry-After"]) > 0, answer


def main():
    server.admin("/users", {"username": "anna", "password": PASSWORD})
    server.admin("/clients", {
        "client_id": "shop-web", "grant_types": ["login", "refresh_token"], "scope": "account",
        "allowed_origins": [own.origin]})
    server.admin("/clients", {
        "client_id": "other-web", "grant_types": ["login", "refresh_token"], "allowed_origins": [other.origin]})
    driver.set_script_timeout(60)
    return play_rules(rules_of(globals()), failed=lambda rule: driver.current_url)


try:
    sys.exit(1 if main() else 0)
finally:
    driver.quit()
    server.process.terminate()
    server.process.wait()
    folder.cleanup()
