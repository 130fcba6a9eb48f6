"""A session that a tool keeps: logins, renewals and sign-outs over the parts of `sojourn_parts`.

    session = Session("https://login.example", "tool", FileStore(folder), Keys(folder))
    session.start()
    session.sign_in("anna", "correct horse battery staple")
    status, fields, text = session.call("https://api.example/orders")

The numbers in parentheses are the rules of "How an app stays signed in".
"""

import concurrent.futures
import contextlib
import email.utils
import http.client
import json
import random
import secrets
import threading
import time
import urllib.parse

from sojourn_parts import (
    SESSION_MEMBERS, Clock, SessionError, StoreError, idempotency_key, members_of, proof, record_of, send, thumbprint,
    verdict)

WITHIN_RENEWAL, BETWEEN_RENEWALS, BEYOND_RETRY_AFTER = (0.5, 2), (5, 10, 30, 60), (10, 20)


class Session:
    """A session with one server. Its functions block, and may be called from several threads."""

    def __init__(self, server, client_id, store, keys=None, clock=None, send=send):
        self.server, self.client_id, self.store, self.keys, self.send = server.rstrip("/"), client_id, store, keys, send
        self.clock = clock or Clock()
        self._lock, self._debts_lock, self._flights = threading.Lock(), threading.Lock(), {}
        self._start, self._anchor, self._offset = (self.clock.wall(), self.clock.uptime()), None, 0
        self._failures = self._held_until = self._patient_until = 0
        self._is_servers_word, self._held, self._renewed_for_refusal = False, ("unreachable", None), -100
        self._nonce, self._sign_outs, self._is_demanded = None, 0, False
        self.state = {"state": "starting"}

    # Time, and the waits after failures

    def now(self):
        """The server's time, as far as it is known. It goes on by a clock that the user cannot set (8)."""
        server, uptime = self._anchor or (self._start[0] + self._offset, self._start[1])
        return int(server + self.clock.uptime() - uptime)

    def _asked(self, seconds):
        return seconds + random.random() if seconds else 0

    def _note_failure(self, retry_after=None):
        """Holds all callers back; those with a token that works for longer (9)."""
        failures, part, now = self._failures, random.random(), self.clock.uptime()
        self._failures, self._is_servers_word = failures + 1, retry_after is not None
        if retry_after is not None:
            self._held_until = now + self._asked(retry_after)
            self._patient_until = self._held_until + part * BEYOND_RETRY_AFTER[min(failures, 1)]
        else:
            longest = BETWEEN_RENEWALS[min(failures, 3)]
            self._held_until, self._patient_until = now + part * min(longest, 30), now + part * longest

    def _note_answer(self):
        self._failures = self._held_until = self._patient_until = 0

    def _wait_within(self, attempt, retry_after):
        longest = WITHIN_RENEWAL[attempt - 1]
        time.sleep(random.random() * longest if retry_after is None else self._asked(retry_after))

    # The store

    def load(self):
        """The version and the record, or None. It sets the state that follows from it."""
        try:
            stored = self.store.load()
            record = record_of(stored[1]) if stored else None
        except StoreError as error:
            # A store that cannot tell is no missing session (1). The state that was read before still counts.
            if self.state["state"] == "starting":
                self.state = {"state": "locked" if error.kind == "locked" else "store-failed"}
            raise
        if not record or not record.get("access_token"):
            self.state = {"state": "signed-out"}
        elif record.get("ended"):
            self.state = {"state": "ended", "reason": record["ended"].get("reason")}
        else:
            state = "presence-required" if self._is_demanded else "signed-in"
            self.state = {"state": state, "user": (record.get("user") or {}).get("username")}
        self._offset = (record or {}).get("clock_offset") or 0
        return (stored[0], record) if record else None

    def _update(self, change):
        """Changes the stored record, as often as another process is first. A change of None writes nothing."""
        for _ in range(16):
            loaded = self.load()
            changed = loaded and change(loaded[1])
            if not changed:
                return
            if self.store.replace(loaded[0], json.dumps(changed)):
                self.load()
                return
        raise SessionError("other", "the record changes all the time")

    def _take(self, record, answer):
        """The record with the members of an answer; those that the answer leaves out stay."""
        taken = {**record, **{name: answer[name] for name in SESSION_MEMBERS if answer.get(name) is not None}}
        taken["expires_at"] = answer.get("expires_at") or answer["issued_at"] + answer.get("expires_in", 3600)
        taken.pop("ended", None)
        if self._anchor:
            taken["clock_offset"] = self.now() - int(self.clock.wall())
        return taken

    def _owe(self, record):
        """The record without its session, of which the server has to be told unless it has ended it (13)."""
        rest = {name: value for name, value in record.items()
                if name not in (*SESSION_MEMBERS, "key_thumbprint", "ended")}
        if record.get("refresh_token") and not record.get("ended"):
            debt = {"session_id": record.get("session_id"), "token": record["refresh_token"], "kind": "refresh_token",
                    "key_thumbprint": record.get("key_thumbprint"), "expires_at": record.get("session_idle_expires_at")}
            rest["debts"] = [*record.get("debts", []), debt][-5:]
        return rest

    def _signed_out(self, record):
        return {**self._owe(record), "signed_out": True, "retry_secret": secrets.token_urlsafe(32)}

    # The wire

    def _exchange(self, method, url, fields, body, limit, is_key_gone=False):
        """The verdict on an answer, with what the answer says of time and nonces noted (8, 15)."""
        sent = self.clock.uptime()
        try:
            status, head, text = self.send(method, url, fields, body, limit)
        except (OSError, http.client.HTTPException):
            return "unreachable", None
        # The process may have stood still in between: a late answer is dropped (3).
        if self.clock.uptime() - sent > limit:
            return "unreachable", None
        body = members_of(text) or {}
        server = body.get("issued_at") if status == 200 else None
        if status != 200 and any(body.get(name) for name in ("reason", "code", "error")) and "age" not in head:
            with contextlib.suppress(ValueError, TypeError):
                server = email.utils.parsedate_to_datetime(head.get("date")).timestamp()
        if isinstance(server, (int, float)):
            self._anchor = server, self.clock.uptime()
        self._nonce = head.get("dpop-nonce", self._nonce)
        if status == 204:
            return "done", None
        return verdict(status, head, text, is_key_gone)

    def _raise(self, word, detail):
        code = word if word in ("suspended", "refused", "ended", "presence-required") else "unreachable"
        raise SessionError(code, detail if isinstance(detail, str) else None)

    # Renewals

    def access_token(self, need="usable", refused=None):
        """An access token and its type. `need`: `usable`, `fresh`, or `renewed`: another one than `refused`."""
        for _ in range(4):
            loaded = self.load()
            if not loaded or not loaded[1].get("access_token"):
                raise SessionError("not-signed-in")
            record, now = loaded[1], self.now()
            token = record["access_token"], record.get("token_type", "Bearer")
            if record.get("ended"):
                raise SessionError("ended", record["ended"].get("reason"))
            is_usable = record.get("expires_at", 0) - now >= 30
            is_refused = need == "renewed" and refused == token[0]
            # An API that refuses every token must not make every call a renewal.
            is_worth_it = is_refused and self.clock.uptime() - self._renewed_for_refusal >= 10
            if is_usable and now <= record.get("refresh_after", now) and not is_worth_it:
                return token
            # Due is not expired (10), and a time of the client's own ends no token (8).
            is_good = need == "usable" and is_usable
            fallback = token if is_good or (need == "usable" and not self._anchor) else None
            if (self._patient_until if is_good else self._held_until) > self.clock.uptime():
                return fallback or self._raise(*self._held)
            if is_refused:
                self._renewed_for_refusal = self.clock.uptime()
            word, detail = self._flight(loaded, 3 if is_good else None)
            if word == "overtaken":
                continue
            if word == "renewed":
                return detail["access_token"], detail.get("token_type", "Bearer")
            if word == "late" or (fallback and word not in ("ended", "not-signed-in", "presence-required")):
                return fallback or token
            raise SessionError(word) if word in ("not-signed-in", "locked") else self._raise(word, detail)
        raise SessionError("unreachable")

    def _flight(self, seen, seconds):
        """The outcome of the one renewal of this version (11); `late` if it takes longer. It goes on all the same."""
        with self._lock:
            flight = self._flights.get(seen[0])
            if not flight:
                flight = self._flights[seen[0]] = concurrent.futures.Future()
                threading.Thread(target=self._fly, args=(seen, flight), daemon=True).start()
        try:
            return flight.result(seconds)
        except concurrent.futures.TimeoutError:
            return "late", None

    def _fly(self, seen, flight):
        try:
            word, detail = self._renew(seen)
        except StoreError:
            word, detail = "locked", None
        except Exception:
            word, detail = "unreachable", None
        if word == "renewed":
            self._is_demanded = False
            self._note_answer()
        elif word not in ("overtaken", "not-signed-in", "ended"):
            self._is_demanded, self._held = word == "presence-required", (word, detail)
            self._note_failure(detail if word == "unreachable" else None)
        if self._is_demanded and self.state["state"] == "signed-in":
            self.state = {**self.state, "state": "presence-required"}
        with self._lock:
            self._flights.pop(seen[0])
        flight.set_result((word, detail))
        if word == "renewed":
            self._pay_in_background()

    def _renew(self, seen):
        """Signs, loads, sends, and swaps."""
        url, is_signed_again, attempt = self.server + "/oauth/token", False, 1
        while True:
            fields, is_key_gone = {"Content-Type": "application/x-www-form-urlencoded"}, False
            if seen[1].get("token_type", "").lower() == "dpop":
                key = self.keys.key()
                is_key_gone = not key or thumbprint(key) != seen[1].get("key_thumbprint")
                if not is_key_gone:
                    fields["DPoP"] = proof(key, "POST", url, self.now(), self._nonce)
            # Nothing that can wait stands between loading and sending (3).
            sent_at, loaded = self.now(), self.load()
            if not loaded or not loaded[1].get("access_token"):
                return "not-signed-in", None
            version, record = loaded
            if record.get("ended"):
                return "ended", record["ended"].get("reason")
            if version != seen[0]:
                return "overtaken", None
            form = urllib.parse.urlencode({
                "grant_type": "refresh_token", "refresh_token": record["refresh_token"], "client_id": self.client_id,
                "device_id": record["device_id"], "sent_at": sent_at, "id_token": "false"})
            fields["Idempotency-Key"] = idempotency_key(record["retry_secret"], record["refresh_token"])
            limit = min(20, max((record.get("rotation_interval") or 80) / 4, 0.5))
            word, detail = self._exchange("POST", url, fields, form, limit, is_key_gone)
            if word == "renewed":
                return self._commit(version, self._take(record, detail))
            if word == "ended":
                return self._commit(version, {**record, "ended": {"reason": detail, "at": self.now()}})
            if word == "sign-again" and not is_signed_again:
                is_signed_again = True
            elif word == "unreachable" and attempt < 3 and (detail or 0) <= 5:
                self._wait_within(attempt, detail)
                attempt += 1
            else:
                return ("unreachable", None) if word == "sign-again" else (word, detail)

    def _commit(self, version, record):
        """Stores the outcome, if the record that was presented is still stored (2, 5, 6)."""
        is_stored, loaded = self.store.replace(version, json.dumps(record)), self.load()
        if not loaded or not loaded[1].get("access_token"):
            return "not-signed-in", None
        if loaded[1].get("ended"):
            return "ended", loaded[1]["ended"].get("reason")
        return ("renewed", loaded[1]) if is_stored else ("overtaken", None)

    def call(self, url, method="GET", body=None):
        """Calls an API. Its 401 is no verdict: it renews once, and the call is repeated once (7)."""
        token = self.access_token()
        answer = self._call(method, url, body, token)
        return self._call(method, url, body, self.access_token("renewed", token[0])) if answer[0] == 401 else answer

    def _call(self, method, url, body, token):
        fields = {"Authorization": f"{token[1]} {token[0]}"}
        if token[1].lower() == "dpop":
            fields["DPoP"] = proof(self.keys.key(), method, url, self.now(), self._nonce, token[0])
        return self.send(method, url, fields, body, 20)

    # Logins and sign-outs

    def start(self):
        """Reads the store, and tells the server of sign-outs that it has not heard of. To be called at each launch."""
        if not self._is_servers_word:
            self._held_until = 0
        self._patient_until = self._held_until
        with contextlib.suppress(StoreError):
            self.load()
        self._pay_in_background()
        return self.state

    def unlock(self, password):
        """Answers the server's demand for the user by the password. The session goes on (16)."""
        loaded = self.load()
        if not loaded or not loaded[1].get("access_token"):
            raise SessionError("not-signed-in")
        return self.sign_in(loaded[1]["user"]["username"], password, session_id=loaded[1]["session_id"])

    def sign_in(self, username, password, **more):
        """Signs a user in by name and password, and returns the name. `more`: other members of the call."""
        before, record = self._sign_outs, self._prepare()
        key = self.keys.make() if self.keys else None
        body = json.dumps({"client_id": self.client_id, "device": {"id": record["device_id"]}, "password": password,
                           "username": username, **more}, sort_keys=True)
        answer = self._login(body, idempotency_key(record["retry_secret"], "login:" + body), key)

        def begun(record):
            is_other = record.get("session_id") != answer["session_id"]
            base = {**(self._owe(record) if is_other else record), "retry_secret": secrets.token_urlsafe(32),
                    "device_id": answer.get("device_id") or record["device_id"]}
            base["debts"] = [debt for debt in base.get("debts", []) if debt.get("session_id") != answer["session_id"]]
            base.pop("signed_out", None)
            if key:
                base["key_thumbprint"] = thumbprint(key)
            return self._take(base, answer)

        # If the user has signed out meanwhile, this session goes as well (5).
        is_late = before != self._sign_outs
        self._update(lambda record: self._signed_out(self._take(record, answer)) if is_late else begun(record))
        self._is_demanded = False
        self._note_answer()
        self._pay_in_background()
        if is_late:
            raise SessionError("other", "signed out meanwhile")
        return self.state.get("user") or username

    def _login(self, body, retry_key, key):
        url, is_signed_again, attempt = self.server + "/v1/login", False, 1
        while True:
            fields = {"Content-Type": "application/json", "Idempotency-Key": retry_key}
            if key:
                fields["DPoP"] = proof(key, "POST", url, self.now(), self._nonce)
            word, detail = self._exchange("POST", url, fields, body, 20)
            if word == "renewed":
                return detail
            if word == "sign-again" and not is_signed_again:
                is_signed_again = True
            elif word == "unreachable" and attempt < 3 and (detail or 0) <= 5:
                self._wait_within(attempt, detail)
                attempt += 1
            else:
                self._raise("refused" if word == "ended" else word, detail)

    def _prepare(self):
        """The stored record, written if there is none. One that cannot be read is set aside, and kept (19)."""
        for _ in range(16):
            try:
                if loaded := self.load():
                    return loaded[1]
            except StoreError as error:
                if error.kind != "unreadable":
                    raise
                self.store.set_aside()
            new = {"schema": 1, "device_id": secrets.token_urlsafe(16), "retry_secret": secrets.token_urlsafe(32)}
            self.store.replace(None, json.dumps(new))
        raise SessionError("other", "the record changes all the time")

    def sign_out(self):
        """Signs out at once, and tells the server when it can be reached (13)."""
        self._sign_outs += 1
        self.state = {"state": "signed-out"}
        self._update(lambda record: self._signed_out(record) if record.get("access_token") else None)
        self._pay_in_background()

    def _pay_in_background(self):
        threading.Thread(target=self._pay_all, daemon=True).start()

    def _pay_all(self):
        # A store that fails is asked again at the next occasion.
        with self._debts_lock, contextlib.suppress(StoreError):
            tried = []
            while True:
                debts = (self.load() or ("", {}))[1].get("debts", [])
                debt = next((debt for debt in debts if debt not in tried), None)
                if not debt:
                    return
                tried.append(debt)
                outcome = "paid" if (debt.get("expires_at") or self.now()) < self.now() else self._pay(debt)
                if outcome == "unreachable":
                    return
                if outcome == "paid":
                    self._update(lambda record: {**record, "debts": [
                        other for other in record.get("debts", []) if other != debt]})

    def _pay(self, debt):
        url, body = self.server + "/v1/logout", json.dumps({"refresh_token": debt["token"]})
        for _ in range(2):
            fields = {"Content-Type": "application/json"}
            if debt.get("key_thumbprint"):
                key = self.keys.key() if self.keys else None
                # Without its key the session cannot be ended from here. It ends by itself.
                if not key or thumbprint(key) != debt["key_thumbprint"]:
                    return "paid"
                fields["DPoP"] = proof(key, "POST", url, self.now(), self._nonce)
            word, detail = self._exchange("POST", url, fields, body, 20)
            if word == "unreachable":
                return word
            if word != "sign-again":
                return "paid" if word in ("done", "ended") or detail == "invalid_token" else "kept"
        return "kept"
