"""What schemathesis sends as credentials: the admin key, the secret of a client, and a token whose session lives, however
many it has ended: as Bearer, or bound to a key with a proof of possession."""

import base64
import hashlib
import itertools
import json
import os
import time
import uuid
import zlib

import jwcrypto.jwk
import jwcrypto.jwt
import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation

import stage


class Living:
    """Tokens of anna's, made anew when those before have come to their end."""

    def __init__(self, device, **binding):
        self.device, self.binding = device, binding
        self.tokens = {"access_token": "", "refresh_token": ""}

    def now(self):
        # By the refresh token: whether it would be taken, which spends nothing.
        asked = {"token": self.tokens["refresh_token"], "token_type_hint": "refresh_token"}
        secret = ("backend", os.environ["BACKEND_SECRET"])
        answer = requests.post(stage.PUBLIC + "/oauth/introspect", data=asked, auth=secret)
        if not (self.tokens["refresh_token"] and answer.ok and answer.json()["active"]):
            stage.admin("POST", "/users/username:anna/enable", {"include_own_switch": True})
            self.tokens = stage.admin("POST", "/users/username:anna/sessions", {"device": {"id": self.device}} | self.binding)
        return self.tokens


KEY = jwcrypto.jwk.JWK.generate(kty="EC", crv="P-256")
FREE = Living("phone-1")
KNOWN = {"username": "anna"} | dict.fromkeys(["password", "old_password", "new_password"], stage.PASSWORD)
TURNS = itertools.count()
BOUND = Living("phone-2", dpop_jkt=KEY.thumbprint())


def proof(case, token=None):
    """A good proof for the request of the case."""
    claims = {"jti": uuid.uuid4().hex, "htm": case.method.upper(), "htu": stage.PUBLIC + case.formatted_path, "iat": int(time.time())}
    if token:
        claims["ath"] = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).decode().rstrip("=")
    made = jwcrypto.jwt.JWT(header={"typ": "dpop+jwt", "alg": "ES256", "jwk": KEY.export_public(as_dict=True)}, claims=claims)
    made.make_signed_token(KEY)
    return made.serialize()


def field(case, name):
    """The name and the value of a field of the case, whatever its case."""
    return next(((key, value) for key, value in (case.headers or {}).items() if key.lower() == name), (None, None))


def lot(case, sides):
    """A number below `sides`, the same for the same case in every run."""
    content = case.body if isinstance(case.body, (dict, list, str)) else ""
    text = json.dumps([case.method, case.path, str(case.query), str(case.headers), content], sort_keys=True, default=str)
    return zlib.crc32(text.encode()) % sides


def proves(case):
    """The name of the field `DPoP` of the case, if it has one that may hold a good proof: two of three that are strings, where
    schemathesis did not mean to send a bad one. Nobody could guess one."""
    name, _ = field(case, "dpop")
    headers = case.meta and case.meta.components.get(ParameterLocation.HEADER)
    return name if name and lot(case, 3) and not (headers and headers.mode.is_negative) else None


def enlivened(case, name):
    """The body of the case, in which what nobody can guess is what it has to be: the document's example of a refresh token
    always, and every other time user, password and the token for a new one."""
    body = dict(case.body)
    if str(body.get("refresh_token", "")).startswith("sjr_"):
        body["refresh_token"] = (BOUND if name else FREE).now()["refresh_token"]
    # A time that is none stays. Another time than now is answered 503 `stale_request`, which is no error of the server.
    sent_at = body.get("sent_at")
    if isinstance(sent_at, int) and not isinstance(sent_at, bool) and 0 <= sent_at <= 253402300799:
        body["sent_at"] = int(time.time())
    if lot(case, 2):
        for member, value in KNOWN.items():
            if isinstance(body.get(member), str):
                body[member] = value
        if isinstance(body.get("reset_token"), str):
            answer = requests.post(
                stage.ADMIN + "/admin/v1/users/username:anna/password-reset",
                headers={"Authorization": "Bearer " + os.environ["SOJOURN_KEY"]})
            body["reset_token"] = answer.json().get("reset_token", body["reset_token"])
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    # A long poll would be waited for.
    if "wait" in (case.query or {}) and str(case.query["wait"]).isdigit():
        case.query["wait"] = 0
    name = proves(case)
    if name and not field(case, "authorization")[0]:
        case.headers[name] = proof(case)
    if isinstance(case.body, dict) and not case.path.startswith("/admin/"):
        case.body = enlivened(case, name)


@schemathesis.auth(refresh_interval=None).apply_to(path_regex="^/v1/(me|verify)")
class User:
    """By the scheme that goes with the proof, good or bad, or by the one without; and now and then by none that can be read."""

    def get(self, case, context):
        if not field(case, "dpop")[0]:
            token = FREE.now()["access_token"]
            return {"Authorization": "Bearer " + token + (" " + token if next(TURNS) % 16 == 0 else "")}
        token = BOUND.now()["access_token"]
        name = proves(case)
        return {"Authorization": "DPoP " + token} | ({name: proof(case, token)} if name else {})

    def set(self, case, data, context):
        case.headers = dict(case.headers or {}, **data)


@schemathesis.auth(refresh_interval=None).apply_to(path_regex="^/oauth/(introspect|revoke)")
class Backend:
    """The client `backend`; the secret was made when the attack began."""

    def get(self, case, context):
        return base64.b64encode(f"backend:{os.environ['BACKEND_SECRET']}".encode()).decode()

    def set(self, case, data, context):
        case.headers = dict(case.headers or {}, Authorization="Basic " + data)


@schemathesis.auth(refresh_interval=None).apply_to(path_regex="^/admin/")
class Admin:
    """The key, and now and then something that cannot be one."""

    def get(self, case, context):
        return "Bearer " + os.environ["SOJOURN_KEY"] + (" x" if next(TURNS) % 16 == 0 else "")

    def set(self, case, data, context):
        case.headers = dict(case.headers or {}, Authorization=data)
