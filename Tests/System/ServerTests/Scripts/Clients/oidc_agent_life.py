"""oidc-agent, a program of Debian's package oidc-agent-cli: discovery, login by password, a refresh by itself for each token that
has ended, and the end of the session when its account is deleted."""

import os

import requests

import oidc_agent
import stage


def main():
    user = stage.make_user("olga")
    # It asks for offline_access by itself.
    secret = stage.make_client("agent", "client_secret_basic", scope="openid offline_access read")
    assert stage.metadata()["scopes_supported"] == ["openid", "read", "write"]
    with oidc_agent.running() as agent:
        life(agent.run, secret, user)


def life(run, secret, user):
    run(
        "oidc-gen", "account", "--manual", "--flow=password", "--iss=" + stage.PUBLIC, "--client-id=agent",
        "--client-secret=" + secret, "--scope=openid read", "--op-username=olga", "--op-password=" + stage.PASSWORD,
        "--cert-path=" + os.environ["SSL_CERT_FILE"], "--pw-env", "--prompt=none", "--confirm-yes")
    seen = []
    for _ in range(3):
        token = run("oidc-token", "account", "--time=2")
        assert requests.get(stage.PUBLIC + "/v1/me", headers={"Authorization": "Bearer " + token}).ok
        assert token not in seen, "it was not renewed"
        seen.append(token)
        stage.wait_for_expiry()
    sessions = stage.admin("GET", f"/users/{user}/sessions")["items"]
    assert len(sessions) == 1 and "ended_at" not in sessions[0], sessions
    run("oidc-gen", "--delete", "account", "--pw-env", "--confirm-yes")
    assert stage.admin("GET", f"/users/{user}/sessions")["items"][0]["ended_reason"] == "logged_out"


main()
