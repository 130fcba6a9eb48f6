-- When the refresh token last issued was first presented, if that was before the time for the next one. Nodes of the version before
-- leave it as it is; it counts only if nothing was given out since.
ALTER TABLE sessions ADD COLUMN child_confirmed_at bigint;
