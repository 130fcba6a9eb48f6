-- Columns named …_at hold Unix seconds, columns named …_seconds durations. Identifiers are 16 random bytes.

-- "Sojr": what `file` and the next start know a database of ours by.
PRAGMA application_id = 0x536F6A72;

CREATE TABLE schema_migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    digest BLOB NOT NULL, -- SHA-256 of the migration's text
    applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE settings (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    offline_session_idle_seconds INTEGER NOT NULL,
    offline_session_max_limited INTEGER NOT NULL,
    offline_session_max_seconds INTEGER NOT NULL,
    refresh_after_seconds INTEGER NOT NULL,
    rotation_interval_seconds INTEGER NOT NULL,
    epoch INTEGER NOT NULL, -- counts "revoke all" and new clients
    revoked_before_epoch INTEGER, -- sessions with a smaller epoch are over
    revoked_before_at INTEGER
) STRICT;

CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    name TEXT,
    authentication_method TEXT NOT NULL,
    secret_hash BLOB,
    grant_types TEXT NOT NULL, -- parted by spaces
    scope TEXT NOT NULL,
    token_style TEXT NOT NULL,
    offline_session_idle_seconds INTEGER,
    offline_session_max_seconds INTEGER,
    access_token_lifetime_seconds INTEGER,
    refresh_after_seconds INTEGER,
    created_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL UNIQUE, -- normalised, lower-case
    email TEXT,
    phone_number TEXT,
    display_name TEXT,
    country TEXT,
    password_hash TEXT, -- PHC string
    offline_session_max_seconds INTEGER,
    admin_disabling TEXT, -- 'immediate', 'on_expiry'; null while logins are on
    admin_disabled_at INTEGER,
    admin_disabling_note TEXT,
    user_disabling TEXT,
    user_disabled_at INTEGER,
    user_disabling_note TEXT,
    reset_secret_hash BLOB,
    reset_expires_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

-- One row per session for ever; an ended one stays as a tombstone, also when its user is gone (so: no foreign key).
-- Rows lie in the order of arrival, which fills their pages; in a table WITHOUT ROWID random ids would leave a third of
-- every page empty, and whole rows as separators in its inner pages would make the part worth caching twenty times
-- as large.
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    user_id BLOB NOT NULL,
    -- The user's row, found without the index of ids. Of a deleted user the number may come again, the id does not: a
    -- join asks for both. Sessions that live have a user.
    user_number INTEGER NOT NULL,
    client_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    device_name TEXT,
    device_platform TEXT,
    device_app_version TEXT,
    authentication_mode TEXT NOT NULL,
    scope TEXT NOT NULL,
    authentication_methods TEXT NOT NULL, -- parted by spaces
    key_thumbprint TEXT,
    epoch INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    -- What a refresh changes. In no index, so that a refresh dirties one page.
    parent INTEGER NOT NULL,
    child INTEGER NOT NULL,
    child_answered_at INTEGER NOT NULL,
    child_request_key INTEGER,
    ended_at INTEGER,
    ended_reason TEXT
) STRICT;

-- One living session per device, and the way to the living sessions of a user.
CREATE UNIQUE INDEX sessions_living ON sessions (user_number, client_id, device_id) WHERE ended_at IS NULL;

-- The way to the tombstones of a user.
CREATE INDEX sessions_ended ON sessions (user_id) WHERE ended_at IS NOT NULL;

-- AUTOINCREMENT, because the number is the cursor of readers: it must not come again when old events are cleared away.
CREATE TABLE audit_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    user_id BLOB,
    session_id BLOB,
    client_id TEXT,
    device_id TEXT,
    reason TEXT,
    remote_address TEXT,
    request_id TEXT
) STRICT;

CREATE INDEX audit_events_of_user ON audit_events (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_events_of_session ON audit_events (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY, -- RFC 7638 thumbprint
    algorithm TEXT NOT NULL,
    sealed_private_key BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    active_at INTEGER NOT NULL,
    retired_at INTEGER
) STRICT;

CREATE TABLE admin_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash BLOB NOT NULL, -- SHA-256
    created_at INTEGER NOT NULL
) STRICT;

-- What a check of readiness writes to, so that it fails when a real change would.
CREATE TABLE heartbeat (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    beats INTEGER NOT NULL
) STRICT;
INSERT INTO heartbeat (id, beats) VALUES (1, 0);
