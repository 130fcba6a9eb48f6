-- Refresh tokens of other systems, each accepted once and exchanged for a session. The text of a token is not here.
CREATE TABLE foreign_tokens (
    digest BLOB PRIMARY KEY, -- SHA-256 of the token's text
    user_id BLOB NOT NULL,
    client_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    device_name TEXT,
    device_platform TEXT,
    device_app_version TEXT,
    scope TEXT, -- null: all that the client can be granted
    started_at INTEGER NOT NULL,
    expires_at INTEGER,
    epoch INTEGER NOT NULL,
    session_id BLOB, -- what it was exchanged for
    exchanged_at INTEGER
) STRICT, WITHOUT ROWID;

-- The way to those of a user that wait: they go when the user's sessions are ended.
CREATE INDEX foreign_tokens_waiting ON foreign_tokens (user_id) WHERE session_id IS NULL;
