-- Under which subject of which identity provider a user is known.
CREATE TABLE identities (
    provider TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id BLOB NOT NULL,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;

-- The way to those of a user.
CREATE INDEX identities_of_user ON identities (user_id);

-- Claims that an admin has given a user, as a JSON object. Null: none.
ALTER TABLE users ADD COLUMN claims TEXT;
