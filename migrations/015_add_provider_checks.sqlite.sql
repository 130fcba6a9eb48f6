-- What identity providers are asked with about sessions that are checked again.
CREATE TABLE provider_checks (
    session_id BLOB PRIMARY KEY,
    provider TEXT NOT NULL,
    subject TEXT NOT NULL, -- whom the provider has to mean
    client_id TEXT NOT NULL, -- the id that the app has at the provider
    sealed_token BLOB, -- its refresh token; null: it was lost
    rotates INTEGER NOT NULL, -- whether it changes with the answers
    due_at INTEGER NOT NULL,
    failing_since INTEGER,
    in_doubt INTEGER NOT NULL, -- an answer may have been lost
    revision INTEGER NOT NULL -- counts the nodes that took it on
) STRICT;

-- The way to what is due.
CREATE INDEX provider_checks_due ON provider_checks (provider, due_at);

-- Which provider stands by a session, and when it last said so. Null: none is asked.
ALTER TABLE sessions ADD COLUMN confirmed_by TEXT;
ALTER TABLE sessions ADD COLUMN confirmed_at INTEGER;
