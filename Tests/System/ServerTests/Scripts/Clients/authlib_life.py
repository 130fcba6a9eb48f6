"""Authlib, over requests and over httpx: discovery, password grant, calls, refresh over an expiry by itself with its own
token store, introspection, revocation, and private_key_jwt."""

from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client as HTTPXClient
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc.jwk import ECKey

import stage


def life(make, asker, known, name):
    """One session from its start to its end; `make` gives a client of the library with the arguments that it gets."""
    stored = []

    def update_token(token, refresh_token=None, access_token=None):
        stored.append((token, refresh_token))

    client = make(update_token=update_token, leeway=0)
    token = client.fetch_token(known["token_endpoint"], username=name, password=stage.PASSWORD, grant_type="password")
    assert token["token_type"] == "Bearer" and token["scope"] == stage.SCOPE
    assert stage.me(client).json()["username"] == name

    # The library sees that the token has ended, refreshes, stores what it got, and only then calls.
    stage.wait_for_expiry()
    assert client.token.is_expired()
    assert stage.me(client).status_code == 200
    (fresh, presented), = stored
    assert presented == token["refresh_token"] != fresh["refresh_token"]
    assert fresh["access_token"] != token["access_token"]

    # A second process with the tokens of the store goes on where the first one was.
    other = make(token=dict(fresh), leeway=0)
    assert stage.me(other).status_code == 200
    later = other.refresh_token(known["token_endpoint"], refresh_token=fresh["refresh_token"])

    told = asker.introspect_token(known["introspection_endpoint"], token=later["access_token"]).json()
    assert told["active"] and told["username"] == name
    assert client.revoke_token(known["revocation_endpoint"], token=later["refresh_token"]).status_code == 200
    assert asker.introspect_token(known["introspection_endpoint"], token=later["access_token"]).json() == {"active": False}
    refused = stage.raises(OAuthError, lambda: other.refresh_token(known["token_endpoint"]))
    assert refused.error == "invalid_grant", refused


def main():
    stage.make_user("aubrey")
    known = stage.metadata()
    discovered = {
        "token_endpoint": known["token_endpoint"],
        "introspection_endpoint": known["introspection_endpoint"],
        "revocation_endpoint": known["revocation_endpoint"],
    }
    secrets = {
        method: stage.make_client("al-" + method[-5:], method)
        for method in ("client_secret_basic", "client_secret_post")
    }
    stage.make_client("al-app", "none")
    key = ECKey.generate_key("P-256", {"use": "sig", "alg": "ES256"}, auto_kid=True)
    stage.make_client("al-signed", "private_key_jwt", jwks={"keys": [key.as_dict(private=False)]})
    asker = OAuth2Session("al-basic", secrets["client_secret_basic"])

    life(lambda **more: OAuth2Session("al-app", token_endpoint_auth_method="none", **discovered, **more), asker, known, "aubrey")
    for method, secret in secrets.items():
        life(
            lambda **more: HTTPXClient(
                "al-" + method[-5:], secret, token_endpoint_auth_method=method, revocation_endpoint_auth_method=method,
                **discovered, **more,
            ),
            asker, known, "aubrey",
        )

    def signing(**more):
        client = OAuth2Session(
            "al-signed", key, token_endpoint_auth_method="private_key_jwt",
            revocation_endpoint_auth_method="private_key_jwt", **discovered, **more,
        )
        client.register_client_auth_method(PrivateKeyJWT(known["issuer"], alg="ES256", headers={"kid": key.kid}))
        return client

    life(signing, asker, known, "aubrey")
    wrong = OAuth2Session("al-basic", "not the secret")
    refused = stage.raises(OAuthError, lambda: wrong.fetch_token(known["token_endpoint"], grant_type="client_credentials"))
    assert refused.error == "invalid_client"


main()
