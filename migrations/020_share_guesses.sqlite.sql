-- Wrong passwords in a row that all nodes count together: those that come with a session's token, and logins from a device on which
-- the user has a session.
CREATE TABLE failed_attempts (
    digest BLOB PRIMARY KEY, -- of the session, or of user and device
    user_id BLOB NOT NULL,
    wrong_passwords INTEGER NOT NULL,
    wrong_password_at INTEGER NOT NULL -- when the last one came
) STRICT, WITHOUT ROWID;

-- The way to those of a user, and to those that can be forgotten.
CREATE INDEX guesses_of_user ON failed_attempts (user_id);
CREATE INDEX guesses_ending ON failed_attempts (wrong_password_at);
