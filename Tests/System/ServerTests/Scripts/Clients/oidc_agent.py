"""A running oidc-agent, a program of Debian's package oidc-agent-cli, with a folder of its own."""

import contextlib
import os
import signal
import subprocess
import tempfile

import stage


class Agent:
    """What calls it."""

    def __init__(self, folder):
        self.socket = folder + "/socket"
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": folder, "OIDC_CONFIG_DIR": folder, "OIDC_SOCK": self.socket,
            "OIDC_ENCRYPTION_PW": "for its own file",
        }

    def start(self, *words):
        """A call that goes on."""
        return subprocess.Popen(
            words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)

    def run(self, *words):
        result = subprocess.run(
            words, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
        assert result.returncode == 0, (words[:2], result.stdout, result.stderr)
        return result.stdout.strip()


@contextlib.contextmanager
def running():
    with tempfile.TemporaryDirectory(prefix="agent-") as folder:
        agent = Agent(folder)
        process = subprocess.Popen(
            ["/usr/bin/oidc-agent", "--console", "--quiet", "--socket-path=" + agent.socket], env=agent.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            stage.wait_for_file(agent.socket)
            yield agent
        finally:
            # It is two processes, the first of which is deaf while it waits for the second.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
