"""Processes of a cluster on this machine: etcd, three PostgreSQL under Patroni, HAProxy, PgBouncer, nodes of Sojourn.

All listen at free ports of 127.0.0.1 and keep what they write below one folder. Each is ended by its id, with the
processes that it has started. Started by root, all run as the user `postgres`, because PostgreSQL refuses root.
"""

import ctypes
import glob
import json
import os
import pathlib
import pwd
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[5]
PASSWORD = secrets.token_hex(16)
ADMIN_KEY = secrets.token_hex(32)
LIBC = ctypes.CDLL(None)


class Failed(Exception):
    """The cluster is not what the soak needs."""


def free_port(taken=set()):
    """A port of 127.0.0.1 that is free, below those that connections get by themselves."""
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket() as probe:
            if port not in taken and probe.connect_ex(("127.0.0.1", port)):
                taken.add(port)
                return port


def wait_for(what, check, seconds=90):
    """The first answer of `check` that is true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = check()
        if answer:
            return answer
        time.sleep(0.2)
    raise Failed(f"{what}: not within {seconds} s")


def ask(url, body=None, seconds=3):
    """Status and JSON of an answer of Patroni or of a node; 0 if there is none."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    except (OSError, ValueError):
        return 0, None
    try:
        return status, json.loads(text)
    except ValueError:
        return status, None


def family(pid):
    """A process and all that it has started, which may have sessions of their own."""
    children = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            fields = pathlib.Path(path).read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.split("/")[2]))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def title(pid):
    """The words of a process, or what PostgreSQL calls it: `postgres: sojourn: walreceiver`."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0 ").decode()
    except OSError:
        return ""
    return words.split(" streaming")[0].strip()


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Process:
    """A program that can be started again."""

    def __init__(self, cluster, name, words, environment=None, home=None):
        self.cluster, self.name, self.words = cluster, name, [str(word) for word in words]
        self.environment, self.home = environment or {}, home or cluster.folder
        self.process = None

    def start(self):
        def dies_with_its_parent():
            LIBC.prctl(1, signal.SIGKILL)

        account = self.cluster.account
        user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
        home = {"HOME": str(self.home), "PATH": os.environ["PATH"] + ":/usr/sbin"}
        with open(self.cluster.folder / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.home,
                env=home | self.environment, start_new_session=True, preexec_fn=dies_with_its_parent, **user,
            )

    def family(self):
        return family(self.process.pid)

    def kill(self):
        send([self.process.pid], signal.SIGKILL)
        self.process.wait()

    def stop(self):
        send([self.process.pid], signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


class Member:
    """A PostgreSQL and the Patroni that looks after it."""

    def __init__(self, cluster, number):
        self.cluster, self.name = cluster, f"db-{number}"
        self.port, self.api = free_port(), free_port()
        self.data = cluster.folder / self.name
        address, api = f"127.0.0.1:{self.port}", f"127.0.0.1:{self.api}"
        configuration = yaml.safe_load((ROOT / "config/patroni.yml").read_text())
        parameters = configuration["postgresql"]["parameters"]
        # What is about the size of a machine, and where its sockets are.
        parameters |= {"unix_socket_directories": str(cluster.folder), "shared_buffers": "64MB"}
        configuration["bootstrap"]["dcs"]["postgresql"]["parameters"] |= {
            "max_wal_size": "512MB", "min_wal_size": "128MB", "wal_keep_size": "256MB",
        }
        configuration["bootstrap"]["initdb"].append({"username": "postgres"})
        if not cluster.is_synchronous:
            configuration["bootstrap"]["dcs"] |= {"synchronous_mode": False, "synchronous_mode_strict": False}
        file = cluster.folder / f"{self.name}.yml"
        file.write_text(yaml.safe_dump(configuration))
        environment = {
            "PATRONI_NAME": self.name, "PATRONI_RESTAPI_LISTEN": api, "PATRONI_RESTAPI_CONNECT_ADDRESS": api,
            cluster.protocol: f"127.0.0.1:{cluster.etcd_port}",
            "PATRONI_POSTGRESQL_LISTEN": address, "PATRONI_POSTGRESQL_CONNECT_ADDRESS": address,
            "PATRONI_POSTGRESQL_DATA_DIR": str(self.data), "PATRONI_POSTGRESQL_BIN_DIR": cluster.binaries,
            "PATRONI_POSTGRESQL_PGPASS": str(cluster.folder / f"{self.name}.pgpass"),
            "PATRONI_SUPERUSER_USERNAME": "postgres", "PATRONI_SUPERUSER_PASSWORD": PASSWORD,
            "PATRONI_REPLICATION_USERNAME": "replicator", "PATRONI_REPLICATION_PASSWORD": PASSWORD,
        }
        self.patroni = Process(cluster, self.name, [sys.executable, "-P", "-m", "patroni", file], environment)
        self.url = f"http://{api}"

    def postmaster(self):
        """The id of PostgreSQL, which has a session of its own."""
        try:
            return int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None

    def is_primary(self):
        return ask(self.url + "/primary")[0] == 200

    def processes(self):
        pid = self.postmaster()
        return self.patroni.family() + (family(pid) if pid and pathlib.Path(f"/proc/{pid}").exists() else [])


class Node:
    """A node of Sojourn."""

    def __init__(self, cluster, binary, number, database):
        self.name = f"node-{number}"
        self.port, self.admin_port = free_port(), free_port()
        home = cluster.folder / self.name
        home.mkdir()
        environment = {
            "SOJOURN_ROOT_KEY": cluster.root_key, "SOJOURN_ADMIN_KEY": ADMIN_KEY,
            "SOJOURN_SERVER_ISSUER": "http://127.0.0.1:1", "SOJOURN_SERVER_TRUSTED_PROXIES": "127.0.0.1",
        }
        words = [
            binary, "serve", "--database", database, "--public", f"127.0.0.1:{self.port}",
            "--admin", f"127.0.0.1:{self.admin_port}", "--log-level", "notice",
        ]
        self.process = Process(cluster, self.name, words, environment, home)

    def is_ready(self):
        return ask(f"http://127.0.0.1:{self.port}/readyz")[0] == 200


class Cluster:
    """All of them, in a folder that is gone afterwards."""

    def __init__(self, binary, folder, etcd_api, is_synchronous=True):
        self.folder, self.root_key = pathlib.Path(folder), secrets.token_hex(32)
        self.is_synchronous = is_synchronous
        self.account = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        self.binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.protocol = "PATRONI_ETCD_HOST" if etcd_api == 2 else "PATRONI_ETCD3_HOST"
        # A program of a folder that this user cannot enter is copied.
        program = self.folder / "sojourn"
        shutil.copy(binary, program)
        self.etcd_port, peer = free_port(), free_port()
        client, between = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{peer}"
        self.etcd = Process(self, "etcd", [
            "etcd", "--name", "etcd", "--data-dir", self.folder / "etcd",
            f"--enable-v2={'true' if etcd_api == 2 else 'false'}",
            "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", between,
            "--initial-advertise-peer-urls", between, "--initial-cluster", f"etcd={between}",
        ])
        self.members = [Member(self, number) for number in (1, 2, 3)]
        self.haproxy_port, self.bouncer_port = free_port(), free_port()
        addresses = {"DB_LISTEN": f"127.0.0.1:{self.haproxy_port}"}
        for number, member in enumerate(self.members, 1):
            addresses |= {f"DB_{number}": f"127.0.0.1:{member.port}", f"DB_{number}_API": str(member.api)}
        self.haproxy = Process(self, "haproxy", ["haproxy", "-db", "-f", ROOT / "config/haproxy.cfg"], addresses)
        if not os.access(ROOT, os.X_OK) or self.account:
            self.haproxy.words[-1] = str(shutil.copy(ROOT / "config/haproxy.cfg", self.folder))
        (self.folder / "pgbouncer.ini").write_text(self.bouncer_configuration())
        (self.folder / "users").write_text(f'"sojourn" "{PASSWORD}"\n')
        self.bouncer = Process(self, "pgbouncer", ["pgbouncer", self.folder / "pgbouncer.ini"])
        database = f"postgres://sojourn:{PASSWORD}@127.0.0.1:{self.bouncer_port}/sojourn"
        self.nodes = [Node(self, program, number, database) for number in (1, 2, 3)]

    def bouncer_configuration(self):
        return f"""
            [databases]
            sojourn = host=127.0.0.1 port={self.haproxy_port} dbname=sojourn
            [pgbouncer]
            pool_mode = transaction
            default_pool_size = 20
            max_client_conn = 200
            server_connect_timeout = 3
            server_login_retry = 1
            auth_type = scram-sha-256
            auth_file = {self.folder}/users
            listen_addr = 127.0.0.1
            listen_port = {self.bouncer_port}
            unix_socket_dir =
        """

    def start(self):
        if self.account:
            for path in [self.folder, *self.folder.rglob("*")]:
                os.chown(path, self.account.pw_uid, self.account.pw_gid)
        self.etcd.start()
        wait_for("etcd", lambda: ask(f"http://127.0.0.1:{self.etcd_port}/health")[0] == 200)
        self.members[0].patroni.start()
        wait_for("the first primary", self.members[0].is_primary)
        for member in self.members[1:]:
            member.patroni.start()
        self.haproxy.start()
        self.bouncer.start()
        wait_for("a synchronous standby", lambda: self.synchronous(), 180)
        self.sql("postgres", f"CREATE ROLE sojourn LOGIN PASSWORD '{PASSWORD}'")
        self.sql("postgres", "CREATE DATABASE sojourn OWNER sojourn")
        for node in self.nodes:
            node.process.start()
            wait_for(node.name, node.is_ready)

    def sql(self, database, statement):
        """The rows of a statement at the primary, by HAProxy."""
        address = ["-h", "127.0.0.1", "-p", str(self.haproxy_port), "-U", "postgres"]
        environment = {"PGPASSWORD": PASSWORD, "PATH": self.binaries}
        words = ["psql", "-XAtq", *address, "-c", statement, database]
        result = subprocess.run(words, env=environment, capture_output=True, text=True)
        if result.returncode:
            raise Failed(f"{statement}: {result.stderr}")
        return result.stdout.strip()

    def primary(self):
        return next((member for member in self.members if member.is_primary()), None)

    def synchronous(self):
        """The standby without which nothing is acknowledged; any standby, if there is none."""
        path = "/synchronous" if self.is_synchronous else "/replica"
        return next((member for member in self.members if ask(member.url + path)[0] == 200), None)

    def is_whole(self):
        """A primary, a synchronous standby, a second standby, and each node is ready."""
        if not (self.primary() and self.synchronous()):
            return False
        roles = [ask(member.url + "/replica")[0] for member in self.members]
        return roles.count(200) == 2 and all(node.is_ready() for node in self.nodes)

    def end(self):
        """Ends every process."""
        pids = []
        for process in [node.process for node in self.nodes] + [self.bouncer, self.haproxy]:
            pids += process.family() if process.process else []
        for member in self.members:
            pids += member.processes() if member.patroni.process else []
        pids += self.etcd.family() if self.etcd.process else []
        send(pids, signal.SIGCONT)
        send(pids, signal.SIGKILL)
