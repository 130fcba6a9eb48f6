-- Tokens that are taken once, by whatever node: ID tokens and assertions that were used, by their hashes.
CREATE TABLE used_tokens (
    digest bytea PRIMARY KEY,
    good_until bigint NOT NULL -- from then on it is refused for its age
);

-- The way to those that can be forgotten.
CREATE INDEX used_tokens_ending ON used_tokens (good_until);
