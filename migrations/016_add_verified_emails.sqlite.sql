-- The key (normalised, lower-case) of the e-mail address that was verified; null: none. It counts only while it is the key of the
-- address that stands in the row: a node of the version before changes that alone.
ALTER TABLE users ADD COLUMN verified_email_key TEXT;
