"""A browser without a screen: it keeps cookies, follows redirects, and fills in the server's login page."""

import html
import re

import requests

import stage


class Browser(requests.Session):
    def log_in(self, page, name):
        """The answer to the form of the login page: a redirect to the client."""
        answer = self.send_form(page, name)
        assert answer.status_code == 303, answer.text
        return answer

    def send_form(self, page, name):
        assert page.ok and 'name="password"' in page.text, page.text
        hidden = dict(re.findall(r'name="(r|csrf)" value="([^"]*)"', page.text))
        form = {key: html.unescape(value) for key, value in hidden.items()}
        return self.post(
            stage.PUBLIC + "/login/password", data=form | {"username": name, "password": stage.PASSWORD},
            headers={"Origin": stage.PUBLIC}, allow_redirects=False,
        )

    def code_for(self, url, name):
        """The URL with which a browser comes back to the client, from an authorization request to a code."""
        return self.log_in(self.get(url), name).headers["Location"]


def web_client(name, method="client_secret_basic", **more):
    """A web application that logs users in on the page. Returns its secret."""
    members = {"grant_types": ["authorization_code", "refresh_token"], "scope": "openid email"}
    return stage.make_client(name, method, access_token_lifetime=3600, refresh_after=1800, **(members | more))
