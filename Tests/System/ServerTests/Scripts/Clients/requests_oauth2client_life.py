"""requests_oauth2client: discovery, password grant, calls, refresh over an expiry, introspection, revocation, client
credentials, private_key_jwt, token exchange (RFC 8693), and all of that with DPoP (RFC 9449) and nonces."""

import jwskate
import requests
from requests_oauth2client import (
    ApiClient, ClientSecretBasic, DPoPKey, DPoPToken, IdToken, InvalidGrant, InvalidRequest, InvalidScope,
    OAuth2AccessTokenAuth, OAuth2Client, OAuth2ResourceOwnerPasswordAuth, PrivateKeyJwt, UnauthorizedClient,
)

import stage


def session_of(client, name, **more):
    """A whole life at one client: what is the same for all ways to authenticate, with and without DPoP."""
    auth = OAuth2ResourceOwnerPasswordAuth(client, username=name, password=stage.PASSWORD, **more)
    api = ApiClient(stage.PUBLIC, auth=auth)
    assert api.get("/v1/me").json()["username"] == name
    first = auth.token
    assert first.refresh_token and not first.is_expired()
    return first


def refresh_over_an_expiry(client, token):
    """The library sees by itself that the token has ended, and refreshes before it calls."""
    auth = OAuth2AccessTokenAuth(client, token, leeway=0)
    stage.wait_for_expiry()
    assert token.is_expired()
    refused = requests.get(stage.PUBLIC + "/v1/me", auth=token_auth(token))
    assert refused.status_code == 401 and "invalid_token" in refused.headers["WWW-Authenticate"]
    assert stage.me(requests, auth=auth).status_code == 200
    assert auth.token.access_token != token.access_token
    assert auth.token.refresh_token != token.refresh_token, "the refresh token was not rotated"
    return auth.token


def token_auth(token):
    """The token as it is, expired or not: the library itself would refuse to send it."""
    if isinstance(token, DPoPToken):
        return lambda request: add_proof(request, token)
    return lambda request: request.headers.update(Authorization="Bearer " + token.access_token) or request


def add_proof(request, token):
    import requests_oauth2client.dpop as dpop

    dpop.add_dpop_proof(request, dpop_key=token.dpop_key, access_token=token.access_token, header_name="DPoP")
    request.headers["Authorization"] = "DPoP " + token.access_token
    return request


def discovered(**more):
    return OAuth2Client.from_discovery_endpoint(issuer=stage.PUBLIC, **more)


def the_end(client, asker, token, name):
    """Introspection tells of a living session, revocation ends it, and then introspection, calls and refreshes say so."""
    told = asker.introspect_token(token.access_token)
    assert told["active"] and told["username"] == name and told["scope"] == stage.SCOPE, told
    assert asker.introspect_token(token.refresh_token, "refresh_token")["active"]
    assert asker.introspect_token(token.refresh_token) == {"active": False}, "it would open an API"
    assert client.revoke_refresh_token(token)
    assert asker.introspect_token(token.access_token) == {"active": False}
    assert stage.me(requests, auth=token).status_code == 401
    refused = stage.raises(InvalidGrant, lambda: client.refresh_token(token))
    assert refused.response.json()["reason"] == "logged_out"


def exchange(client, asker, id_token, **more):
    """An identity provider's ID token becomes a session, once, which lives and ends as all do."""
    def ask():
        return client.token_exchange(subject_token=id_token, scope=stage.SCOPE, device_id="tablet", **more)

    token = ask()
    assert token.issued_token_type == "urn:ietf:params:oauth:token-type:access_token" and token.device_id == "tablet"
    assert stage.me(requests, auth=token).json()["username"] == stage.IDENTIFIED
    assert "used before" in stage.raises(InvalidRequest, ask).description
    the_end(client, asker, refresh_over_an_expiry(client, token), stage.IDENTIFIED)
    return token


def main():
    stage.make_user("rita")
    keys = jwskate.Jwk.generate_for_alg("ES256").with_kid_thumbprint()
    backend = ClientSecretBasic("o2-backend", stage.make_client("o2-backend", "client_secret_basic", grant_types=["client_credentials"]))
    stage.make_client("o2-app", "none")
    stage.make_client("o2-dpop", "none", dpop="required")
    by_exchange = {"grant_types": ["refresh_token", stage.TOKEN_EXCHANGE]}
    stage.make_client("o2-federated", "none", **by_exchange)
    stage.make_client("o2-federated-dpop", "none", dpop="required", **by_exchange)
    stage.make_client(
        "o2-signed", "private_key_jwt", jwks={"keys": [dict(keys.public_jwk())]},
        grant_types=["password", "refresh_token", "client_credentials"],
    )
    asker = discovered(auth=backend)
    asker.update_authorization_server_public_keys()
    assert asker.authorization_server_jwks.jwks

    app = discovered(client_id="o2-app")
    token = refresh_over_an_expiry(app, session_of(app, "rita"))
    stage.raises(InvalidScope, lambda: app.refresh_token(token, scope="read write admin"))
    assert app.refresh_token(token, scope="read").scope == "read"
    the_end(app, asker, app.refresh_token(token), "rita")
    stage.raises(InvalidGrant, lambda: app.resource_owner_password("rita", "not hers"))

    signed = discovered(auth=PrivateKeyJwt("o2-signed", keys, aud=stage.PUBLIC))
    the_end(signed, asker, refresh_over_an_expiry(signed, session_of(signed, "rita")), "rita")
    own = signed.client_credentials(scope="read")
    assert own.scope == "read" and asker.introspect_token(own)["sub"] == "o2-signed"
    assert signed.revoke_access_token(own)
    assert asker.introspect_token(own) == {"active": False}
    stage.raises(UnauthorizedClient, lambda: asker.resource_owner_password("rita", stage.PASSWORD))

    plain, proven, unused = map(IdToken, stage.ID_TOKENS)
    federated = discovered(client_id="o2-federated")
    exchange(federated, asker, plain)
    proving = discovered(client_id="o2-federated-dpop", dpop_bound_access_tokens=True)
    assert isinstance(exchange(proving, asker, proven, dpop=True), DPoPToken)
    stage.raises(UnauthorizedClient, lambda: app.token_exchange(subject_token=unused))
    wrong = stage.raises(InvalidRequest, lambda: federated.token_exchange(subject_token=str(unused), subject_token_type="jwt"))
    assert "subject_token_type" in wrong.description

    bound = discovered(client_id="o2-dpop", dpop_bound_access_tokens=True)
    token = session_of(bound, "rita")
    assert isinstance(token, DPoPToken) and token.dpop_key.as_nonce, "no nonce was demanded"
    token = refresh_over_an_expiry(bound, token)
    told = asker.introspect_token(token.access_token)
    assert told["cnf"]["jkt"] == token.dpop_key.dpop_jkt and told["token_type"] == "DPoP"
    thief = DPoPKey.generate()
    stolen = stage.raises(InvalidGrant, lambda: bound.refresh_token(token.refresh_token, dpop_key=thief))
    assert stolen.response.json()["reason"] == "binding_mismatch"
    the_end(bound, asker, token, "rita")


main()
