"""requests-oauthlib: the password grant, and tokens of /v1/login that are handed to it; calls, refresh over an expiry by
itself with its `token_updater`, the same by hand, and what it makes of the end."""

from oauthlib.oauth2 import InvalidGrantError, LegacyApplicationClient, MissingTokenError, TokenExpiredError
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

import stage


def refresh_by_itself(token, known, client_id, **more):
    stored = []
    session = OAuth2Session(
        client_id, token=token, auto_refresh_url=known["token_endpoint"], auto_refresh_kwargs={"client_id": client_id},
        token_updater=stored.append, **more,
    )
    assert stage.me(session).json()["username"] == "olive"
    stage.wait_for_expiry()
    assert stage.me(session).status_code == 200
    (fresh,) = stored
    assert fresh["refresh_token"] != token["refresh_token"] and fresh["access_token"] != token["access_token"]
    return session, fresh


def main():
    stage.make_user("olive")
    known = stage.metadata()
    stage.make_client("ro-app", "none")
    secret = stage.make_client("ro-web", "client_secret_basic")

    # A library that has no refresh_token grant of its own choice but that of the token it was given.
    tokens = stage.log_in("olive", "ro-app")
    session, fresh = refresh_by_itself(tokens, known, "ro-app")
    assert session.post(stage.PUBLIC + "/v1/logout").status_code == 204
    refused = stage.raises(InvalidGrantError, lambda: session.refresh_token(known["token_endpoint"], client_id="ro-app"))
    assert "logged out" in refused.description

    web = OAuth2Session(client=LegacyApplicationClient("ro-web"))
    token = web.fetch_token(
        known["token_endpoint"], username="olive", password=stage.PASSWORD, auth=HTTPBasicAuth("ro-web", secret)
    )
    assert token["scope"] == stage.SCOPE.split() and token["device_id"]
    stage.wait_for_expiry()
    stage.raises(TokenExpiredError, lambda: stage.me(web))
    again = web.refresh_token(known["token_endpoint"], auth=HTTPBasicAuth("ro-web", secret))
    assert again["refresh_token"] != token["refresh_token"]
    assert stage.me(web).json()["email"] == "olive@example.org"
    # The same app after a lost answer: the token before is taken again, and what it gives is good.
    web.refresh_token(known["token_endpoint"], token["refresh_token"], auth=HTTPBasicAuth("ro-web", secret))
    assert web.refresh_token(known["token_endpoint"], auth=HTTPBasicAuth("ro-web", secret))["expires_in"] == stage.LIFETIME
    wrong = OAuth2Session(client=LegacyApplicationClient("ro-web"))
    stage.raises(
        InvalidGrantError,
        lambda: wrong.fetch_token(
            known["token_endpoint"], username="olive", password="not hers", auth=HTTPBasicAuth("ro-web", secret)
        ),
    )


main()
