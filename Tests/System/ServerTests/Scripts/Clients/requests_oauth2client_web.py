"""requests_oauth2client as a web application: pushed authorization request (RFC 9126), code, PKCE, `iss`, and the ID token that
it verifies by itself."""

from requests_oauth2client import ClientSecretBasic, OAuth2Client

import stage
from browser import Browser, web_client

REDIRECT = "http://127.0.0.1:1/callback"


def main():
    stage.make_user("wilma")
    secret = web_client("rw-app", redirect_uris=[REDIRECT], require_pushed_authorization_requests=True)
    client = OAuth2Client.from_discovery_endpoint(
        issuer=stage.PUBLIC, auth=ClientSecretBasic("rw-app", secret), redirect_uri=REDIRECT,
        id_token_signed_response_alg=stage.ALGORITHM,
    )
    client.update_authorization_server_public_keys()
    request = client.authorization_request(scope="openid email")
    pushed = client.pushed_authorization_request(request)
    answer = request.validate_callback(Browser().code_for(str(pushed.uri), "wilma"))
    token = client.authorization_code(answer, validate=True)
    assert token.id_token and token.id_token.sub and token.id_token.acr == "password"
    assert client.userinfo(token)["email"] == "wilma@example.org"
    # The request was spent with the login.
    browser = Browser()
    again = browser.send_form(browser.get(str(pushed.uri)), "wilma")
    assert "error=invalid_request_uri" in again.headers["Location"], again.headers


main()
