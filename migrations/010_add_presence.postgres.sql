-- The public key that signs while the user is there, when it did so last, and when the password was typed last, in Unix
-- seconds. How long the sessions of a client go on without either.
ALTER TABLE sessions ADD COLUMN presence_key text;
ALTER TABLE sessions ADD COLUMN presence_proven_at bigint;
ALTER TABLE sessions ADD COLUMN password_proven_at bigint;
ALTER TABLE clients ADD COLUMN user_presence_max_age_seconds bigint;
