-- Wrong passwords in a row that all nodes count together: those that come with a session's token, and logins from a device on which
-- the user has a session.
CREATE TABLE failed_attempts (
    digest bytea PRIMARY KEY, -- of the session, or of user and device
    user_id uuid NOT NULL,
    wrong_passwords bigint NOT NULL,
    wrong_password_at bigint NOT NULL -- when the last one came
);

-- The way to those of a user, and to those that can be forgotten.
CREATE INDEX guesses_of_user ON failed_attempts (user_id);
CREATE INDEX guesses_ending ON failed_attempts (wrong_password_at);
