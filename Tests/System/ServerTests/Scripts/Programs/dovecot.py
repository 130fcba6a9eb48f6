"""Dovecot (Debian's dovecot-imapd): its users log in with access tokens of the server, and it introspects each."""

import os
import pathlib
import pwd
import socket
import time
from urllib.parse import urlsplit

from program import free_port
import stage

CONFIGURATION = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
auth_mechanisms = xoauth2 oauthbearer
# What slows guesses down would slow the tests of refusals.
auth_failure_delay = 0
mail_location = maildir:{folder}/mail/%u
first_valid_uid = 1
namespace inbox {{
  inbox = yes
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
passdb {{
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = {folder}/oauth2.conf.ext
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/mail/%u
}}
"""
#: Without rights of its own Dovecot runs as its one user.
UNPRIVILEGED = """
default_internal_user = {name}
default_internal_group = {group}
default_login_user = {name}
"""
INTROSPECTION = """
introspection_mode = post
introspection_url = {introspection}
force_introspection = yes
username_attribute = username
active_attribute = active
active_value = true
tls_ca_cert_file = {authority}
"""


def start_dovecot(on):
    """Starts it, and returns the port of IMAP."""
    secret = stage.admin("POST", "/clients", {
        "client_id": "dovecot", "token_endpoint_auth_method": "client_secret_basic",
        "grant_types": ["client_credentials"]})["client_secret"]
    user = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    port = free_port()
    (on.folder / "mail").mkdir()
    os.chown(on.folder / "mail", user.pw_uid, user.pw_gid)
    text = CONFIGURATION.format(folder=on.folder, port=port, uid=user.pw_uid, gid=user.pw_gid)
    if os.getuid() != 0:
        import grp
        text += UNPRIVILEGED.format(name=user.pw_name, group=grp.getgrgid(user.pw_gid).gr_name)
    file = on.write("dovecot.conf", text)
    url = urlsplit(stage.metadata()["introspection_endpoint"])
    on.write("oauth2.conf.ext", INTROSPECTION.format(
        introspection=url._replace(netloc=f"dovecot:{secret}@{url.netloc}").geturl(),
        # Dovecot's user cannot read the folder of the tests.
        authority=on.write("ca.crt", pathlib.Path(os.environ["SSL_CERT_FILE"]).read_text())))
    process = on.start("dovecot", "-F", "-c", str(file))
    end = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return port
        except OSError:
            assert process.poll() is None and time.monotonic() < end, "Dovecot does not start"
            time.sleep(0.02)
