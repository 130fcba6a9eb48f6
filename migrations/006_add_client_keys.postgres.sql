-- A JWK set of the public keys that a client signs its assertions with; null: none.
ALTER TABLE clients ADD COLUMN jwks text;
