"""pgAdmin 4 (PyPI) in server mode: login with PKCE, the mailbox and the groups of the ID token, and a logout with the ID token as
hint."""

from program import MAIL, Stage, make_client, make_user, sessions
import stage

CONFIGURATION = """
SERVER_MODE = True
DEFAULT_SERVER = "127.0.0.1"
DEFAULT_SERVER_PORT = {port}
DATA_DIR = "{folder}/data"
MASTER_PASSWORD_REQUIRED = False
UPGRADE_CHECK_ENABLED = False
AUTHENTICATION_SOURCES = ["oauth2"]
OAUTH2_AUTO_CREATE_USER = True
OAUTH2_CONFIG = [dict(
    OAUTH2_NAME="sojourn",
    OAUTH2_DISPLAY_NAME="Sojourn",
    OAUTH2_CLIENT_ID="pgadmin",
    OAUTH2_CLIENT_SECRET="{secret}",
    OAUTH2_SERVER_METADATA_URL="{issuer}/.well-known/openid-configuration",
    OAUTH2_TOKEN_URL="{known[token_endpoint]}",
    OAUTH2_AUTHORIZATION_URL="{known[authorization_endpoint]}",
    OAUTH2_API_BASE_URL="{issuer}/",
    OAUTH2_USERINFO_ENDPOINT="{known[userinfo_endpoint]}",
    OAUTH2_SCOPE="openid email profile groups",
    OAUTH2_ADDITIONAL_CLAIMS=dict(groups=["staff"]),
    OAUTH2_USERNAME_CLAIM="email",
    OAUTH2_CHALLENGE_METHOD="S256",
    OAUTH2_RESPONSE_TYPE="code",
    OAUTH2_LOGOUT_URL="{known[end_session_endpoint]}?post_logout_redirect_uri={{redirect_uri}}&id_token_hint={{id_token}}",
)]
"""


def main():
    make_user()
    with Stage("pgadmin") as on:
        secret = make_client(
            "pgadmin", on.origin + "/oauth2/authorize", post_logout_redirect_uris=[on.origin + "/"])
        file = on.write("config.py", CONFIGURATION.format(
            port=on.port, folder=on.folder, secret=secret, issuer=stage.PUBLIC, known=stage.metadata()))
        on.start(
            on.executable("pgadmin4"), until=on.origin + "/misc/ping", CONFIG_DISTRO_FILE_PATH=str(file),
            PGADMIN_SETUP_EMAIL="admin@example.org", PGADMIN_SETUP_PASSWORD=stage.PASSWORD)
        on.driver.get(on.origin)
        on.until("the button", lambda: on.has("[name=oauth2_button]"))
        on.picture("outside")
        on.by("[name=oauth2_button]").click()
        on.fill_page()
        on.until_text(MAIL)
        on.picture("inside")
        assert len(sessions("pgadmin")) == 1
        on.driver.get(on.origin + "/oauth2/logout")
        on.until("the end of the session", lambda: sessions("pgadmin") == [])
        on.until("the button", lambda: on.has("[name=oauth2_button]"))


main()
