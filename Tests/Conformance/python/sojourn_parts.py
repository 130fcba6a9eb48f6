"""The parts of a session in Python: the verdict on an answer, the store, the clock, the transport and the key.

The numbers in parentheses are the rules of "How an app stays signed in". The standard library is enough for a session
without a key. A session that is bound to a key needs `cryptography`.
"""

import base64
import contextlib
import fcntl
import hashlib
import hmac
import http.client
import json
import os
import secrets
import threading
import time
import urllib.parse

SESSION_MEMBERS = (
    "session_id", "refresh_token", "access_token", "token_type", "issued_at", "expires_at", "refresh_after",
    "session_idle_expires_at", "session_expires_at", "rotation_interval", "authentication_mode", "user")


class SessionError(Exception):
    """Only `not-signed-in` and `ended` mean that a tool asks for the login."""

    def __init__(self, code, reason=None):
        super().__init__(reason or code)
        self.code, self.reason = code, reason


class StoreError(Exception):
    """The store cannot tell whether there is a record (1). `kind` is `locked`, `failed` or `unreadable`."""

    def __init__(self, kind):
        super().__init__(kind)
        self.kind = kind


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def idempotency_key(secret, message):
    """The retry key of a message, derived from a secret in the record (4)."""
    key = base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4))
    return base64url(hmac.digest(key, message.encode(), "sha256"))[:22]


def members_of(text):
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def record_of(text):
    """The record of a text; an error if it is none, or has a later schema (1)."""
    record = members_of(text)
    if not record or record.get("schema") != 1 or not record.get("device_id") or not record.get("retry_secret"):
        raise StoreError("unreadable")
    return record


def verdict(status, fields, text, is_key_gone=False):
    """The meaning of an answer: a word and its detail. What is final is listed, the rest keeps the session (7)."""
    asked = fields.get("retry-after", "")
    unreachable = ("unreachable", min(int(asked), 3600) if asked.isdecimal() else None)
    body = members_of(text)
    if body is None:
        return unreachable
    if status == 200:
        return ("renewed", body) if body.get("access_token") and body.get("issued_at") else unreachable
    if not 400 <= status <= 499 or status in (408, 429):
        return unreachable
    reason, again = body.get("reason") or body.get("code"), body.get("reauthenticate")
    word = reason or body.get("error")
    if status in (400, 401) and reason and isinstance(again, bool):
        if again or reason == "user_deleted":
            return "ended", reason
        if reason == "binding_mismatch" and is_key_gone:
            return "ended", "key_lost"
    if word in ("login_disabled_by_user", "login_disabled_by_admin", "device_mismatch", "binding_mismatch"):
        return "suspended", word
    if word == "insufficient_user_authentication":
        return "presence-required", None
    if word in ("use_dpop_nonce", "invalid_dpop_proof", "invalid_assertion"):
        return "sign-again", None
    return ("refused", word) if word else unreachable


class FileStore:
    """The record in `session.json`. Processes exclude each other for the swap alone, never while they wait (12)."""

    def __init__(self, folder, observe=lambda point: None):
        self.folder, self.observe = folder, observe
        self.path = os.path.join(folder, "session.json")

    def load(self):
        """The version and the text of the record; None if there certainly is no record."""
        try:
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError("failed" if isinstance(error, OSError) else "unreadable") from error
        return hashlib.sha256(text.encode()).hexdigest(), text

    @contextlib.contextmanager
    def _locked(self):
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            with open(self.path + ".lock", "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise StoreError("failed") from error

    def replace(self, expected, text):
        """Writes if the stored version is still `expected`, durably. False: another version is stored (5)."""
        with self._locked():
            stored = self.load()
            if (stored[0] if stored else None) != expected:
                return False
            temp = self.path + ".new"
            with open(os.open(temp, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            self.observe("temp-written")
            os.replace(temp, self.path)
            self._sync()
            self.observe("renamed")
            return True

    def set_aside(self):
        """Renames a record that cannot be read, so that it is kept (19)."""
        with self._locked():
            try:
                record_of(self.load()[1])
            except StoreError as error:
                if error.kind == "unreadable":
                    os.rename(self.path, f"{self.path}.unreadable-{secrets.token_hex(4)}")

    def _sync(self):
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class Clock:
    """The wall clock, and a clock that nothing sets and that runs while the machine sleeps."""

    def wall(self):
        return time.time()

    def uptime(self):
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def send(method, url, fields, body, limit):
    """One request: no redirect, no repetition, one connection. An `OSError` or `HTTPException` is "no answer"."""
    parts = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=limit)
    # The time limit of a socket begins anew with each byte, and this one does not.
    watch = threading.Timer(limit, lambda: connection.sock and connection.sock.shutdown(2))
    watch.daemon = True
    watch.start()
    try:
        connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), body, fields)
        answer = connection.getresponse()
        data = answer.read(65_537)
        if len(data) > 65_536:
            raise OSError("the answer is too long")
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, found, data.decode(errors="replace")
    finally:
        watch.cancel()
        connection.close()


class Keys:
    """The key of the device in `device.key`. A program that can read the file has the key."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "device.key")

    def key(self):
        """The key; None only if there certainly is none."""
        from cryptography.hazmat.primitives import serialization
        try:
            with open(self.path, "rb") as file:
                return serialization.load_pem_private_key(file.read(), None)
        except FileNotFoundError:
            return None

    def make(self):
        """The key, made before the login and never replaced (14)."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        if key := self.key():
            return key
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        text = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        temp = f"{self.path}.{secrets.token_hex(4)}"
        with open(os.open(temp, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(temp, self.path)
        os.unlink(temp)
        return self.key()


def jwk(key):
    numbers = key.public_key().public_numbers()
    x, y = (base64url(number.to_bytes(32, "big")) for number in (numbers.x, numbers.y))
    return {"crv": "P-256", "kty": "EC", "x": x, "y": y}


def thumbprint(key):
    return base64url(hashlib.sha256(json.dumps(jwk(key), separators=(",", ":")).encode()).digest())


def proof(key, method, url, now, nonce, access_token=None):
    """A proof of the key for one request (RFC 9449). `now` is the server's time."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, utils
    claims = {"htm": method, "htu": url.split("?")[0], "iat": now, "jti": secrets.token_urlsafe(16)}
    if nonce:
        claims["nonce"] = nonce
    if access_token:
        claims["ath"] = base64url(hashlib.sha256(access_token.encode()).digest())
    parts = {"alg": "ES256", "typ": "dpop+jwt", "jwk": jwk(key)}, claims
    message = ".".join(base64url(json.dumps(part).encode()) for part in parts)
    r, s = utils.decode_dss_signature(key.sign(message.encode(), ec.ECDSA(hashes.SHA256())))
    return message + "." + base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
