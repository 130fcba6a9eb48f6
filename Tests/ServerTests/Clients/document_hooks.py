"""What schemathesis sends as credentials: the admin key, the secret of a client, and a token whose session lives, however
many it has ended."""

import base64
import os

import requests
import schemathesis

import stage


class Living:
    """A token of anna's, made anew when the one before has come to its end."""

    tokens = {"access_token": "", "refresh_token": ""}

    @classmethod
    def now(cls):
        headers = {"Authorization": "Bearer " + cls.tokens["access_token"]}
        if requests.get(stage.PUBLIC + "/v1/verify", headers=headers).status_code != 200:
            stage.admin("POST", "/users/username:anna/enable", {"include_own_switch": True})
            Living.tokens = stage.admin("POST", "/users/username:anna/sessions", {"device": {"id": "phone-1"}})
        return Living.tokens

    def get(self, case, context):
        return self.now()["access_token"]

    def set(self, case, data, context):
        case.headers = dict(case.headers or {}, Authorization="Bearer " + data)


@schemathesis.hook
def before_call(context, case, kwargs):
    # Nobody can guess a proof of possession: with one, no call would go deep. Tables of their own try them all.
    for name in [name for name in case.headers or {} if name.lower() == "dpop"]:
        del case.headers[name]
    # A long poll would be waited for.
    if "wait" in (case.query or {}) and str(case.query["wait"]).isdigit():
        case.query["wait"] = 0
    # Where the document's example of a refresh token stands, a living one goes out.
    if isinstance(case.body, dict) and str(case.body.get("refresh_token", "")).startswith("sjr_"):
        case.body = dict(case.body, refresh_token=Living.now()["refresh_token"])


@schemathesis.auth().apply_to(path_regex="^/v1/(me|verify)")
class User(Living):
    pass


@schemathesis.auth().apply_to(path_regex="^/oauth/(introspect|revoke)")
class Backend:
    """The client `backend`; the secret was made when the attack began."""

    def get(self, case, context):
        return base64.b64encode(f"backend:{os.environ['BACKEND_SECRET']}".encode()).decode()

    def set(self, case, data, context):
        case.headers = dict(case.headers or {}, Authorization="Basic " + data)


@schemathesis.auth().apply_to(path_regex="^/admin/")
class Admin:
    def get(self, case, context):
        return os.environ["SOJOURN_KEY"]

    def set(self, case, data, context):
        case.headers = dict(case.headers or {}, Authorization="Bearer " + data)
