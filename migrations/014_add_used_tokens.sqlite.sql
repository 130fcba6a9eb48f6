-- Tokens that are taken once, by whatever node: ID tokens and assertions that were used, by their hashes.
CREATE TABLE used_tokens (
    digest BLOB PRIMARY KEY,
    good_until INTEGER NOT NULL -- from then on it is refused for its age
) STRICT, WITHOUT ROWID;

-- The way to those that can be forgotten.
CREATE INDEX used_tokens_ending ON used_tokens (good_until);
