"""Roundcube (Debian's roundcube-core) in front of Dovecot: a login without PKCE and with a nonce, the user's mailbox by the access
token, and no mail after the end of the session."""

import os
import sqlite3

from program import USER, Stage, make_client, make_user, sessions
import dovecot
import stage

CONFIGURATION = """<?php
$config = [
    'db_dsnw' => 'sqlite:///{folder}/roundcube.sqlite?mode=0600',
    'temp_dir' => '{folder}/',
    'log_driver' => 'stdout',
    'des_key' => 'rcmail-!24ByteDESkey*Str',
    'imap_host' => '127.0.0.1:{imap}',
    'plugins' => [],
    'oauth_provider' => 'generic',
    'oauth_provider_name' => 'Sojourn',
    'oauth_client_id' => 'roundcube',
    'oauth_client_secret' => '{secret}',
    'oauth_auth_uri' => '{known[authorization_endpoint]}',
    'oauth_token_uri' => '{known[token_endpoint]}',
    'oauth_identity_uri' => '{known[userinfo_endpoint]}',
    'oauth_identity_fields' => ['preferred_username'],
    'oauth_scope' => 'openid profile',
    'oauth_auth_parameters' => ['nonce' => bin2hex(random_bytes(16))],
    'oauth_verify_peer' => '{authority}',
];
"""


def main():
    make_user()
    with Stage("roundcube") as on:
        redirect = on.origin + "/index.php/login/oauth"
        secret = make_client(
            "roundcube", redirect, token_endpoint_auth_method="client_secret_post", pkce="optional", scope="openid profile")
        on.write("config/config.inc.php", CONFIGURATION.format(
            folder=on.folder, imap=dovecot.start_dovecot(on), secret=secret, known=stage.metadata(),
            authority=os.environ["SSL_CERT_FILE"]))
        for name in ("defaults.inc.php", "mimetypes.php"):
            (on.folder / "config" / name).symlink_to("/etc/roundcube/" + name)
        with open("/usr/share/roundcube/SQL/sqlite.initial.sql") as schema:
            sqlite3.connect(on.folder / "roundcube.sqlite").executescript(schema.read()).close()
        on.start(
            "php", "-S", on.origin.removeprefix("http://"), "-t", "/var/lib/roundcube/public_html", until=on.origin,
            ROUNDCUBE_CONFIG_DIR=str(on.folder / "config"))
        on.driver.get(on.origin)
        on.until("the button", lambda: on.has("#rcmloginoauth"))
        on.picture("outside")
        on.by("#rcmloginoauth").click()
        on.fill_page()
        on.until_text("Mailbox is empty")
        assert USER in on.text(), on.text()
        on.picture("inside")

        # Dovecot asks for each connection.
        [session] = sessions("roundcube")
        stage.admin("DELETE", "/sessions/" + session["session_id"])
        on.driver.get(on.origin)
        on.until_text("Connection to storage server failed")
        on.picture("ended")


main()
