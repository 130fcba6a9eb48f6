"""What every script here has: a running server, an admin who makes users and clients on it, and a clock to wait for.

The server's own words are used for that alone. What a script is about, a library does that knows nothing of Sojourn.
"""

import os
import time

import requests

PUBLIC = os.environ["SOJOURN_PUBLIC"]
ADMIN = os.environ["SOJOURN_ADMIN"]
#: What the server signs with.
ALGORITHM = os.environ["SOJOURN_ALGORITHM"]
#: Of an identity provider that the server knows, for a user whom it does not know yet. Each starts one session.
ID_TOKENS = os.environ["SOJOURN_ID_TOKENS"].split()
#: Who that user becomes.
IDENTIFIED = "otto@example.org"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
PASSWORD = "correct horse"
#: Seconds. How long an access token of the clients here lives: long enough for a call on a busy machine, short enough to
#: wait for its end.
LIFETIME = 5


def admin(method, path, body=None):
    answer = requests.request(
        method, ADMIN + "/admin/v1" + path, json=body, headers={"Authorization": "Bearer " + os.environ["SOJOURN_KEY"]}
    )
    assert answer.ok, answer.text
    return answer.json() if answer.content else None


def make_user(name):
    """A user, on a server that rotates refresh tokens after less than an access token lives."""
    admin("PUT", "/settings/sessions", {"rotation_interval": LIFETIME - 1})
    return admin("POST", "/users", {"username": name, "password": PASSWORD, "email": name + "@example.org"})["user_id"]


# What a client may have: `GET /v1/me` shows the name and the address, and nothing else.
SCOPE = "read write profile email"


def make_client(name, method, **more):
    """A client whose access tokens end soon. Returns its secret, if it has one."""
    members = {
        "client_id": name,
        "token_endpoint_auth_method": method,
        "grant_types": ["login", "password", "refresh_token"],
        "scope": SCOPE,
        "access_token_lifetime": LIFETIME,
        "refresh_after": 1,
    }
    return admin("POST", "/clients", members | more).get("client_secret")


def log_in(name, client, device="phone"):
    """The tokens of a first-party app, as its own code got them, to be handed to a library."""
    answer = requests.post(
        PUBLIC + "/v1/login",
        json={"username": name, "password": PASSWORD, "client_id": client, "device": {"id": device}},
    )
    assert answer.ok, answer.text
    return answer.json()


def wait_for_expiry():
    time.sleep(LIFETIME + 0.2)


def wait_for_file(path):
    for _ in range(300):
        if os.path.exists(path):
            return
        time.sleep(0.05)
    raise AssertionError("no " + path)


def me(session, **more):
    """What the server says of the user whose token the library sends along."""
    return session.get(PUBLIC + "/v1/me", **more)


def metadata():
    """RFC 8414 section 3: where every library can learn the rest."""
    answer = requests.get(PUBLIC + "/.well-known/oauth-authorization-server")
    assert answer.json()["issuer"] == PUBLIC
    return answer.json()


def raises(kind, call):
    """The exception of that kind that the call must raise."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError("no " + kind.__name__)


def ask(path, form, **more):
    """A call of OAuth, for libraries that make and read tokens but send nothing."""
    return requests.post(PUBLIC + path, data=form, **more)


def ended(answer, reason):
    """A grant that is refused because the session is over."""
    assert answer.status_code == 400 and answer.json()["error"] == "invalid_grant", answer.text
    assert answer.json()["reason"] == reason, answer.text
