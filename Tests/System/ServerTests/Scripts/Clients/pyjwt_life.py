"""PyJWT: an API that knows the published keys alone, through the whole life of a session. It believes good tokens, and none that
is expired, for another API or changed; it learns new keys when they sign, and forgets one that was withdrawn."""

import jwt
import requests

import stage

REQUIRED = ["exp", "iat", "iss", "aud", "sub", "client_id", "jti"]


def read(keys, token, audience=stage.PUBLIC):
    assert jwt.get_unverified_header(token)["typ"] == "at+jwt"
    key = keys.get_signing_key_from_jwt(token)
    return jwt.decode(
        token, key, algorithms=[stage.ALGORITHM], audience=audience, issuer=stage.PUBLIC, options={"require": REQUIRED}
    )


def changed(token):
    head, claims, signature = token.split(".")
    return ".".join([head, claims, signature[:10] + ("A" if signature[10] != "A" else "B") + signature[11:]])


def refresh(tokens):
    answer = stage.ask(
        "/oauth/token", {"grant_type": "refresh_token", "client_id": "pj-app", "refresh_token": tokens["refresh_token"]}
    )
    assert answer.ok, answer.text
    return answer.json()


def kid(tokens):
    return jwt.get_unverified_header(tokens["access_token"])["kid"]


def main():
    user = stage.make_user("petra")
    stage.make_client("pj-app", "none")
    stage.make_client("pj-long", "none", access_token_lifetime=3600)
    keys = jwt.PyJWKClient(stage.metadata()["jwks_uri"], cache_keys=True, cooldown_duration=0)

    tokens = stage.log_in("petra", "pj-app")
    claims = read(keys, tokens["access_token"])
    assert claims["sub"] == user and claims["client_id"] == "pj-app" and claims["sid"] == tokens["session_id"]
    assert claims["exp"] == tokens["expires_at"] and claims["device_id"] == "phone"
    stage.raises(jwt.InvalidAudienceError, lambda: read(keys, tokens["access_token"], "https://other.example"))
    stage.raises(jwt.InvalidSignatureError, lambda: read(keys, changed(tokens["access_token"])))

    stage.wait_for_expiry()
    stage.raises(jwt.ExpiredSignatureError, lambda: read(keys, tokens["access_token"]))
    second = refresh(tokens)
    claims = read(keys, second["access_token"])
    assert claims["sub"] == user and claims["sid"] == tokens["session_id"] and kid(second) == kid(tokens)

    # A new key signs at once: who has the old set in the cache asks again for the unknown kid, and the old key still counts.
    long = stage.log_in("petra", "pj-long", device="tablet")
    stage.admin("POST", "/keys/rotate", {"immediately": True})
    third = refresh(second)
    assert kid(third) != kid(second)
    for token in (third, long):
        assert read(keys, token["access_token"])["sub"] == user

    # What a key has signed that was given up is believed by nobody who asks for the keys from then on.
    stage.admin("DELETE", "/keys/" + kid(long))
    anew = jwt.PyJWKClient(stage.metadata()["jwks_uri"])
    stage.raises(jwt.PyJWKClientError, lambda: read(anew, long["access_token"]))
    assert read(anew, refresh(third)["access_token"])["sub"] == user

    # The keys cannot tell that a session is over: the server does, and it issues nothing more.
    last = refresh(third)
    assert stage.ask("/oauth/revoke", {"token": last["refresh_token"], "client_id": "pj-app"}).status_code == 200
    assert read(anew, last["access_token"])["sub"] == user
    bearer = {"Authorization": "Bearer " + last["access_token"]}
    assert stage.me(requests, headers=bearer).status_code == 401
    refused = {"grant_type": "refresh_token", "client_id": "pj-app", "refresh_token": last["refresh_token"]}
    stage.ended(stage.ask("/oauth/token", refused), "logged_out")


main()
