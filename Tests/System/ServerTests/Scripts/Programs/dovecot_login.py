"""Dovecot (Debian's dovecot-imapd): a mail program of the desktop logs in on the server's page (RFC 8252), and shows its access
token by OAUTHBEARER (RFC 7628) and XOAUTH2. The end of the session is the end of the next login."""

import imaplib

from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

from program import USER, Stage, make_user, sessions
import dovecot
import provider
import stage


def token_of_page(on):
    """What a mail program does: it opens the browser, and listens at the loopback address for the code."""
    listener = provider.Listener(lambda *_: ("text/plain", b"Back to the mail program."))
    redirect = listener.origin + "/"
    # RFC 8252 section 7.3: the port may be any.
    stage.admin("POST", "/clients", {
        "client_id": "mail", "token_endpoint_auth_method": "none", "redirect_uris": ["http://127.0.0.1/"],
        "grant_types": ["authorization_code", "refresh_token"], "scope": "openid email"})
    known = stage.metadata()
    client = OAuth2Session(
        "mail", scope="openid email", redirect_uri=redirect, code_challenge_method="S256",
        token_endpoint_auth_method="none")
    verifier = generate_token(48)
    url, state = client.create_authorization_url(known["authorization_endpoint"], code_verifier=verifier)
    on.driver.get(url)
    on.fill_page()
    on.until_text("Back to the mail program.")
    on.picture("back")
    token = client.fetch_token(
        known["token_endpoint"], authorization_response=on.driver.current_url, state=state, code_verifier=verifier)
    return token["access_token"]


def mailbox(port, mechanism, text):
    """The answer to a login at IMAP, and the folders if it is accepted."""
    with imaplib.IMAP4("127.0.0.1", port) as mail:
        mail.authenticate(mechanism, lambda _: text.encode())
        return mail.select("INBOX")


def oauthbearer(user, token):
    return f"n,a={user},\x01auth=Bearer {token}\x01\x01"


def xoauth2(user, token):
    return f"user={user}\x01auth=Bearer {token}\x01\x01"


def main():
    make_user()
    stage.admin("POST", "/users", {"username": "willi", "password": stage.PASSWORD})
    with Stage("dovecot") as on:
        port = dovecot.start_dovecot(on)
        token = token_of_page(on)
        for mechanism, text in (("OAUTHBEARER", oauthbearer), ("XOAUTH2", xoauth2)):
            assert mailbox(port, mechanism, text(USER, token)) == ("OK", [b"0"]), mechanism
            # The token opens no mailbox but that of its user.
            stage.raises(imaplib.IMAP4.error, lambda: mailbox(port, mechanism, text("willi", token)))
            stage.raises(imaplib.IMAP4.error, lambda: mailbox(port, mechanism, text(USER, token[:-1])))
        [session] = sessions("mail")
        stage.admin("DELETE", "/sessions/" + session["session_id"])
        stage.raises(imaplib.IMAP4.error, lambda: mailbox(port, "XOAUTH2", xoauth2(USER, token)))


main()
