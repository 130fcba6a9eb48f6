-- How far the webhook has come through the audit trail, and which node sends.
CREATE TABLE webhook (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    cursor INTEGER NOT NULL, -- the last event that is done with
    since INTEGER NOT NULL, -- Unix seconds: events from before are not sent
    holder TEXT NOT NULL,
    held_until INTEGER NOT NULL,
    failing_since INTEGER
) STRICT;
