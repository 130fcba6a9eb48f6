-- What resource servers are told: which rolling tokens that have not expired are good for nothing any more. Numbers are given
-- in the order of commits, under the lock of the audit trail.
CREATE TABLE revocations (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    revoked_at bigint NOT NULL,
    matters_until bigint NOT NULL, -- from then on all tokens that it is about have expired
    user_id uuid,
    session_id uuid,
    client_id text,
    reason text
);
CREATE INDEX revocations_ending ON revocations (matters_until);

-- Until when rolling tokens may live that were issued before their life was shortened. Null: it never was.
ALTER TABLE settings ADD COLUMN earlier_tokens_end_at bigint;
