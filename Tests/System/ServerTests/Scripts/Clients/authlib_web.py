"""Authlib as a web application: code, PKCE, `iss`, the ID token verified by the published keys, userinfo, refresh and logout."""

from urllib.parse import parse_qs, urlsplit

from authlib.integrations.requests_client import OAuth2Session
from authlib.common.security import generate_token
from joserfc import jwt
from joserfc.jwk import KeySet
import requests

import stage
from browser import Browser, web_client

REDIRECT = "http://127.0.0.1:1/callback"


def life(name, secret, known, algorithm):
    client = OAuth2Session(
        name, secret, scope="openid email", redirect_uri=REDIRECT, code_challenge_method="S256",
        token_endpoint=known["token_endpoint"],
    )
    verifier, nonce = generate_token(48), generate_token()
    url, state = client.create_authorization_url(known["authorization_endpoint"], code_verifier=verifier, nonce=nonce)
    location = Browser().code_for(url, "walter")
    assert location.startswith(REDIRECT + "?")
    answer = {key: value[0] for key, value in parse_qs(urlsplit(location).query).items()}
    assert answer["iss"] == known["issuer"] and answer["state"] == state
    token = client.fetch_token(authorization_response=location, state=state, code_verifier=verifier)
    keys = KeySet.import_key_set(requests.get(known["jwks_uri"]).json())
    read = jwt.decode(token["id_token"], keys, algorithms=[algorithm])
    claims = read.claims
    jwt.JWTClaimsRegistry(iss={"essential": True, "value": known["issuer"]}, aud={"essential": True, "value": name}).validate(claims)
    assert claims["nonce"] == nonce and claims["sid"] == token["session_id"] and claims["acr"] == "password", claims
    assert client.get(known["userinfo_endpoint"]).json()["email"] == "walter@example.org"
    fresh = client.refresh_token(known["token_endpoint"])
    stage.admin("DELETE", "/sessions/" + claims["sid"])
    assert client.get(known["userinfo_endpoint"]).status_code == 401
    refused = stage.ask(
        "/oauth/token", {"grant_type": "refresh_token", "refresh_token": fresh["refresh_token"]}, auth=(name, secret))
    stage.ended(refused, "revoked_by_admin")


def main():
    stage.make_user("walter")
    own = web_client("aw-own", redirect_uris=[REDIRECT])
    rsa = web_client("aw-rsa", redirect_uris=[REDIRECT], id_token_signed_response_alg="RS256")
    known = stage.metadata()
    assert known["backchannel_logout_supported"] and known["backchannel_logout_session_supported"]
    assert set(known["id_token_signing_alg_values_supported"]) == {stage.ALGORITHM, "RS256"}
    life("aw-own", own, known, stage.ALGORITHM)
    life("aw-rsa", rsa, known, "RS256")


main()
