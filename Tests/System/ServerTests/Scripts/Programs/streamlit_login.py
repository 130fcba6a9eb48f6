"""Streamlit (PyPI): `st.login` by Authlib, with PKCE because the metadata lists it, the claims of the ID token on the page, and a
logout with the ID token as hint."""

from program import GROUPS, MAIL, NAME, USER, Stage, make_client, make_user, sessions
import stage

APP = """
import streamlit

if not streamlit.user.is_logged_in:
    streamlit.button("Log in", on_click=streamlit.login)
else:
    streamlit.write(f"Hello, {streamlit.user.name}, {streamlit.user.preferred_username}, {streamlit.user.email}.")
    streamlit.write(f"You are in {' and '.join(streamlit.user.groups)}.")
    streamlit.button("Log out", on_click=streamlit.logout)
"""
SECRETS = """
[auth]
redirect_uri = "{origin}/oauth2callback"
cookie_secret = "a-long-random-text-of-the-application"
client_id = "streamlit"
client_secret = "{secret}"
server_metadata_url = "{issuer}/.well-known/openid-configuration"
client_kwargs = {{ scope = "openid profile email groups" }}
"""


def button(on, text):
    on.until(text, lambda: on.has("button[kind=secondary]") and on.by("button[kind=secondary]").text == text)
    on.by("button[kind=secondary]").click()


def main():
    make_user()
    with Stage("streamlit") as on:
        secret = make_client("streamlit", on.origin + "/oauth2callback", post_logout_redirect_uris=[on.origin + "/oauth2callback"])
        on.write("app.py", APP)
        on.write(".streamlit/secrets.toml", SECRETS.format(origin=on.origin, secret=secret, issuer=stage.PUBLIC))
        on.start(
            on.executable("streamlit"), "run", "app.py", "--server.address=127.0.0.1", f"--server.port={on.port}",
            "--server.headless=true", "--browser.gatherUsageStats=false", "--server.fileWatcherType=none",
            until=on.origin + "/_stcore/health")
        on.driver.get(on.origin)
        button(on, "Log in")
        on.fill_page()
        on.until_text(f"Hello, {NAME}, {USER}, {MAIL}.")
        on.until_text(f"You are in {' and '.join(GROUPS)}.")
        on.picture("inside")
        assert len(sessions("streamlit")) == 1, sessions("streamlit")

        button(on, "Log out")
        on.until("the end of the session", lambda: sessions("streamlit") == [])
        on.until("the application", lambda: on.driver.current_url.startswith(on.origin))
        on.until("the button", lambda: on.has("button[kind=secondary]") and on.by("button[kind=secondary]").text == "Log in")
        # The browser is logged out, too.
        button(on, "Log in")
        on.until_page()


main()
