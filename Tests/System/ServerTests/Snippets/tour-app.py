import base64, hashlib, http.server, json, jwt, secrets, sys, urllib.parse, urllib.request

issuer, client, here = sys.argv[1], "tour", "http://127.0.0.1:9000"
server = json.load(urllib.request.urlopen(issuer + "/.well-known/openid-configuration"))
keys = jwt.PyJWKClient(server["jwks_uri"])
begun, stays = {}, {}                       # logins by state: verifier, nonce; by cookie: session at the server, name

def claims(token):                          # of an ID token or a logout token
    return jwt.decode(token, keys.get_signing_key_from_jwt(token), algorithms=["ES256"], issuer=issuer, audience=client)

class App(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        cookies = dict(pair.strip().split("=", 1) for pair in self.headers.get("Cookie", "").split(";") if "=" in pair)
        if path == "/login":
            state, verifier, nonce = (secrets.token_urlsafe(32) for _ in range(3))
            begun[state] = verifier, nonce
            challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
            self.answer(303, "", server["authorization_endpoint"] + "?" + urllib.parse.urlencode({
                "response_type": "code", "client_id": client, "redirect_uri": here + "/callback", "state": state, "nonce": nonce,
                "scope": "openid profile", "code_challenge": challenge, "code_challenge_method": "S256"}), "begun=" + state)
        elif path == "/callback":
            verifier, nonce = begun.pop(query.get("state"), (None, None))
            if not verifier or cookies.get("begun") != query["state"] or query.get("iss") != issuer or "code" not in query:
                return self.answer(400, "No login of this browser has come back. <a href=/login>Sign in</a>")
            form = {"grant_type": "authorization_code", "code": query["code"], "client_id": client,
                    "redirect_uri": here + "/callback", "code_verifier": verifier}
            told = claims(json.load(urllib.request.urlopen(server["token_endpoint"], urllib.parse.urlencode(form).encode()))["id_token"])
            if told["nonce"] != nonce: return self.answer(400, "That is the token of another login.")
            stay = secrets.token_urlsafe(32)
            stays[stay] = told["sid"], told["preferred_username"]
            self.answer(303, "", here + "/", "stay=" + stay)
        elif cookies.get("stay") in stays:
            self.answer(200, "<h1>You are in</h1><p>as " + stays[cookies["stay"]][1])
        else:
            self.answer(200, "<h1>You are out</h1><p><a href=/login>Sign in</a>")

    def do_POST(self):                      # the back channel: a session has ended
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        told = claims(form["logout_token"])
        for stay in [stay for stay, (sid, _) in stays.items() if sid == told["sid"]]: del stays[stay]
        self.answer(200, "")

    def answer(self, status, text, location=None, cookie=None):
        self.send_response(status)
        if location: self.send_header("Location", location)
        if cookie: self.send_header("Set-Cookie", cookie + "; HttpOnly; SameSite=Lax; Path=/")
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(text.encode())

http.server.ThreadingHTTPServer(("127.0.0.1", 9000), App).serve_forever()
