-- Whether a login in the client must bring a proof of possession (RFC 9449): 'required' or 'optional'.
ALTER TABLE clients ADD COLUMN dpop TEXT NOT NULL DEFAULT 'optional';
