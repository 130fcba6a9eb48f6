-- What resource servers were told of the event: the kind of the revocation, what it compares with, and until when it matters. Null:
-- nothing, or a node of the version before wrote it.
ALTER TABLE audit_events ADD COLUMN revokes text;
ALTER TABLE audit_events ADD COLUMN revoked_at bigint;
ALTER TABLE audit_events ADD COLUMN revoked_until bigint;
