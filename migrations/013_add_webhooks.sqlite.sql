-- How far each webhook has come through the audit trail, and which node sends to it.
CREATE TABLE webhooks (
    name TEXT PRIMARY KEY,
    cursor INTEGER NOT NULL, -- the last event that is done with
    since INTEGER NOT NULL, -- Unix seconds: events from before are not sent
    holder TEXT NOT NULL,
    held_until INTEGER NOT NULL,
    failing_since INTEGER
) STRICT, WITHOUT ROWID;

-- The one that there was goes on as `default`. A node of the version before still sends by the old row as long as it runs: what
-- comes twice meanwhile has the same id.
INSERT INTO webhooks SELECT 'default', cursor, since, '', held_until, failing_since FROM webhook;
