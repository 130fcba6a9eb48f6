-- The absolute maximum in the configuration file of the server that started last: none makes sessions longer, and a shorter one is told.
-- Null: none has said so yet.
ALTER TABLE settings ADD COLUMN served_max_seconds INTEGER;
