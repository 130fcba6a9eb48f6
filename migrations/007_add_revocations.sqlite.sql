-- What resource servers are told: which rolling tokens that have not expired are good for nothing any more. The number is
-- that of the event in the audit trail.
CREATE TABLE revocations (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    revoked_at INTEGER NOT NULL,
    matters_until INTEGER NOT NULL, -- from then on all tokens that it is about have expired
    user_id BLOB,
    session_id BLOB,
    client_id TEXT,
    reason TEXT
) STRICT;
CREATE INDEX revocations_ending ON revocations (matters_until);

-- Until when rolling tokens may live that were issued before their life was shortened. Null: it never was.
ALTER TABLE settings ADD COLUMN earlier_tokens_end_at INTEGER;
