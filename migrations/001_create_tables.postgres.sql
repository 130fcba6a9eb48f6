-- Columns named …_at hold Unix seconds, columns named …_seconds durations. Identifiers are 16 random bytes, kept as uuid.
-- A statement ends with a semicolon at the end of a line, and no comment has one there.

CREATE TABLE schema_migrations (
    version bigint PRIMARY KEY,
    name text NOT NULL,
    digest bytea NOT NULL, -- SHA-256 of the migration's text
    applied_at bigint NOT NULL
);

-- Counts changes of settings and clients: who has read them asks whether it is still this number.
CREATE TABLE catalogue_revision (
    id bigint PRIMARY KEY CHECK (id = 1),
    revision bigint NOT NULL
);
INSERT INTO catalogue_revision (id, revision) VALUES (1, 1);

CREATE TABLE settings (
    id bigint PRIMARY KEY CHECK (id = 1),
    offline_session_idle_seconds bigint NOT NULL,
    offline_session_max_limited boolean NOT NULL,
    offline_session_max_seconds bigint NOT NULL,
    refresh_after_seconds bigint NOT NULL,
    rotation_interval_seconds bigint NOT NULL,
    epoch bigint NOT NULL, -- counts "revoke all" and new clients
    revoked_before_epoch bigint, -- sessions with a smaller epoch are over
    revoked_before_at bigint
);
-- The settings of a new database, as the program has them.
INSERT INTO settings VALUES (1, 1209600, true, 15552000, 3600, 120, 1, NULL, NULL);

CREATE TABLE clients (
    id text COLLATE "C" PRIMARY KEY,
    name text,
    authentication_method text NOT NULL,
    secret_hash bytea,
    grant_types text NOT NULL, -- parted by spaces
    scope text NOT NULL,
    token_style text NOT NULL,
    offline_session_idle_seconds bigint,
    offline_session_max_seconds bigint,
    access_token_lifetime_seconds bigint,
    refresh_after_seconds bigint,
    created_at bigint NOT NULL,
    epoch bigint NOT NULL
);

CREATE TABLE users (
    id uuid PRIMARY KEY,
    revision bigint NOT NULL DEFAULT 1, -- counts changes of this row
    username text NOT NULL,
    username_key text COLLATE "C" NOT NULL UNIQUE, -- normalised, lower-case
    email text,
    phone_number text,
    display_name text,
    country text,
    password_hash text, -- PHC string
    offline_session_max_seconds bigint,
    admin_disabling text, -- 'immediate', 'on_expiry'; null while logins are on
    admin_disabled_at bigint,
    admin_disabling_note text,
    user_disabling text,
    user_disabled_at bigint,
    user_disabling_note text,
    reset_secret_hash bytea,
    reset_expires_at bigint,
    created_at bigint NOT NULL
);

-- One row per session for ever; an ended one stays as a tombstone, also when its user is gone (so: no foreign key).
-- Room is left in every page, so that a refresh, which changes no column of an index, writes the new row beside the old one.
CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    revision bigint NOT NULL DEFAULT 1, -- counts changes of this row
    user_id uuid NOT NULL,
    client_id text NOT NULL,
    device_id text NOT NULL,
    device_name text,
    device_platform text,
    device_app_version text,
    authentication_mode text NOT NULL,
    scope text NOT NULL,
    authentication_methods text NOT NULL, -- parted by spaces
    key_thumbprint text,
    epoch bigint NOT NULL,
    started_at bigint NOT NULL,
    -- What a refresh changes.
    parent bigint NOT NULL,
    child bigint NOT NULL,
    child_answered_at bigint NOT NULL,
    child_request_key bigint,
    ended_at bigint,
    ended_reason text
) WITH (fillfactor = 80);

-- One living session per device, and the way to the living sessions of a user.
CREATE UNIQUE INDEX sessions_living ON sessions (user_id, client_id, device_id) WHERE ended_at IS NULL;

-- The way to the tombstones of a user.
CREATE INDEX sessions_ended ON sessions (user_id) WHERE ended_at IS NOT NULL;

CREATE TABLE audit_events (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    occurred_at bigint NOT NULL,
    actor text NOT NULL,
    user_id uuid,
    session_id uuid,
    client_id text,
    device_id text,
    reason text,
    remote_address text,
    request_id text
);
CREATE INDEX audit_events_of_user ON audit_events (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_events_of_session ON audit_events (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE signing_keys (
    number bigint GENERATED ALWAYS AS IDENTITY,
    id text PRIMARY KEY, -- RFC 7638 thumbprint
    algorithm text NOT NULL,
    sealed_private_key bytea NOT NULL,
    created_at bigint NOT NULL,
    active_at bigint NOT NULL,
    retired_at bigint
);

CREATE TABLE admin_keys (
    number bigint GENERATED ALWAYS AS IDENTITY,
    id text PRIMARY KEY,
    name text NOT NULL,
    hash bytea NOT NULL, -- SHA-256
    created_at bigint NOT NULL
);

-- What a check of readiness writes to, so that it fails when a real change would.
CREATE TABLE heartbeat (
    id bigint PRIMARY KEY CHECK (id = 1),
    beats bigint NOT NULL
);
INSERT INTO heartbeat (id, beats) VALUES (1, 0);
