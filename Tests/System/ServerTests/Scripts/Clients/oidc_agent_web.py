"""oidc-agent, a program of Debian's package oidc-agent-cli, logs in on the server's page: authorization code with PKCE, back to a
port of this machine that it has chosen itself, then a refresh by itself, and the end of the session with its account."""

import os
import re
import socket

import requests

import oidc_agent
import stage
from browser import Browser


def main():
    user = stage.make_user("olga")
    # The port is that of the moment, so that the registered URI has none.
    secret = stage.make_client(
        "agent", "client_secret_basic", scope="openid offline_access read",
        grant_types=["authorization_code", "refresh_token"], redirect_uris=["http://localhost"])
    with oidc_agent.running() as agent:
        life(agent, secret, user)


def free_port():
    # oidc-gen takes no port above 49151, and the system gives such ports as well.
    for port in range(20_000 + os.getpid() % 10_000, 49_152):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no port is free")


def life(agent, secret, user):
    process = agent.start(
        "oidc-gen", "account", "--manual", "--flow=code", "--iss=" + stage.PUBLIC, "--client-id=agent",
        "--client-secret=" + secret, "--scope=openid read", f"--redirect-uri=http://localhost:{free_port()}",
        "--cert-path=" + os.environ["SSL_CERT_FILE"], "--pw-env", "--prompt=none", "--confirm-yes", "--no-url-call",
        "--no-scheme")
    try:
        seen = ""
        while not (found := re.search(rf"{re.escape(stage.PUBLIC)}/oauth/authorize\?\S+", seen)):
            line = process.stdout.readline()
            assert line, seen
            seen += line
        url = found[0]
        assert "code_challenge_method=S256" in url and "state=" in url, url
        answer = requests.get(Browser().code_for(url, "olga"), timeout=20)
        assert answer.ok, answer.text
        rest, _ = process.communicate(timeout=30)
        assert process.returncode == 0, seen + rest
    finally:
        process.kill()
    tokens = set()
    for _ in range(2):
        token = agent.run("oidc-token", "account", "--time=2")
        assert requests.get(stage.PUBLIC + "/v1/me", headers={"Authorization": "Bearer " + token}).ok
        tokens.add(token)
        stage.wait_for_expiry()
    assert len(tokens) == 2, "it was not renewed"
    [session] = stage.admin("GET", f"/users/{user}/sessions")["items"]
    assert session["client_id"] == "agent" and "ended_at" not in session, session
    agent.run("oidc-gen", "--delete", "account", "--pw-env", "--confirm-yes")
    assert stage.admin("GET", f"/users/{user}/sessions")["items"][0]["ended_reason"] == "logged_out"


main()
