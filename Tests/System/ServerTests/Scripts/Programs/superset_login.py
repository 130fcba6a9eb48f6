"""Apache Superset (PyPI), by Flask-AppBuilder and Authlib: login with PKCE, the names and the role of userinfo,
and a logout."""

from program import FAMILY_NAME, GIVEN_NAME, MAIL, USER, Stage, make_client, make_user, sessions
import stage

CONFIGURATION = """
from flask_appbuilder.security.manager import AUTH_OAUTH
from superset.security import SupersetSecurityManager


class SecurityManager(SupersetSecurityManager):
    def get_oauth_user_info(self, provider, response):
        claims = self.oauth_remotes[provider].userinfo()
        return dict(
            username=claims["preferred_username"], first_name=claims["given_name"], last_name=claims["family_name"],
            email=claims["email"], role_keys=claims["groups"])


SECRET_KEY = "a-long-random-text-of-the-application-of-42"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.sqlite"
TALISMAN_ENABLED = False
AUTH_TYPE = AUTH_OAUTH
AUTH_USER_REGISTRATION = True
AUTH_USER_REGISTRATION_ROLE = "Gamma"
AUTH_ROLES_MAPPING = dict(admins=["Admin"])
AUTH_ROLES_SYNC_AT_LOGIN = True
CUSTOM_SECURITY_MANAGER = SecurityManager
OAUTH_PROVIDERS = [dict(name="sojourn", token_key="access_token", icon="fa-key", remote_app=dict(
    client_id="superset",
    client_secret="{secret}",
    server_metadata_url="{issuer}/.well-known/openid-configuration",
    client_kwargs=dict(scope="openid email profile groups", code_challenge_method="S256"),
))]
LOGOUT_REDIRECT_URL = "{known[end_session_endpoint]}?client_id=superset&post_logout_redirect_uri={origin}/login/"
"""


def main():
    make_user()
    with Stage("superset") as on:
        secret = make_client(
            "superset", on.origin + "/oauth-authorized/sojourn", post_logout_redirect_uris=[on.origin + "/login/"])
        on.write("superset_config.py", CONFIGURATION.format(
            origin=on.origin, folder=on.folder, secret=secret, issuer=stage.PUBLIC, known=stage.metadata()))
        where = {"SUPERSET_CONFIG_PATH": str(on.folder / "superset_config.py"), "FLASK_APP": "superset"}
        on.run(on.executable("superset"), "db", "upgrade", **where)
        on.run(on.executable("superset"), "init", **where)
        on.start(
            on.executable("superset"), "run", "-h", "127.0.0.1", "-p", on.port, "--with-threads", until=on.origin + "/health",
            **where)
        on.driver.get(on.origin + "/login/")
        on.until_text("ojourn")
        on.picture("outside")
        on.driver.get(on.origin + "/login/sojourn")
        on.fill_page()
        on.until("the application", lambda: on.driver.current_url.startswith(on.origin + "/superset/welcome"))
        on.driver.get(on.origin + "/user_info/")
        on.until_text(MAIL)
        on.picture("inside")
        text = on.text()
        assert all(part in text for part in (USER, GIVEN_NAME, FAMILY_NAME, "Admin")), text
        assert len(sessions("superset")) == 1
        on.driver.get(on.origin + "/logout/")
        on.confirm_logout()
        on.until("the login", lambda: on.driver.current_url.startswith(on.origin + "/login/"))
        assert sessions("superset") == []


main()
