-- The way to whom a proven address means. Not together with the column, whose lock keeps readers out.
CREATE INDEX users_verified_email ON users (verified_email_key) WHERE verified_email_key IS NOT NULL;
