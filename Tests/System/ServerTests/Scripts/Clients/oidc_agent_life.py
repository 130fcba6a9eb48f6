"""oidc-agent, a program of Debian's package oidc-agent-cli: discovery, login by password, a refresh by itself for each token that
has ended, and the end of the session when its account is deleted."""

import os
import signal
import subprocess
import tempfile

import requests

import stage


def main():
    user = stage.make_user("olga")
    # It asks for offline_access by itself.
    secret = stage.make_client("agent", "client_secret_basic", scope="openid offline_access read")
    assert stage.metadata()["scopes_supported"] == ["openid", "read", "write"]
    with tempfile.TemporaryDirectory(prefix="agent-") as folder:
        socket = folder + "/socket"
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": folder, "OIDC_CONFIG_DIR": folder, "OIDC_SOCK": socket,
            "OIDC_ENCRYPTION_PW": "for its own file",
        }

        def run(*words):
            result = subprocess.run(
                words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
            assert result.returncode == 0, (words[:2], result.stdout, result.stderr)
            return result.stdout.strip()

        agent = subprocess.Popen(
            ["/usr/bin/oidc-agent", "--console", "--quiet", "--socket-path=" + socket], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            stage.wait_for_file(socket)
            life(run, secret, user)
        finally:
            # It is two processes, the first of which is deaf while it waits for the second.
            os.killpg(agent.pid, signal.SIGKILL)
            agent.wait()


def life(run, secret, user):
    run(
        "oidc-gen", "account", "--manual", "--flow=password", "--iss=" + stage.PUBLIC, "--client-id=agent",
        "--client-secret=" + secret, "--scope=openid read", "--op-username=olga", "--op-password=" + stage.PASSWORD,
        "--cert-path=" + os.environ["SSL_CERT_FILE"], "--pw-env", "--prompt=none", "--confirm-yes")
    seen = []
    for _ in range(3):
        token = run("oidc-token", "account")
        assert requests.get(stage.PUBLIC + "/v1/me", headers={"Authorization": "Bearer " + token}).ok
        assert token not in seen, "it was not renewed"
        seen.append(token)
        stage.wait_for_expiry()
    sessions = stage.admin("GET", f"/users/{user}/sessions")["items"]
    assert len(sessions) == 1 and "ended_at" not in sessions[0], sessions
    run("oidc-gen", "--delete", "account", "--pw-env", "--confirm-yes")
    assert stage.admin("GET", f"/users/{user}/sessions")["items"][0]["ended_reason"] == "logged_out"


main()
