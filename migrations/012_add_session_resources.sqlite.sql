-- The APIs that the login asked for (RFC 8707), parted by blanks; null when it asked for none. Nodes of the version before leave
-- it null.
ALTER TABLE sessions ADD COLUMN resources TEXT;
