"""An identity provider that asks nobody, and a listener for redirects."""

import base64
import http.server
import json
import threading
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Listener:
    """Answers each request by `answer(path, form)`, a media type and a content, or a redirect; keeps the paths."""

    def __init__(self, answer):
        self.asked = []
        listener = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.reply({})

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.reply(dict(urllib.parse.parse_qsl(body)))

            def reply(self, form):
                listener.asked.append(self.path)
                kind, content = answer(self.path, form)
                self.send_response(303 if kind == "redirect" else 200)
                self.send_header("Location" if kind == "redirect" else "Content-Type",
                                 content if kind == "redirect" else kind)
                self.send_header("Content-Length", "0" if kind == "redirect" else str(len(content)))
                self.end_headers()
                if kind != "redirect":
                    self.wfile.write(content)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.port = server.server_port
        self.origin = f"http://127.0.0.1:{self.port}"


class Provider(Listener):
    """An OpenID provider whose only user is always there. Its requests are in `requests`; `error` is what it answers."""

    def __init__(self):
        super().__init__(self.answer)
        self.key, self.requests, self.error = ec.generate_private_key(ec.SECP256R1()), [], None

    def answer(self, path, form):
        url = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/authorize":
            self.requests.append(query)
            outcome = {"error": self.error} if self.error else {"code": f"c{len(self.requests)}"}
            return "redirect", query["redirect_uri"] + "?" + urllib.parse.urlencode({
                **outcome, "state": query["state"], "iss": self.origin})
        if url.path == "/keys":
            numbers = self.key.public_key().public_numbers()
            return self.json({"keys": [{
                "kty": "EC", "crv": "P-256", "kid": "k", "use": "sig", "x": encoded(numbers.x.to_bytes(32, "big")),
                "y": encoded(numbers.y.to_bytes(32, "big"))}]})
        if url.path == "/token":
            asked = self.requests[int(form["code"][1:]) - 1]
            return self.json({"access_token": "a", "token_type": "Bearer", "id_token": self.token(asked["nonce"])})
        return self.json({
            "issuer": self.origin, "jwks_uri": self.origin + "/keys", "token_endpoint": self.origin + "/token",
            "authorization_endpoint": self.origin + "/authorize",
            "authorization_response_iss_parameter_supported": True})

    def json(self, members):
        return "application/json", json.dumps(members).encode()

    def token(self, nonce):
        now = int(time.time())
        claims = {"iss": self.origin, "sub": "u1", "aud": "web", "iat": now, "exp": now + 300, "auth_time": now,
                  "nonce": nonce, "amr": ["otp"]}
        head = encoded(json.dumps({"alg": "ES256", "kid": "k", "typ": "JWT"}).encode())
        signed = f"{head}.{encoded(json.dumps(claims).encode())}"
        r, s = utils.decode_dss_signature(self.key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{encoded(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"
