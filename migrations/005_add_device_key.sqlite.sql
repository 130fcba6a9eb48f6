-- The public key by which a device resumes its session (RFC 7523): algorithm, a dot, and the coordinates in base64url.
ALTER TABLE sessions ADD COLUMN device_key TEXT;
