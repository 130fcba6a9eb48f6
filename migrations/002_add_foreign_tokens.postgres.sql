-- Refresh tokens of other systems, each accepted once and exchanged for a session. The text of a token is not here.
CREATE TABLE foreign_tokens (
    digest bytea PRIMARY KEY, -- SHA-256 of the token's text
    user_id uuid NOT NULL,
    client_id text NOT NULL,
    device_id text NOT NULL,
    device_name text,
    device_platform text,
    device_app_version text,
    scope text, -- null: all that the client can be granted
    started_at bigint NOT NULL,
    expires_at bigint,
    epoch bigint NOT NULL,
    session_id uuid, -- what it was exchanged for
    exchanged_at bigint
);

-- The way to those of a user that wait: they go when the user's sessions are ended.
CREATE INDEX foreign_tokens_waiting ON foreign_tokens (user_id) WHERE session_id IS NULL;
