-- Under which subject of which identity provider a user is known.
CREATE TABLE identities (
    provider text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    user_id uuid NOT NULL,
    linked_at bigint NOT NULL,
    PRIMARY KEY (provider, subject)
);

-- The way to those of a user.
CREATE INDEX identities_of_user ON identities (user_id);

-- Claims that an admin has given a user, as a JSON object. Null: none.
ALTER TABLE users ADD COLUMN claims text;
