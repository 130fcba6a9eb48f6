-- The APIs that a client can have tokens for (RFC 8707), parted by blanks.
ALTER TABLE clients ADD COLUMN resources text NOT NULL DEFAULT '';
