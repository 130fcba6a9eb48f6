"""MLflow with mlflow-oidc-auth (PyPI): login with PKCE, admission and rights by the groups of the ID token, and a logout."""

from program import NAME, USER, Stage, make_client, make_user, sessions
import stage


def main():
    make_user()
    with Stage("mlflow") as on:
        secret = make_client("mlflow", on.origin + "/callback", post_logout_redirect_uris=[on.origin + "/oidc/ui/auth"])
        on.start(
            on.executable("mlflow"), "server", "--app-name=oidc-auth", "--host=127.0.0.1", f"--port={on.port}", "--workers=1",
            "--backend-store-uri=sqlite:///mlflow.sqlite", "--default-artifact-root=artifacts", until=on.origin + "/health",
            SECRET_KEY="a-long-random-text-of-the-application", MLFLOW_DISABLE_TELEMETRY="true",
            OIDC_USERS_DB_URI="sqlite:///users.sqlite", OIDC_PROVIDER_DISPLAY_NAME="Log in with Sojourn",
            OIDC_DISCOVERY_URL=stage.PUBLIC + "/.well-known/openid-configuration", OIDC_CLIENT_ID="mlflow",
            OIDC_CLIENT_SECRET=secret, OIDC_SCOPE="openid email profile groups", OIDC_USERNAME_FIELD="preferred_username",
            OIDC_GROUP_NAME="staff", OIDC_ADMIN_GROUP_NAME="admins",
            # It asks for `offline_access`, which its client does not have and does not need.
            OIDC_USE_REFRESH_TOKEN="true")
        on.driver.get(on.origin)
        on.until_text("Log in with Sojourn")
        on.picture("outside")
        on.driver.get(on.origin + "/login")
        on.fill_page()
        on.until_text("You have administrator privileges.")
        on.picture("inside")
        text = on.text()
        assert NAME in text and USER in text and "staff" in text, text
        assert len(sessions("mlflow")) == 1
        on.driver.get(on.origin + "/logout")
        on.until_text("Log in with Sojourn")
        assert sessions("mlflow") == []


main()
