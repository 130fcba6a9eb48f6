"""requests_oauth2client: logins that a backend requests (OpenID Connect CIBA), by a secret and by private_key_jwt with the
endpoint as its audience, and the library's own polling job. The phone's acts are calls of the server's own API."""

import jwskate
import requests
from requests_oauth2client import (
    AccessDenied, AuthorizationPending, BackChannelAuthenticationError, BackChannelAuthenticationPollingJob,
    ClientSecretBasic, InvalidGrant, OAuth2Client, PrivateKeyJwt, UnauthorizedClient,
)

import stage

GRANT = "urn:openid:params:grant-type:ciba"
MEMBERS = {"grant_types": [GRANT, "refresh_token"], "scope": "openid email read"}


class Phone:
    """A phone of the user, by the calls that every app makes."""

    def __init__(self, name):
        self.headers = {"Authorization": "Bearer " + stage.log_in(name, "mobile")["access_token"]}

    def call(self, method, path, body=None):
        answer = requests.request(method, stage.PUBLIC + "/v1/me/logins" + path, json=body, headers=self.headers)
        assert answer.ok, answer.text
        return answer.json()

    def claim(self, request):
        (found,) = [item for item in self.call("GET", "")["items"] if item["login_id"] == request.login_id]
        self.call("POST", "", {"code": found["push"], "source": "push"})
        return found

    def approve(self, request):
        """The user reads the number that the backend shows."""
        found = self.claim(request)
        seen = requests.get(
            stage.PUBLIC + "/v1/logins/" + request.login_id, headers={"Authorization": "Bearer " + request.auth_req_id}
        ).json()
        self.call("POST", f"/{request.login_id}/confirm", {"number": seen["number"]})
        self.call("POST", f"/{request.login_id}/second-factor", {"password": stage.PASSWORD})
        return found


def refused(client, error, **more):
    assert stage.raises(Exception, lambda: client.backchannel_authentication_request(**more)).error == error


metadata = stage.metadata()


def discovered(auth):
    """A client with the endpoints of the server. The library leaves this one out of what it discovers."""
    return OAuth2Client.from_discovery_endpoint(
        issuer=stage.PUBLIC, auth=auth,
        backchannel_authentication_endpoint=metadata["backchannel_authentication_endpoint"],
    )


stage.make_user("ada")
phone = Phone("ada")
client = discovered(ClientSecretBasic("shop", stage.make_client("shop", "client_secret_basic", **MEMBERS)))
assert "poll" in metadata["backchannel_token_delivery_modes_supported"]
assert metadata["backchannel_user_code_parameter_supported"] is False and GRANT in metadata["grant_types_supported"]

# The library polls too fast at first, is told so, and waits.
request = client.backchannel_authentication_request("openid email", login_hint="ada", binding_message="Order 4711")
assert request.interval == 5 and 170 < request.expires_in <= 180
job = BackChannelAuthenticationPollingJob(client, request, interval=1, slow_down_interval=4)
assert job() is None and job.interval == 1
assert job() is None and job.interval == 5
assert phone.approve(request)["binding_message"] == "Order 4711"
token = job()
assert token.refresh_token and token.scope == "openid email"
claims = jwskate.SignedJwt(str(token.id_token)).claims
assert claims["email"] == "ada@example.org" and claims["acr"] == "phone" and claims["aud"] == "shop", claims
stage.raises(InvalidGrant, lambda: client.ciba(request))
assert client.refresh_token(token).access_token != token.access_token

# The ID token names the user the next time, and the phone refuses.
request = client.backchannel_authentication_request("openid", id_token_hint=str(token.id_token))
stage.raises(AuthorizationPending, lambda: client.ciba(request))
phone.claim(request)
phone.call("POST", f"/{request.login_id}/stop")
stage.raises(AccessDenied, lambda: client.ciba(request))

refused(client, "unknown_user_id", login_hint="nobody")
refused(client, "invalid_binding_message", login_hint="ada", binding_message="x" * 41)
refused(client, "invalid_request", login_hint="ada", user_code="1234")
refused(client, "invalid_scope", login_hint="ada", scope='openid "admin"')

# Assertions of the library, with the token endpoint, the issuer, or the endpoint itself as audience.
key = jwskate.Jwk.generate(alg="ES256", kid="a")
stage.make_client("signer", "private_key_jwt", jwks={"keys": [dict(key.public_jwk())]}, **MEMBERS)
for audience in stage.PUBLIC, metadata["token_endpoint"], metadata["backchannel_authentication_endpoint"]:
    signer = discovered(PrivateKeyJwt("signer", key, aud=audience))
    request = signer.backchannel_authentication_request("openid", login_hint="ada")
    phone.claim(request)
    phone.call("POST", f"/{request.login_id}/stop")

# A client that was not given the grant.
plain = discovered(ClientSecretBasic("plain", stage.make_client("plain", "client_secret_basic")))
stage.raises(UnauthorizedClient, lambda: plain.backchannel_authentication_request("openid", login_hint="ada"))
