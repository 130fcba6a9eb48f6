"""JupyterHub with oauthenticator (PyPI, and Debian's configurable-http-proxy): login with PKCE, admission and
rights by the groups of userinfo, and a logout at both ends."""

from program import USER, Stage, free_port, make_client, make_user, sessions
import stage

CONFIGURATION = """
c = get_config()
c.JupyterHub.bind_url = "{origin}"
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.db_url = "sqlite:///jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = "cookie-secret"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.auth_token = "a-long-random-text"
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.client_id = "jupyterhub"
c.GenericOAuthenticator.client_secret = "{secret}"
c.GenericOAuthenticator.authorize_url = "{known[authorization_endpoint]}"
c.GenericOAuthenticator.token_url = "{known[token_endpoint]}"
c.GenericOAuthenticator.userdata_url = "{known[userinfo_endpoint]}"
c.GenericOAuthenticator.logout_redirect_url = "{logout}"
c.GenericOAuthenticator.oauth_callback_url = "{origin}/hub/oauth_callback"
c.GenericOAuthenticator.scope = ["openid", "profile", "groups"]
c.GenericOAuthenticator.login_service = "Sojourn"
c.GenericOAuthenticator.username_claim = "preferred_username"
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.groups"
c.GenericOAuthenticator.allowed_groups = {{"staff"}}
c.GenericOAuthenticator.admin_groups = {{"admins"}}
"""


def main():
    make_user()
    with Stage("jupyterhub") as on:
        secret = make_client(
            "jupyterhub", on.origin + "/hub/oauth_callback", token_endpoint_auth_method="client_secret_post",
            post_logout_redirect_uris=[on.origin + "/hub/login"])
        known = stage.metadata()
        back = f"?client_id=jupyterhub&post_logout_redirect_uri={on.origin}/hub/login"
        on.write("jupyterhub_config.py", CONFIGURATION.format(
            origin=on.origin, hub_port=free_port(), proxy_port=free_port(), secret=secret, known=known,
            logout=known["end_session_endpoint"] + back))
        on.start(
            on.executable("jupyterhub"), "--config=jupyterhub_config.py", until=on.origin + "/hub/health",
            # Where Debian keeps what the proxy needs.
            NODE_PATH="/usr/share/nodejs")
        on.driver.get(on.origin + "/hub/home")
        on.until("the button", lambda: on.has("#login-main a"))
        on.by("#login-main a").click()
        on.fill_page()
        on.until("the home page", lambda: on.has("#start"))
        on.picture("inside")
        # The link to the page of admins is there because of the group.
        assert USER in on.text() and "Admin" in on.text(), on.text()
        assert len(sessions("jupyterhub")) == 1
        on.by("#logout").click()
        on.confirm_logout()
        on.until("the login", lambda: on.has("#login-main a"))
        on.picture("outside")
        on.until("the end of the session", lambda: sessions("jupyterhub") == [])


main()
