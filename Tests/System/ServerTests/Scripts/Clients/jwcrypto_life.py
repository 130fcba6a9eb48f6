"""jwcrypto: a device that stores no token. Its key, which jwcrypto holds, is registered at login, and from then on resumes the
session by assertions (RFC 7523) until it ends."""

import json
import time
import uuid

import jwcrypto.jwk
import jwcrypto.jwt
import requests

import stage

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def signed(key, algorithm, **claims):
    token = jwcrypto.jwt.JWT(header={"alg": algorithm}, claims=claims)
    token.make_signed_token(key)
    return token.serialize()


def read(token, audience=stage.PUBLIC):
    known = jwcrypto.jwk.JWKSet.from_json(requests.get(stage.metadata()["jwks_uri"]).text)
    checks = {"aud": audience, "iss": stage.PUBLIC, "exp": None}
    reader = jwcrypto.jwt.JWT(algs=[stage.ALGORITHM], expected_type="JWS", check_claims=checks)
    reader.leeway = 0
    reader.deserialize(token, known)
    return json.loads(reader.claims)


class Device:
    """A device, its key and its session."""

    def __init__(self, client, key, algorithm):
        self.client, self.key, self.algorithm = client, key, algorithm
        public = {name: value for name, value in key.export_public(as_dict=True).items() if name != "kid"}
        answer = requests.post(
            stage.PUBLIC + "/v1/login",
            json={
                "username": "wanda", "password": stage.PASSWORD, "client_id": client, "device": {"id": "phone-" + algorithm},
                "device_key": public,
            },
        )
        assert answer.ok, answer.text
        self.login = answer.json()

    def assertion(self, key=None, **other):
        now = int(time.time())
        claims = {
            "iss": self.login["session_id"], "sub": self.login["user"]["user_id"], "aud": stage.PUBLIC, "iat": now, "exp": now + 60,
            "jti": uuid.uuid4().hex,
        }
        return signed(key or self.key, self.algorithm, **(claims | other))

    def resume(self, assertion=None):
        form = {"grant_type": JWT_BEARER, "client_id": self.client, "assertion": assertion or self.assertion()}
        return stage.ask("/oauth/token", form)


def life(client, user, algorithm, **kind):
    device = Device(client, jwcrypto.jwk.JWK.generate(**kind), algorithm)
    assert "refresh_token" not in device.login, "the client does not name that grant"
    first = device.login["access_token"]
    assert read(first)["sub"] == user and read(first)["sid"] == device.login["session_id"]
    stage.raises(jwcrypto.jwt.JWTInvalidClaimValue, lambda: read(first, "https://other.example"))
    stage.raises(jwcrypto.jwt.JWTMissingKey, lambda: read(first[:-8] + "AAAAAAAA"))

    stage.wait_for_expiry()
    stage.raises(jwcrypto.jwt.JWTExpired, lambda: read(first))
    used = device.assertion()
    answer = device.resume(used)
    assert answer.ok, answer.text
    second = answer.json()["access_token"]
    assert read(second)["sid"] == device.login["session_id"] and "refresh_token" not in answer.json()
    assert stage.me(requests, headers={"Authorization": "Bearer " + second}).json()["username"] == "wanda"
    for bad in (
        used, device.assertion(key=jwcrypto.jwk.JWK.generate(**kind)), device.assertion(aud="https://other.example"),
        device.assertion(exp=int(time.time()) - 60),
    ):
        refused = device.resume(bad)
        assert refused.status_code == 400 and refused.json()["error"] == "invalid_grant", refused.text
    assert device.resume().ok

    assert stage.ask("/oauth/revoke", {"token": second, "client_id": client}).status_code == 200
    assert stage.me(requests, headers={"Authorization": "Bearer " + second}).status_code == 401
    stage.ended(device.resume(), "logged_out")


def main():
    user = stage.make_user("wanda")
    stage.make_client("jwc-app", "none", grant_types=["login", JWT_BEARER])
    life("jwc-app", user, "ES256", kty="EC", crv="P-256")
    life("jwc-app", user, "EdDSA", kty="OKP", crv="Ed25519")


main()
