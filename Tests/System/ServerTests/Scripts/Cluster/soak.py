"""Loads a whole cluster, breaks it again and again, and says whether anything that was acknowledged was lost.

usage: .ci/soak BINARY [--minutes 10] [--report FILE] [--faults node,crash,…] [--phones 240] [--seed N] [--etcd 3]
"""

import argparse
import asyncio
import importlib.metadata
import json
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import faults
import machines
import phones


def options():
    parser = argparse.ArgumentParser(prog=".ci/soak", description=__doc__.split("\n")[0])
    parser.add_argument("binary", help="the program, best a release build")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--report", help="also write the report to this file, as JSON")
    parser.add_argument("--faults", default=",".join(faults.ALL), help="which, in this order, again and again")
    parser.add_argument("--pause", type=float, default=8, help="seconds of rest after each fault")
    parser.add_argument("--phones", type=int, default=400)
    parser.add_argument("--endings", type=float, default=4, help="ends of sessions in a second")
    parser.add_argument("--etcd", type=int, choices=(2, 3), default=3, help="the API of etcd that Patroni uses")
    parser.add_argument("--asynchronous", action="store_true", help="replicate without waiting, to see what is lost")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    return parser.parse_args()


class Soak:
    def __init__(self, options, cluster):
        self.options, self.cluster, self.rng = options, cluster, random.Random(options.seed)
        self.fleet = phones.Fleet(cluster, random.Random(options.seed + 1))
        self.rows, self.failures, self.rechecked = [], [], 0

    async def fault(self, name):
        """One fault, the time until all is whole again, and the ends of before once more."""
        account, begin = self.fleet.account, time.monotonic()
        refreshes, ended = account.refreshes, list(self.fleet.ended[-100:])
        account.take_gap()
        where = await asyncio.to_thread(faults.ALL[name], self.cluster, self.rng)
        await asyncio.to_thread(machines.wait_for, f"whole after {name}", self.cluster.is_whole, 240)
        row = {
            "fault": name, "of": where, "whole_after": round(time.monotonic() - begin, 1),
            "without_a_refresh": round(account.take_gap(), 1), "refreshes": account.refreshes - refreshes,
        }
        self.rechecked += await phones.check_endings(self.fleet, ended)
        self.rows.append(row)
        print(f"· {json.dumps(row)}", file=sys.stderr, flush=True)

    async def faults(self, deadline):
        names = [name for name in self.options.faults.split(",") if name]
        while time.monotonic() < deadline:
            for name in names:
                await asyncio.sleep(self.options.pause)
                if time.monotonic() < deadline:
                    await self.fault(name)
            if not names:
                await asyncio.sleep(1)

    async def run(self):
        """The load, the faults, and at the end a look at everything once more."""
        fleet = self.fleet
        await fleet.admin("PUT", "/settings/sessions", {"rotation_interval": phones.W})
        all_phones = []
        for number in range(self.options.phones):
            user = await fleet.admin("POST", "/users", {"username": f"user-{number}"})
            all_phones.append(phones.Phone(fleet, user.json["user_id"], number))
        begin = time.monotonic()
        tasks = [asyncio.create_task(phone.run()) for phone in all_phones]
        # Several admins, because each waits until every node has answered.
        admins = 8
        for _ in range(admins):
            tasks.append(asyncio.create_task(phones.end_sessions(fleet, all_phones, self.options.endings / admins)))
        broken = asyncio.create_task(self.faults(begin + 60 * self.options.minutes))
        await asyncio.wait([broken, *tasks], return_when=asyncio.FIRST_COMPLETED)
        fleet.is_over = True
        # What any of them has raised ends the soak, and is told.
        for failure in await asyncio.gather(broken, *tasks, return_exceptions=True):
            if isinstance(failure, BaseException):
                self.failures.append(repr(failure))
        self.seconds = time.monotonic() - begin
        await self.look(all_phones)
        return self.report()

    async def look(self, all_phones):
        """Every end still holds at every node, and every phone still refreshes at every node."""
        account = self.fleet.account
        self.rechecked += await phones.check_endings(self.fleet, self.fleet.ended)
        for phone in all_phones:
            if phone.is_ending:
                continue
            for number, answer in enumerate(await self.fleet.everywhere(phone.present), 1):
                if not answer or answer.status != 200:
                    account.lost.append(f"node-{number}: at the end {phone.id}: session {phone.session}: {answer}")
        # A token that is newer than the database tells of an acknowledged refresh that is gone.
        cursor = ""
        while True:
            page = (await self.fleet.admin("GET", f"/events?limit=200{cursor}", expected=(200,))).json
            account.lost += [f"{item}" for item in page["items"] if item["event"] == "session_restored"]
            if not page.get("next_cursor"):
                break
            cursor = "&cursor=" + page["next_cursor"]

    def report(self):
        account = self.fleet.account
        return {
            "seconds": round(self.seconds), "seed": self.options.seed, "phones": self.options.phones,
            "patroni": importlib.metadata.version("patroni"), "etcd_api": self.options.etcd,
            "refreshes": account.refreshes, "new_tokens": account.rotations, "repeated_attempts": account.retries,
            "logins": account.logins, "lost": len(account.lost), "logged_out": len(account.logged_out),
            "wrong_reauthenticate": len(account.wrong), "endings": account.endings,
            "endings_obeyed_at_every_node": account.obeyed, "endings_checked_again": self.rechecked,
            "faults": self.rows,
            "problems": (self.failures + account.lost + account.logged_out + account.wrong + account.disobeyed)[:100],
        }


def is_good(report):
    bad = report["lost"] + report["logged_out"] + report["wrong_reauthenticate"] + len(report["problems"])
    return bad == 0 and report["endings"] == report["endings_obeyed_at_every_node"] and report["refreshes"] > 0


def main():
    chosen = options()
    unknown = [name for name in chosen.faults.split(",") if name and name not in faults.ALL]
    if unknown:
        raise SystemExit(f"soak: no such fault: {', '.join(unknown)}; there are {', '.join(faults.ALL)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sojourn-soak-", dir="/tmp"))
    folder.chmod(0o755)
    cluster, report = None, None
    try:
        cluster = machines.Cluster(chosen.binary, folder, chosen.etcd, not chosen.asynchronous)
        cluster.start()
        report = asyncio.run(Soak(chosen, cluster).run())
    except machines.Failed as failure:
        print(f"soak: {failure}", file=sys.stderr)
    finally:
        if cluster:
            cluster.end()
        if chosen.keep or not report or not is_good(report):
            print(f"soak: the logs are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if not report:
        return 1
    text = json.dumps(report, indent=2)
    if chosen.report:
        pathlib.Path(chosen.report).write_text(text + "\n")
    print(text)
    good = is_good(report)
    obeyed = f"{report['endings_obeyed_at_every_node']} of {report['endings']} endings obeyed"
    print(f"{report['refreshes']} refreshes, {report['lost']} lost, {report['logged_out']} logged out, "
          f"{report['wrong_reauthenticate']} wrong reauthenticate, {obeyed}: {'good' if good else 'FAILED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
