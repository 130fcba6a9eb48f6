-- How far the webhook has come through the audit trail, and which node sends.
CREATE TABLE webhook (
    id bigint PRIMARY KEY CHECK (id = 1),
    cursor bigint NOT NULL, -- the last event that is done with
    since bigint NOT NULL, -- Unix seconds: events from before are not sent
    holder text NOT NULL,
    held_until bigint NOT NULL,
    failing_since bigint
);
