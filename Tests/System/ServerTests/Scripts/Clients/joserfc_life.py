"""joserfc: a client that proves itself by assertions (`private_key_jwt`, RFC 7523) and its tokens by DPoP proofs with nonces (RFC
9449), each by a key that joserfc made, through the whole life of a session."""

import base64
import hashlib
import time
import uuid

import requests
from joserfc import jwt
from joserfc.errors import BadSignatureError, ExpiredTokenError, InvalidClaimError
from joserfc.jwk import ECKey, KeySet, OKPKey

import stage

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Client:
    """A client with a key for itself and one for its tokens."""

    def __init__(self, name, own, proving):
        self.name, self.own, self.proving = name, own, proving
        self.nonce = None

    def sign(self, header, claims, key):
        algorithm = "ES256" if isinstance(key, ECKey) else "EdDSA"
        return jwt.encode(header | {"alg": algorithm}, claims, key, algorithms=[algorithm])

    def assertion(self):
        now = int(time.time())
        claims = {"iss": self.name, "sub": self.name, "aud": stage.PUBLIC, "iat": now, "exp": now + 60, "jti": uuid.uuid4().hex}
        signed = self.sign({"kid": self.own.kid}, claims, self.own)
        return {"client_assertion_type": ASSERTION, "client_assertion": signed}

    def proof(self, method, path, token=None):
        claims = {"jti": uuid.uuid4().hex, "htm": method, "htu": stage.PUBLIC + path, "iat": int(time.time())}
        if self.nonce:
            claims["nonce"] = self.nonce
        if token:
            digest = hashlib.sha256(token.encode()).digest()
            claims["ath"] = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        public = {name: value for name, value in self.proving.as_dict(private=False).items() if name in ("kty", "crv", "x", "y")}
        return {"DPoP": self.sign({"typ": "dpop+jwt", "jwk": public}, claims, self.proving)}

    def proven(self, send):
        """Sends with a proof, and once more when the server asks for a nonce."""
        answer = send()
        if "use_dpop_nonce" in answer.text:
            self.nonce = answer.headers["DPoP-Nonce"]
            answer = send()
        return answer

    def token(self, **form):
        return self.proven(
            lambda: stage.ask("/oauth/token", form | self.assertion(), headers=self.proof("POST", "/oauth/token")))

    def me(self, token):
        return self.proven(
            lambda: stage.me(requests, headers=self.proof("GET", "/v1/me", token) | {"Authorization": "DPoP " + token}))


def read(token, audience=stage.PUBLIC):
    keys = KeySet.import_key_set(requests.get(stage.metadata()["jwks_uri"]).json())
    decoded = jwt.decode(token, keys, algorithms=[stage.ALGORITHM])
    demanded = {name: {"essential": True} for name in ["exp", "iat", "iss", "aud", "sub", "client_id", "jti"]}
    demanded["aud"]["value"] = audience
    demanded["iss"]["value"] = stage.PUBLIC
    jwt.JWTClaimsRegistry(**demanded).validate(decoded.claims)
    return decoded.claims


def life(client, user):
    answer = client.token(grant_type="password", username="jo", password=stage.PASSWORD)
    assert answer.ok, answer.text
    first = answer.json()
    assert first["token_type"] == "DPoP" and client.nonce
    claims = read(first["access_token"])
    assert claims["sub"] == user and claims["client_id"] == client.name
    assert claims["cnf"]["jkt"] == client.proving.thumbprint()
    stage.raises(InvalidClaimError, lambda: read(first["access_token"], "https://other.example"))
    stage.raises(BadSignatureError, lambda: read(first["access_token"][:-8] + "AAAAAAAA"))
    assert client.me(first["access_token"]).json()["username"] == "jo"
    assert stage.me(requests, headers={"Authorization": "Bearer " + first["access_token"]}).status_code == 401

    stage.wait_for_expiry()
    stage.raises(ExpiredTokenError, lambda: read(first["access_token"]))
    refused = client.me(first["access_token"])
    assert refused.status_code == 401 and "invalid_token" in refused.headers["WWW-Authenticate"], refused.headers
    thief = Client(client.name, client.own, ECKey.generate_key("P-256"))
    stage.ended(thief.token(grant_type="refresh_token", refresh_token=first["refresh_token"]), "binding_mismatch")
    answer = client.token(grant_type="refresh_token", refresh_token=first["refresh_token"])
    assert answer.ok, answer.text
    second = answer.json()
    assert second["refresh_token"] != first["refresh_token"] and client.me(second["access_token"]).ok

    # An assertion is good once, and for this client alone.
    used = client.assertion()
    told = stage.ask("/oauth/introspect", {"token": second["access_token"]} | used)
    assert told.json()["active"] and told.json()["cnf"]["jkt"] == client.proving.thumbprint(), told.text
    again = stage.ask("/oauth/introspect", {"token": second["access_token"]} | used)
    assert again.status_code == 401 and again.json()["error"] == "invalid_client"
    stranger = Client(client.name, ECKey.generate_key("P-256", auto_kid=True), client.proving)
    assert stranger.token(grant_type="refresh_token", refresh_token=second["refresh_token"]).json()["error"] == "invalid_client"

    assert stage.ask("/oauth/revoke", {"token": second["refresh_token"]} | client.assertion()).status_code == 200
    assert client.me(second["access_token"]).status_code == 401
    stage.ended(client.token(grant_type="refresh_token", refresh_token=second["refresh_token"]), "logged_out")


def main():
    user = stage.make_user("jo")
    kinds = [lambda: ECKey.generate_key("P-256", auto_kid=True), lambda: OKPKey.generate_key("Ed25519", auto_kid=True)]
    for number, kind in enumerate(kinds):
        client = Client(f"jose-{number}", kind(), kind())
        keys = {"keys": [client.own.as_dict(private=False)]}
        stage.make_client(client.name, "private_key_jwt", jwks=keys, dpop="required")
        life(client, user)


main()
