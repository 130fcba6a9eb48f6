"""Phones that keep the rules of the SDK for a refresh, admins that end their sessions, and the account of both.

A phone presents the token that it has stored, with the same `Idempotency-Key` at each attempt, at any node. It waits as
`Retry-After` says, and takes nothing for an end but `"reauthenticate": true`. What it must never see is counted.
"""

import asyncio
import base64
import hashlib
import hmac
import random
import secrets
import time

import calls
import machines

#: Seconds, `rotation_interval`: phones that refresh more often get the same token, the others a new one.
W = 20
DEVICE = {"name": "Phone", "platform": "ios"}


class Account:
    """What was counted, and the first of what must not be."""

    def __init__(self):
        self.refreshes = self.rotations = self.retries = self.logins = 0
        self.lost, self.logged_out, self.wrong, self.disobeyed = [], [], [], []
        self.endings = self.obeyed = 0
        self.last, self.gap = time.monotonic(), 0.0

    def refreshed(self, rotated):
        now = time.monotonic()
        self.gap, self.last = max(self.gap, now - self.last), now
        self.refreshes += 1
        self.rotations += rotated

    def take_gap(self):
        """The longest time without a refresh since the last call."""
        gap, self.gap = max(self.gap, time.monotonic() - self.last), 0.0
        self.last = time.monotonic()
        return gap


class Fleet:
    """The nodes as phones and admins see them."""

    def __init__(self, cluster, rng):
        self.public = [calls.Caller(node.port) for node in cluster.nodes]
        self.admins = [calls.Caller(node.admin_port) for node in cluster.nodes]
        self.rng, self.account, self.is_over = rng, Account(), False
        self.ended = []

    async def admin(self, method, path, body=None, expected=(200, 201, 204)):
        """Asks any node until one has acknowledged it: each of these calls may be repeated."""
        fields = {"Authorization": "Bearer " + machines.ADMIN_KEY}
        while True:
            answer = await self.rng.choice(self.admins).ask(method, "/admin/v1" + path, body, fields, 15)
            if answer and answer.status in expected:
                return answer
            if answer and answer.status < 500 and answer.status not in (408, 429):
                raise machines.Failed(f"{method} {path}: {answer}")
            await asyncio.sleep(self.rng.uniform(0.2, 1))

    async def everywhere(self, ask):
        """What each node answers, in turn; a node that is down is asked again, for two minutes at most."""
        async def one(index):
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline:
                answer = await ask(self.public[index])
                if answer and answer.status < 500 and answer.status not in (408, 429):
                    return answer
                await asyncio.sleep(0.3)
            return None

        return await asyncio.gather(*(one(index) for index in range(len(self.public))))


class Phone:
    def __init__(self, fleet, user, number):
        self.fleet, self.user, self.id = fleet, user, f"phone-{number}"
        # An address of its own, so that the limits for addresses see phones, not this script.
        self.fields = {"X-Forwarded-For": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"}
        self.lock, self.is_ending = asyncio.Lock(), False
        self.session = self.refresh_token = self.access_token = None

    async def log_in(self):
        path, body = f"/users/{self.user}/sessions", {"device": DEVICE | {"id": self.id}}
        answer = await self.fleet.admin("POST", path, body, expected=(200,))
        self.secret, self.is_ending = secrets.token_bytes(32), False
        self.store(answer.json)
        self.fleet.account.logins += 1

    def store(self, tokens):
        rotated = tokens["refresh_token"] != self.refresh_token
        self.session, self.refresh_token = tokens["session_id"], tokens["refresh_token"]
        self.access_token, self.issued_at = tokens["access_token"], tokens["issued_at"]
        return rotated

    async def present(self, caller, seconds=W / 4):
        digest = hmac.digest(self.secret, self.refresh_token.encode(), hashlib.sha256)
        key = base64.urlsafe_b64encode(digest).decode()[:22]
        body = {"refresh_token": self.refresh_token, "device_id": self.id, "sent_at": int(time.time())}
        return await caller.ask("POST", "/v1/refresh", body, self.fields | {"Idempotency-Key": key}, seconds)

    async def verify(self, caller):
        fields = self.fields | {"Authorization": "Bearer " + self.access_token}
        return await caller.ask("GET", "/v1/verify", None, fields)

    async def refresh(self):
        """One renewal: attempts at any node until there is a verdict. Returns whether the session goes on."""
        account, rng = self.fleet.account, self.fleet.rng
        attempt = 0
        while not self.fleet.is_over:
            answer = await self.present(rng.choice(self.fleet.public))
            if answer and answer.status == 200:
                account.refreshed(self.store(answer.json))
                return True
            if answer and answer.status < 500 and answer.status not in (408, 429):
                return self.refused(answer)
            if answer and answer.reauthenticate is not None:
                account.wrong.append(f"{self.id}: {answer}")
            account.retries += 1
            # In the SDK: 0.5 and 2 seconds within one renewal, then up to 60. A soak does not wait so long.
            limit = [0.5, 2, 5, 10][min(attempt, 3)]
            attempt += 1
            await asyncio.sleep((answer and answer.retry_after) or rng.uniform(0, limit))
        return True

    def refused(self, answer):
        """A verdict that is not an answer with tokens: right only if an admin has asked for the end."""
        account = self.fleet.account
        if answer.reauthenticate is not True:
            account.wrong.append(f"{self.id}: {answer}")
        if not self.is_ending:
            account.logged_out.append(f"{self.id}: session {self.session}: {answer}")
            if answer.reason in ("unknown_session", "refresh_token_reused"):
                account.lost.append(f"{self.id}: session {self.session}: {answer}")
        elif answer.reason != "revoked_by_admin":
            account.wrong.append(f"{self.id}: {answer}")
        return False

    async def run(self):
        """Refreshes until the soak is over; logs in again after an end."""
        rng = self.fleet.rng
        await self.log_in()
        while not self.fleet.is_over:
            # Most phones are busy, some sleep for longer than W, so that their token is a new one each time.
            await asyncio.sleep(rng.uniform(W, 1.5 * W) if rng.random() < 0.1 else rng.uniform(0.2, 4))
            async with self.lock:
                if self.fleet.is_over:
                    break
                if not await self.refresh():
                    if not self.is_ending:
                        await self.log_in()
            while self.is_ending and not self.fleet.is_over:
                await asyncio.sleep(0.1)


class Ending:
    """A session that an admin has ended, with the tokens that it had."""

    def __init__(self, phone):
        self.session, self.id = phone.session, phone.id
        self.phone = Phone(phone.fleet, phone.user, 0)
        self.phone.__dict__ |= phone.__dict__

    async def check(self):
        """Whether every node refuses both tokens, with the word of this end and `reauthenticate`."""
        fleet, problems = self.phone.fleet, []
        for name, ask in ("refresh", self.phone.present), ("verify", self.phone.verify):
            for number, answer in enumerate(await fleet.everywhere(ask), 1):
                if not answer:
                    problems.append(f"node-{number} does not answer")
                elif answer.status == 200:
                    problems.append(f"node-{number} obeys no end: {name} of {self.session}")
                elif answer.reauthenticate is not True or answer.reason != "revoked_by_admin":
                    fleet.account.wrong.append(f"node-{number}: {name} of {self.session}: {answer}")
        return problems


async def end_sessions(fleet, phones, per_second):
    """Ends sessions at random: one, or all of a user. Each end that is acknowledged is checked at every node."""
    while not fleet.is_over:
        await asyncio.sleep(fleet.rng.expovariate(per_second))
        phone = fleet.rng.choice(phones)
        if phone.is_ending or not phone.session:
            continue
        phone.is_ending = True
        if fleet.rng.random() < 0.5:
            answer = await fleet.admin("DELETE", f"/sessions/{phone.session}", expected=(204, 404))
        else:
            answer = await fleet.admin("POST", f"/users/{phone.user}/revoke", {}, expected=(200, 404))
        if answer.status == 404:
            fleet.account.lost.append(f"{phone.id}: session {phone.session}: {answer}")
        async with phone.lock:
            ending = Ending(phone)
            problems = await ending.check()
            fleet.account.endings += 1
            fleet.account.obeyed += not problems
            fleet.account.disobeyed += problems
            fleet.ended.append(ending)
            if not fleet.is_over:
                await phone.log_in()


async def check_endings(fleet, endings):
    """Asks again for ends of before a fault: one that holds no more was lost."""
    width = asyncio.Semaphore(8)

    async def one(ending):
        async with width:
            fleet.account.lost += await ending.check()

    await asyncio.gather(*(one(ending) for ending in endings))
    return len(endings)
