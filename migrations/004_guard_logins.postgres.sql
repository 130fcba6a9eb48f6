-- What an admin key may do, until when, and when it was last of use, to the hour. Keys from before have no
-- scope, and may do everything.
ALTER TABLE admin_keys ADD COLUMN scope text;
ALTER TABLE admin_keys ADD COLUMN expires_at bigint;
ALTER TABLE admin_keys ADD COLUMN last_used_at bigint;

-- Wrong passwords since the last right one, from devices without a living session. Null: none.
ALTER TABLE users ADD COLUMN wrong_passwords bigint;
ALTER TABLE users ADD COLUMN wrong_password_at bigint;
ALTER TABLE users ADD COLUMN locked_until bigint;
