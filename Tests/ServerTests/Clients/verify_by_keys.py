"""PyJWT's JWKS client, joserfc and jwcrypto verify access tokens by the published keys: good ones, an expired one, one for
another audience, one that was changed, and those that a new key has signed."""

import json

import jwcrypto.jwk

import jwcrypto.jwt
import jwt
import requests
from joserfc import jwt as jose
from joserfc.errors import BadSignatureError, ExpiredTokenError, InvalidClaimError
from joserfc.jwk import KeySet

import stage

REQUIRED = ["exp", "iat", "iss", "aud", "sub", "client_id", "jti"]


def by_pyjwt(keys, token, audience):
    key = keys.get_signing_key_from_jwt(token)
    assert jwt.get_unverified_header(token)["typ"] == "at+jwt"
    return jwt.decode(
        token, key, algorithms=[stage.ALGORITHM], audience=audience, issuer=stage.PUBLIC, options={"require": REQUIRED}
    )


def by_joserfc(keys, token, audience):
    decoded = jose.decode(token, KeySet.import_key_set(requests.get(keys).json()), algorithms=[stage.ALGORITHM])
    demanded = {name: {"essential": True} for name in REQUIRED}
    demanded["aud"]["value"] = audience
    demanded["iss"]["value"] = stage.PUBLIC
    jose.JWTClaimsRegistry(**demanded).validate(decoded.claims)
    return decoded.claims


def by_jwcrypto(keys, token, audience):
    known = jwcrypto.jwk.JWKSet.from_json(requests.get(keys).text)
    read = jwcrypto.jwt.JWT(algs=[stage.ALGORITHM], expected_type="JWS", check_claims={"aud": audience, "iss": stage.PUBLIC, "exp": None})
    read.leeway = 0
    read.deserialize(token, known)
    return json.loads(read.claims)


def main():
    user = stage.make_user("vera")
    stage.make_client("vk-app", "none")
    stage.make_client("vk-long", "none", access_token_lifetime=3600)
    known = stage.metadata()
    pyjwt_keys = jwt.PyJWKClient(known["jwks_uri"], cache_keys=True, cooldown_duration=0)
    verifiers = [
        (by_pyjwt, pyjwt_keys, jwt.ExpiredSignatureError, jwt.InvalidAudienceError, jwt.InvalidSignatureError),
        (by_joserfc, known["jwks_uri"], ExpiredTokenError, InvalidClaimError, BadSignatureError),
        (by_jwcrypto, known["jwks_uri"], jwcrypto.jwt.JWTExpired, jwcrypto.jwt.JWTInvalidClaimValue, jwcrypto.jwt.JWTMissingKey),
    ]
    tokens = stage.log_in("vera", "vk-long")
    short = stage.log_in("vera", "vk-app", device="tablet")["access_token"]
    token = tokens["access_token"]
    head, claims, signature = token.split(".")
    changed = ".".join([head, claims, signature[:10] + ("A" if signature[10] != "A" else "B") + signature[11:]])
    stage.wait_for_expiry()
    for verify, keys, expired, stranger, forged in verifiers:
        read = verify(keys, token, stage.PUBLIC)
        assert read["sub"] == user and read["client_id"] == "vk-long" and read["sid"] == tokens["session_id"]
        assert read["exp"] == tokens["expires_at"] and read["device_id"] == "phone"
        stage.raises(expired, lambda: verify(keys, short, stage.PUBLIC))
        stage.raises(stranger, lambda: verify(keys, token, "https://other.example"))
        stage.raises(forged, lambda: verify(keys, changed, stage.PUBLIC))

    # A new key signs at once, and a client that has the old set in its cache asks again for the unknown kid.
    before = jwt.get_unverified_header(token)["kid"]
    stage.admin("POST", "/keys/rotate", {"immediately": True})
    rotated = stage.log_in("vera", "vk-long")["access_token"]
    assert jwt.get_unverified_header(rotated)["kid"] != before
    for verify, keys, *_ in verifiers:
        assert verify(keys, rotated, stage.PUBLIC)["sub"] == user
        assert verify(keys, token, stage.PUBLIC)["sub"] == user


main()
