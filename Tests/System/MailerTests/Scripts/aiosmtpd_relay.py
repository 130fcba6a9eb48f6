"""Receives a mail by aiosmtpd, with STARTTLS and AUTH, and examines it by Python's own parser.

aiosmtpd_relay.py PROGRAM CERTIFICATE KEY AUTHORITY FOLDER
"""

import email
import email.policy
import json
import os
import socket
import ssl
import subprocess
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

program, certificate, key, authority, folder = sys.argv[1:]
PASSWORD = "geheim & lang"


class Receiver:
    mails = []

    async def handle_DATA(self, server, session, envelope):
        self.mails.append((session, envelope))
        return "250 2.0.0 queued"


class Relay(Controller):
    @property
    def bound(self):
        return self.server.sockets[0].getsockname()[1]

    # The controller asks for its own greeting, at the port that it was given, which is 0.
    def _trigger_server(self):
        with socket.create_connection(("127.0.0.1", self.bound), timeout=20) as connection:
            connection.recv(1000)

    def factory(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return SMTP(
            self.handler, hostname="localhost", tls_context=context, require_starttls=True, auth_required=True,
            authenticator=authenticate)


def authenticate(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and (data.login, data.password) == (b"login", PASSWORD.encode())
    return AuthResult(success=good, handled=False)


def run(*words, config="sojourn.json5"):
    environment = {name: text for name, text in os.environ.items() if not name.startswith("SOJOURN_")}
    return subprocess.run(
        [program, *words, "--config", f"{folder}/{config}"], capture_output=True, text=True, timeout=120,
        env=environment)


def configure(name, password, authority=authority):
    with open(f"{folder}/{name}.secret", "w") as file:
        file.write(password + "\n")
    with open(f"{folder}/{name}", "w") as file:
        json.dump({
            "database": {"url": f"sqlite:{folder}/db"},
            "server": {"issuer": "https://login.example"},
            "mail": {
                "relay": f"smtp://localhost:{relay.bound}", "user": "login",
                "password_file": f"{folder}/{name}.secret", "from": "Größe & Co <login@example.com>",
                "ca_file": authority, "language": "de",
            },
        }, file)


def examine(message):
    assert message["From"].addresses[0].display_name == "Größe & Co", message["From"]
    assert message["From"].addresses[0].addr_spec == "login@example.com"
    assert message["To"] == "anna@example.org"
    assert message["Subject"] == "Test-E-Mail von login.example", message["Subject"]
    assert message["Date"].datetime.tzinfo is not None
    assert message["Message-ID"].endswith("@example.com>") and message["Auto-Submitted"] == "auto-generated"
    for part in message.walk():
        assert not part.defects, part.defects
        for name in part.keys():
            assert not part[name].defects, (name, part[name].defects)
    assert message.get_content_type() == "multipart/alternative"
    parts = list(message.iter_parts())
    assert [part.get_content_type() for part in parts] == ["text/plain", "text/html"]
    assert message.get_body(("plain",)).get_content().startswith("Das ist eine Test-E-Mail von login.example."), parts
    assert "<title>Test-E-Mail von login.example</title>" in message.get_body(("html",)).get_content()


relay = Relay(Receiver(), hostname="127.0.0.1", port=0)
relay.start()
try:
    configure("sojourn.json5", PASSWORD)
    result = run("mail", "check")
    assert result.returncode == 0 and "the relay would take mails" in result.stdout, result
    assert not Receiver.mails

    result = run("mail", "test", "anna@example.org", "--json")
    answer = json.loads(result.stdout)
    assert result.returncode == 0 and answer["taken"] is True, result
    assert [step["step"] for step in answer["steps"]][:5] == ["greeting", "EHLO", "STARTTLS", "EHLO", "AUTH"], answer
    assert PASSWORD not in result.stdout + result.stderr
    (session, envelope), = Receiver.mails
    assert session.ssl and session.authenticated and session.host_name == "login.example"
    assert envelope.mail_from == "login@example.com" and envelope.rcpt_tos == ["anna@example.org"]
    examine(email.message_from_bytes(envelope.content, policy=email.policy.SMTP))

    configure("wrong.json5", "falsch")
    result = run("mail", "test", "anna@example.org", config="wrong.json5")
    assert result.returncode == 1 and "AUTH: 535" in result.stderr, result
    # A relay with a certificate of another authority gets no password.
    configure("other.json5", PASSWORD, "/etc/ssl/certs/ca-certificates.crt")
    result = run("mail", "check", config="other.json5")
    assert result.returncode == 1 and "untrusted" in result.stderr, result
    assert len(Receiver.mails) == 1
finally:
    relay.stop()
print("the mail is well-formed")
