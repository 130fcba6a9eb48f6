"""Open WebUI (PyPI), by Authlib: login with PKCE, the name and the role of the ID token, and a logout with the ID token as hint."""

from program import MAIL, NAME, Stage, make_client, make_user, sessions
import stage

def main():
    make_user()
    with Stage("open-webui") as on:
        secret = make_client(
            "open-webui", on.origin + "/oauth/oidc/login/callback", post_logout_redirect_uris=[on.origin + "/auth"])
        on.start(
            on.executable("open-webui"), "serve", "--host=127.0.0.1", f"--port={on.port}", until=on.origin + "/health",
            WEBUI_SECRET_KEY="a-long-random-text-of-the-application", WEBUI_URL=on.origin, DATA_DIR=str(on.folder / "data"),
            # Nothing is loaded from elsewhere.
            OFFLINE_MODE="true", HF_HUB_OFFLINE="1", RAG_EMBEDDING_ENGINE="openai", ENABLE_OLLAMA_API="false",
            ENABLE_OPENAI_API="false", ANONYMIZED_TELEMETRY="false", DO_NOT_TRACK="true", ENABLE_VERSION_UPDATE_CHECK="false",
            ENABLE_LOGIN_FORM="false", ENABLE_OAUTH_SIGNUP="true", OAUTH_PROVIDER_NAME="Sojourn",
            OAUTH_CLIENT_ID="open-webui", OAUTH_CLIENT_SECRET=secret, OAUTH_SCOPES="openid email profile groups",
            OPENID_PROVIDER_URL=stage.PUBLIC + "/.well-known/openid-configuration",
            OPENID_REDIRECT_URI=on.origin + "/oauth/oidc/login/callback", OAUTH_CODE_CHALLENGE_METHOD="S256",
            ENABLE_OAUTH_ROLE_MANAGEMENT="true", OAUTH_ROLES_CLAIM="groups", OAUTH_ALLOWED_ROLES="staff",
            OAUTH_ADMIN_ROLES="admins", WEBUI_AUTH_SIGNOUT_REDIRECT_URL=on.origin + "/auth")
        # The page of an empty installation offers the first account alone.
        on.driver.get(on.origin + "/oauth/oidc/login")
        on.fill_page()
        on.until("the application", lambda: on.driver.current_url.startswith(on.origin) and NAME in on.text())
        on.picture("inside")
        assert len(sessions("open-webui")) == 1
        own = on.driver.execute_async_script(
            "fetch('/api/v1/auths/').then((answer) => answer.json()).then((user) => arguments[0]([user.email, user.role]))")
        assert own == [MAIL, "admin"], own
        # News of the program may cover the menu of the user.
        on.driver.execute_script("document.querySelector('[aria-label=\"Open User Profile Menu\"]').click()")
        on.until_text("Sign Out")
        on.driver.execute_script(
            "[...document.querySelectorAll('[role=menuitem]')].find((item) => item.innerText == 'Sign Out').click()")
        on.until_text("Continue with Sojourn")
        on.picture("outside")
        assert sessions("open-webui") == []


main()
