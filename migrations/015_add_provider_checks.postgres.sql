-- What identity providers are asked with about sessions that are checked again.
CREATE TABLE provider_checks (
    session_id uuid PRIMARY KEY,
    provider text NOT NULL,
    subject text NOT NULL, -- whom the provider has to mean
    client_id text NOT NULL, -- the id that the app has at the provider
    sealed_token bytea, -- its refresh token; null: it was lost
    rotates boolean NOT NULL, -- whether it changes with the answers
    due_at bigint NOT NULL,
    failing_since bigint,
    in_doubt boolean NOT NULL, -- an answer may have been lost
    revision bigint NOT NULL -- counts the nodes that took it on
);

-- The way to what is due.
CREATE INDEX provider_checks_due ON provider_checks (provider, due_at);

-- Which provider stands by a session, and when it last said so. Null: none is asked.
ALTER TABLE sessions ADD COLUMN confirmed_by text;
ALTER TABLE sessions ADD COLUMN confirmed_at bigint;
