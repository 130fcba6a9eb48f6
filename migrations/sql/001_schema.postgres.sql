-- effects: adds tables schema_migrations, catalogue_revision, settings, clients, users, user_sources, identities, user_details,
--   totp_factors, recovery_codes, verifications, mailboxes, mails, logos,
--   passkeys, sessions, provider_checks, pins, foreign_tokens, used_tokens, failed_attempts, page_logins, phone_logins, audit_events,
--   revocations, deliveries, clean_up, signing_keys, admin_keys, heartbeat, nodes
-- readable by: 1

-- Columns named …_at hold Unix seconds, columns named …_seconds durations. Identifiers are 16 random bytes, stored as
-- uuid. Lists are words with a space between them. A column that may be null says what null means, unless it is "none".
-- A statement ends with a semicolon at the end of a line, and no comment has one there.

CREATE TABLE schema_migrations (
    version bigint PRIMARY KEY,
    name text NOT NULL,
    digest bytea NOT NULL, -- SHA-256 of the migration's text
    applied_at bigint NOT NULL,
    readable_by bigint NOT NULL, -- version that a program must know to work on the schema from here on
    newest_known bigint NOT NULL -- newest version that the program knew which applied this one
);

-- The revision of settings and clients, by which a node checks its copy of both.
CREATE TABLE catalogue_revision (
    id bigint PRIMARY KEY CHECK (id = 1),
    revision bigint NOT NULL
);
INSERT INTO catalogue_revision (id, revision) VALUES (1, 1);

-- One row: the settings of an admin, and the server's state of all sessions.
CREATE TABLE settings (
    id bigint PRIMARY KEY CHECK (id = 1),
    -- Lifetimes
    offline_session_idle_seconds bigint NOT NULL,
    offline_session_max_limited boolean NOT NULL,
    offline_session_max_seconds bigint NOT NULL,
    refresh_after_seconds bigint NOT NULL,
    rotation_interval_seconds bigint NOT NULL,
    -- Login
    second_factor_policy text NOT NULL, -- 'off', 'if_enrolled', 'required_at_login' or 'required'
    branding text, -- JSON; null: none
    -- State of all sessions
    served_max_seconds bigint, -- absolute maximum in the file of the node that started last; null before the first start
    earlier_tokens_end_at bigint, -- when the last token expires that was issued before lifetimes were shortened
    restores text, -- list: FROM:AT, the times of the backup and of the restore; null: never
    -- "Revoke all"
    epoch bigint NOT NULL, -- counts "revoke all", new clients, and ended secrets and keys of clients
    revoked_before_epoch bigint, -- sessions with a smaller epoch are over
    revoked_before_at bigint
);
-- The settings of a new database, as the program has them.
INSERT INTO settings (
    id, offline_session_idle_seconds, offline_session_max_limited, offline_session_max_seconds, refresh_after_seconds,
    rotation_interval_seconds, second_factor_policy, epoch
) VALUES (1, 1209600, true, 15552000, 3600, 120, 'if_enrolled', 1);

CREATE TABLE clients (
    id text COLLATE "C" PRIMARY KEY,
    name text,
    created_at bigint NOT NULL,
    epoch bigint NOT NULL, -- of the settings when the client was made
    token_epoch bigint NOT NULL, -- tokens that the client got for itself in an earlier epoch are over
    -- How the client authenticates
    authentication_method text NOT NULL,
    authentication_method_pinned boolean NOT NULL, -- otherwise a secret is accepted in the header and in the form
    secret_hash bytea,
    earlier_secret_hash bytea, -- of the secret before, which is accepted until its end
    earlier_secret_ends_at bigint,
    jwks text, -- public keys of its assertions (RFC 7523), as a JWK set
    dpop text NOT NULL, -- 'optional', 'required' or 'nonce': whether a login must bring a proof of possession (RFC 9449), and each proof a nonce
    -- Permissions of the client
    grant_types text NOT NULL, -- list
    scope text NOT NULL, -- list
    scope_claims text NOT NULL, -- JSON: claims of users that each scope brings into ID tokens and userinfo
    resources text NOT NULL, -- list of the APIs that it can have tokens for (RFC 8707)
    allowed_origins text NOT NULL, -- list of the origins of pages that may call the server as this client (CORS)
    token_style text NOT NULL,
    -- Hosted login
    redirect_uris text NOT NULL, -- list
    post_logout_redirect_uris text NOT NULL, -- list
    redirect_hops text NOT NULL, -- list
    require_pushed_authorization_requests boolean NOT NULL, -- RFC 9126
    pkce text NOT NULL, -- 'required' or 'optional' for requests with a nonce (RFC 9700)
    browser_session text NOT NULL, -- 'none', 'client' or 'shared': which logins the session of a browser answers
    login_methods text, -- list; NULL: every way
    login_names text NOT NULL, -- 'username', 'email' or 'both'
    backchannel_logout_uri text,
    backchannel_logout_session_required boolean NOT NULL,
    backchannel_token_delivery_mode text NOT NULL, -- 'poll' or 'ping' (OpenID Connect CIBA)
    backchannel_client_notification_endpoint text,
    id_token_signed_response_alg text, -- 'RS256'; null: as access tokens
    initiate_login_uri text,
    remote_scope text,
    minimum_bond text NOT NULL, -- 'none' or 'session': the weakest bond of a session to the phone that lets it in
    apple_app_ids text NOT NULL, -- list: TEAMID.bundle.id
    android_apps text NOT NULL, -- list: PACKAGE/FINGERPRINT
    -- Lifetimes; null: as in the settings
    offline_session_idle_seconds bigint,
    offline_session_max_seconds bigint,
    access_token_lifetime_seconds bigint,
    refresh_after_seconds bigint,
    app_data text NOT NULL, -- 'ignore', 'report' or 'refuse' a refresh that names another platform than the login
    attestation text NOT NULL, -- 'ignore', 'report' or 'refuse' a refresh in a session without the verdict 'genuine'
    stays_logged_in boolean NOT NULL, -- otherwise a login gives one short access token
    sign_up boolean NOT NULL, -- whether strangers make accounts by a proof of their mailbox
    second_factor_policy text, -- null: as in the settings
    branding text, -- JSON; null: as in the settings
    anonymous_users boolean NOT NULL, -- whether a login can make a user without username and password
    user_presence_max_age_seconds bigint, -- how long a session goes on without proof of the user's presence; null: for ever
    event_stream text -- JSON; null: the client has no stream of security events (OpenID SSF)
);

CREATE TABLE users (
    id uuid PRIMARY KEY,
    revision bigint NOT NULL DEFAULT 1, -- counts changes of this row
    created_at bigint NOT NULL,
    username text NOT NULL,
    username_key text COLLATE "C" NOT NULL UNIQUE, -- normalised, lower-case
    -- Profile
    email text,
    verified_email_key text COLLATE "C", -- of the verified address; counts while it is the key of `email`
    phone_number text,
    names text, -- display name, given name and family name, a line each; null: none of them
    country text,
    claims text, -- claims that an admin has given, as a JSON object
    -- Password
    password_hash text, -- PHC string
    -- Wrong passwords since the last right one, from devices without an active session
    wrong_passwords bigint,
    wrong_password_at bigint,
    locked_until bigint,
    -- Logins switched off
    admin_disabling text, -- 'immediate' or 'on_expiry'; null: logins are on
    admin_disabled_at bigint,
    admin_disabling_note text,
    user_disabling text, -- 'immediate' or 'on_expiry'; null: logins are on
    user_disabled_at bigint,
    user_disabling_note text,
    -- Lifetimes
    offline_session_max_seconds bigint, -- null: as in client and settings
    anonymous boolean NOT NULL -- without password and identity; the username is a placeholder
);

-- Finds the anonymous users, which are deleted when they have no active session.
CREATE INDEX users_anonymous ON users (id) WHERE anonymous;

-- Lets one user have a verified address, and finds the user by a proven address.
CREATE UNIQUE INDEX users_mailbox ON users (verified_email_key) WHERE verified_email_key IS NOT NULL;

-- Finds the users with an address, verified or not.
CREATE INDEX users_email ON users (lower(email COLLATE "C")) WHERE email IS NOT NULL;

-- Finds the users with a telephone number.
CREATE INDEX users_phone_number ON users (phone_number) WHERE phone_number IS NOT NULL;

-- Where the names, addresses and passwords of users come from: 'admin', 'import', 'proof' (of the mailbox), 'provider',
-- 'invitation' or 'user'. Logins by a proven address and by
-- a phone read it, and no refresh does.
CREATE TABLE user_sources (
    user_id uuid PRIMARY KEY,
    username text NOT NULL,
    email text, -- null: there is no address
    password text, -- null: there is no password
    access text NOT NULL, -- of the first sessions, passkeys and identities
    devices_unknown_at bigint -- null: no end of all sessions has made the devices of the user unknown
);

-- Links users to their subjects at identity providers.
CREATE TABLE identities (
    provider text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    user_id uuid NOT NULL,
    linked_at bigint NOT NULL,
    PRIMARY KEY (provider, subject)
);

-- Finds the identities of a user.
CREATE INDEX identities_of_user ON identities (user_id);

-- What few users have. Logins and calls of the account read it, and no refresh does.
CREATE TABLE user_details (
    user_id uuid PRIMARY KEY,
    language text, -- of pages and mails; null: unknown
    second_factor text, -- 'required' or 'exempt'; null: as in client and settings
    wrong_factors bigint NOT NULL, -- wrong codes since the last right one
    wrong_factor_at bigint,
    former_email text, -- verified address before the last change, which its owner can undo
    former_email_until bigint,
    delete_at bigint -- when clean-up deletes the user, as the user has wished
);

-- Finds the users that are to be deleted.
CREATE INDEX user_details_deleting ON user_details (delete_at) WHERE delete_at IS NOT NULL;

-- Authenticator apps of users (RFC 6238).
CREATE TABLE totp_factors (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    name text NOT NULL,
    sealed_seed bytea NOT NULL, -- encrypted by a root key
    algorithm text NOT NULL, -- 'SHA1', 'SHA256' or 'SHA512'
    digits bigint NOT NULL,
    period bigint NOT NULL,
    last_step bigint NOT NULL, -- newest time step of which a code was accepted
    created_at bigint NOT NULL,
    confirmed_at bigint, -- null: the user has not shown a code yet
    last_used_at bigint
);

-- Finds the authenticator apps of a user.
CREATE INDEX totp_factors_of_user ON totp_factors (user_id);

-- One-time codes for users without their authenticator.
CREATE TABLE recovery_codes (
    user_id uuid NOT NULL,
    hash bytea NOT NULL, -- SHA-256 of the code, which has 120 random bits
    used_at bigint,
    PRIMARY KEY (user_id, hash)
);

-- Proofs of mailboxes that are under way. Code and link are derived from the id and a root key, and are not stored.
CREATE TABLE verifications (
    id uuid PRIMARY KEY,
    purpose text NOT NULL, -- 'sign_up', 'sign_in', 'reset' or 'email'
    mailbox bytea NOT NULL, -- keyed hash of the address in lower case
    email text, -- as it is written to; null: nothing is written to it
    user_id uuid, -- null: a sign-up, or no such user
    client_id text,
    asker bytea, -- SHA-256 of the secret of the browser, app or session that asked; null: an admin
    session_id uuid, -- session that changes its user's address
    language text NOT NULL,
    key_id bigint NOT NULL, -- root key of code and link
    created_at bigint NOT NULL,
    code_until bigint NOT NULL,
    link_until bigint NOT NULL,
    mails bigint NOT NULL,
    mailed_at bigint,
    wrong_codes bigint NOT NULL,
    proven_at bigint,
    ended_at bigint -- used, cancelled, replaced, or out of tries
);

-- Finds the open verification of a browser or app, so that a request is answered with the code that is on its way.
CREATE UNIQUE INDEX verifications_open ON verifications (mailbox, purpose, asker) WHERE ended_at IS NULL;

-- Finds the open verifications of a user.
CREATE INDEX verifications_of_user ON verifications (user_id) WHERE user_id IS NOT NULL AND ended_at IS NULL;

-- Finds the verifications that are over.
CREATE INDEX verifications_ending ON verifications (link_until);

-- Counts the verifications that are open.
CREATE INDEX verifications_running ON verifications (link_until) WHERE ended_at IS NULL;

-- Counts for each mailbox, exact on all nodes. The table has no address.
CREATE TABLE mailboxes (
    mailbox bytea PRIMARY KEY,
    since bigint NOT NULL, -- beginning of the day of the counts
    mails bigint NOT NULL,
    wrong_codes bigint NOT NULL,
    refused_at bigint, -- when a relay refused the mailbox
    reply text -- of that relay
);

-- Finds the counts that are over.
CREATE INDEX mailboxes_since ON mailboxes (since);

-- Mails that are to be sent. The table holds no code, no link and no text.
CREATE TABLE mails (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    user_id uuid,
    verification_id uuid,
    email text, -- null: the address of the verification
    language text NOT NULL,
    facts text NOT NULL, -- JSON: what the template names
    event bigint, -- event of the audit trail that the mail tells; null: none
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    due_at bigint, -- next attempt; null: none
    tries bigint NOT NULL,
    reply text -- last one of the relay
);

-- Lets an event be told once.
CREATE UNIQUE INDEX mails_of_event ON mails (event, kind, email) WHERE event IS NOT NULL;

-- Find the next mails to send, of verifications and of notices.
CREATE INDEX mails_due ON mails (due_at) WHERE due_at IS NOT NULL AND verification_id IS NOT NULL;
CREATE INDEX mails_notices_due ON mails (due_at) WHERE due_at IS NOT NULL AND verification_id IS NULL;

-- Finds the mails of which no attempt follows.
CREATE INDEX mails_dead ON mails (created_at) WHERE due_at IS NULL;

-- Finds the mails of a user.
CREATE INDEX mails_of_user ON mails (user_id) WHERE user_id IS NOT NULL;

-- Pictures of brands, which pages show. They lie outside settings and clients, because every node keeps these in memory.
CREATE TABLE logos (
    digest bytea PRIMARY KEY, -- SHA-256 of the picture
    type text NOT NULL, -- 'image/png' or 'image/webp'
    bytes bytea NOT NULL
);

-- WebAuthn credentials of users.
CREATE TABLE passkeys (
    credential_id bytea PRIMARY KEY, -- 1 to 1023 bytes
    user_id uuid NOT NULL,
    rp_id text NOT NULL,
    public_key bytea NOT NULL, -- COSE_Key, as the authenticator sent it
    sign_count bigint NOT NULL, -- 0: the authenticator has no counter
    backup_eligible boolean NOT NULL, -- flag BE of the last ceremony
    backed_up boolean NOT NULL, -- flag BS
    user_verified boolean NOT NULL, -- flag UV
    transports text NOT NULL, -- list
    aaguid bytea, -- model of the authenticator; null: it does not say
    name text NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint
);

-- Finds the passkeys of a user.
CREATE INDEX passkeys_of_user ON passkeys (user_id);

-- One permanent row for each session: an ended session becomes a tombstone, which outlasts its user (so there is no
-- foreign key). Room is left in every page, so that a refresh, which changes no column of an index, writes the new row
-- beside the old one.
CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    revision bigint NOT NULL DEFAULT 1, -- counts changes of this row
    -- The session is of one user, client and device.
    user_id uuid NOT NULL,
    client_id text NOT NULL,
    device_id text NOT NULL,
    device_name text,
    device_platform text,
    device_app_version text,
    -- Login
    started_at bigint NOT NULL,
    epoch bigint NOT NULL, -- of the settings at the login
    look_at bigint NOT NULL, -- when clean-up looks at it next, while it has no end; a refresh never moves it
    authentication_mode text NOT NULL,
    authentication_methods text NOT NULL, -- list, as in `amr`
    scope text NOT NULL, -- list
    resources text NOT NULL, -- list of the APIs that the login asked for (RFC 8707)
    -- Keys
    key_thumbprint text, -- key that every refresh must prove (DPoP)
    device_key text, -- public key that resumes the session (RFC 7523): algorithm, a dot, coordinates in base64url
    encryption_key text, -- public key to which messages to the device are encrypted: curve, a dot, coordinates
    -- Presence of the user
    presence_key text, -- public key that signs while the user is present
    presence_proven_at bigint,
    password_proven_at bigint,
    attestation text, -- verdict of the operator's own attestation, set by an admin key
    -- The phone that let it in
    parent_session_id uuid, -- session of the phone, on which this one depends; null: it depends on none
    probation_until bigint, -- until when it may do less; null: it never had to
    identity_proven_at bigint, -- last authentication at an identity provider, by the login or later
    -- Confirmation by an identity provider; null: no provider is asked
    confirmed_by text,
    confirmed_at bigint,
    -- Columns that a refresh changes. No index has them.
    parent bigint NOT NULL,
    child bigint NOT NULL,
    child_answered_at bigint NOT NULL,
    renewed_at bigint NOT NULL, -- last refresh, to a quarter of the rotation interval; the idle time counts from it
    child_request_key bigint,
    child_confirmed_at bigint, -- when the child was presented before the next one was due; counts if later than the answer
    ended_at bigint,
    ended_reason text
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);

-- At most one active session for each device. Finds the active sessions of a user.
CREATE UNIQUE INDEX sessions_living ON sessions (user_id, client_id, device_id) WHERE ended_at IS NULL;

-- Finds the tombstones of a user.
CREATE INDEX sessions_ended ON sessions (user_id) WHERE ended_at IS NOT NULL;

-- Find the sessions that clean-up looks at: those that may be over, and the tombstones that are old enough.
CREATE INDEX sessions_looks ON sessions (look_at) WHERE ended_at IS NULL;
CREATE INDEX sessions_tombstones ON sessions (ended_at) WHERE ended_at IS NOT NULL;

-- Finds what phones have let in with a key, by which they know a device again.
CREATE INDEX sessions_let_in ON sessions (key_thumbprint, started_at)
    WHERE key_thumbprint IS NOT NULL AND authentication_methods = 'phone';

-- Provider checks: the tokens with which the server asks identity providers about sessions repeatedly.
CREATE TABLE provider_checks (
    session_id uuid PRIMARY KEY,
    provider text NOT NULL,
    subject text NOT NULL, -- the answer must be about this subject
    client_id text NOT NULL, -- the id that the app has at the provider
    sealed_token bytea, -- refresh token of the provider; null: it was lost
    rotates boolean NOT NULL, -- whether the provider's answers replace the token
    due_at bigint NOT NULL,
    failing_since bigint,
    in_doubt boolean NOT NULL, -- an answer may have been lost
    revision bigint NOT NULL -- counts the nodes that have taken the check
);

-- Finds the checks that are due.
CREATE INDEX provider_checks_due ON provider_checks (provider, due_at);

-- PINs of apps: a factor of logins with a phone. No refresh reads them.
CREATE TABLE pins (
    session_id uuid PRIMARY KEY, -- of the phone
    user_id uuid NOT NULL,
    mac_hash bytea NOT NULL, -- SHA-256 of the MAC of the PIN, by a secret of the device
    replaced_mac_hash bytea, -- of the PIN by which this one was set; null: it was set by another proof
    wrong_pins bigint NOT NULL, -- since the last right factor, at all logins together; three lock the PIN
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL
);

-- Refresh tokens of other systems, each accepted once and exchanged for a session. The text of a token is not stored.
CREATE TABLE foreign_tokens (
    digest bytea PRIMARY KEY, -- SHA-256 of the token's text
    user_id uuid NOT NULL,
    client_id text NOT NULL,
    device_id text NOT NULL,
    device_name text,
    device_platform text,
    device_app_version text,
    scope text, -- null: everything that the client can be granted
    started_at bigint NOT NULL,
    expires_at bigint,
    epoch bigint NOT NULL,
    session_id uuid, -- the session that it was exchanged for; null: it waits
    exchanged_at bigint
);

-- Find the tokens that clean-up deletes: long ago exchanged, expired, or started.
CREATE INDEX foreign_tokens_exchanged ON foreign_tokens (exchanged_at) WHERE exchanged_at IS NOT NULL;
CREATE INDEX foreign_tokens_expiring ON foreign_tokens (expires_at) WHERE exchanged_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX foreign_tokens_started ON foreign_tokens (started_at) WHERE exchanged_at IS NULL;

-- Finds the waiting tokens of a user, which are deleted when the user's sessions are ended.
CREATE INDEX foreign_tokens_waiting ON foreign_tokens (user_id) WHERE session_id IS NULL;

-- ID tokens and assertions that were used, so that no node accepts one twice, and tokens of clients that were revoked.
CREATE TABLE used_tokens (
    digest bytea PRIMARY KEY,
    good_until bigint NOT NULL -- from then on the token is refused because of its age
);

-- Finds the rows that can be deleted.
CREATE INDEX used_tokens_ending ON used_tokens (good_until);

-- Wrong passwords in a row, counted by all nodes together: with the token of a session, and at logins from a device on
-- which the user has a session.
CREATE TABLE failed_attempts (
    digest bytea PRIMARY KEY, -- of the session, or of user and device
    user_id uuid NOT NULL,
    wrong_passwords bigint NOT NULL,
    wrong_password_at bigint NOT NULL -- when the last one came
);

-- Finds the attempts of a user, and those that can be deleted.
CREATE INDEX failed_attempts_of_user ON failed_attempts (user_id);
CREATE INDEX failed_attempts_ending ON failed_attempts (wrong_password_at);

-- Logins that users have completed on the server's page. The id is also that of the session that the login starts, and that of the
-- login with a phone which the page has completed.
CREATE TABLE page_logins (
    id uuid PRIMARY KEY,
    client_id text NOT NULL,
    request text NOT NULL, -- JSON
    remote_address text,
    user_agent text,
    -- Authentication
    user_id uuid NOT NULL,
    methods text NOT NULL, -- list, as in `amr`
    authenticated_at bigint NOT NULL,
    epoch bigint NOT NULL, -- of the settings at the login
    browser_session_id uuid, -- session of the browser; null: none
    phone_login_id uuid, -- login with a phone by which the session of the browser answered; null: another way
    continued_session_id uuid, -- session that the exchange of the code has continued; null: it has started its own
    -- Authorization code
    code_hash bytea, -- SHA-256; null: the code was cancelled
    code_expires_at bigint NOT NULL,
    code_request bytea, -- SHA-256 of the Idempotency-Key with which the code was exchanged; null: it had none
    code_used_at bigint, -- null: it was not exchanged
    started_at bigint NOT NULL,
    kept_at bigint -- clean-up has found that the row is needed, and looks at it as if it began then; null: it has not
);

-- Finds the login of a code.
CREATE UNIQUE INDEX page_logins_code ON page_logins (code_hash) WHERE code_hash IS NOT NULL;
-- Finds the codes of a user that can still be exchanged.
CREATE INDEX page_logins_user ON page_logins (user_id) WHERE code_used_at IS NULL AND code_hash IS NOT NULL;
-- Finds the logins whose sessions belong to the session of a browser.
CREATE INDEX page_logins_browser ON page_logins (browser_session_id) WHERE browser_session_id IS NOT NULL;
-- Finds the logins that the session of a browser has answered by a login with a phone.
CREATE INDEX page_logins_phone ON page_logins (phone_login_id) WHERE phone_login_id IS NOT NULL;
-- Finds the logins that have continued a session.
CREATE INDEX page_logins_continuing ON page_logins (continued_session_id) WHERE continued_session_id IS NOT NULL;
-- Finds the rows that can be deleted.
CREATE INDEX page_logins_old ON page_logins (coalesce(kept_at, started_at));

-- Logins with a phone. The id is also that of the session that the login starts.
CREATE TABLE phone_logins (
    id uuid PRIMARY KEY,
    kind text NOT NULL, -- 'authorize', 'device', 'backchannel', 'app' or 'enrolment'
    client_id text NOT NULL,
    started_at bigint NOT NULL,
    epoch bigint NOT NULL, -- of the settings at the request
    request text NOT NULL, -- JSON
    bond text NOT NULL, -- 'none', 'session' or 'ping': how long the session depends on the phone
    ping_seconds bigint, -- of the bond 'ping'; null for the others
    code_handle bytea, -- 8 random bytes, in the picture, the link and the push
    user_code text, -- 8 letters (RFC 8628)
    secret_hash bytea, -- SHA-256 of the secret of the device
    browser_hash bytea, -- SHA-256 of the cookie of the browser; null: there is none
    -- What acts and time change
    state text NOT NULL, -- 'requested', 'claimed', 'confirming', 'proving', 'approved', 'signed_in', 'completed', 'aborted', 'signed_out', 'failed' or 'deleted'
    cause text, -- of the end; null: it is not over, or was completed
    ended_at bigint,
    user_id uuid, -- null: the user has not chosen the account by an act
    approved_at bigint,
    number_shown bigint, -- on the device, 10 to 99
    of_user_id uuid, -- user of the phone that has claimed it; before the claim the user that a backend or an invitation names
    phone_session_id uuid, -- of the phone that has claimed it; null: none
    phone_client_id text,
    phone_device_id text,
    arrival text, -- 'scanned', 'linked', 'pushed', 'typed' or 'in_app'
    wishes text NOT NULL, -- of the app, list
    phone_secret_hash bytea, -- SHA-256 of the secret of a phone that enrols; null: it has a session
    browser_session_id uuid, -- session of the browser that has collected it; null: none has
    wrong_factors bigint NOT NULL,
    answered_at bigint, -- last answer of the phone after the login
    input_until bigint NOT NULL,
    collect_until bigint, -- null: it is not approved
    due_at bigint, -- when time may change it next; null: not by itself
    ping_at bigint, -- when its client is told of the result next (OpenID Connect CIBA); null: never, or no more
    ping_tries bigint NOT NULL,
    answered_acts text NOT NULL, -- list, the latest one last
    kept_at bigint -- as for `page_logins`
);

-- Find a living login by what the phone scanned, and by what the user typed.
CREATE UNIQUE INDEX phone_logins_code ON phone_logins (code_handle) WHERE code_handle IS NOT NULL AND ended_at IS NULL;
CREATE UNIQUE INDEX phone_logins_typed ON phone_logins (user_code) WHERE user_code IS NOT NULL AND ended_at IS NULL;
-- Finds the login of a device that asks for its result.
CREATE UNIQUE INDEX phone_logins_secret ON phone_logins (secret_hash) WHERE secret_hash IS NOT NULL;
-- Finds what depends on the session of a phone.
CREATE INDEX phone_logins_phone ON phone_logins (phone_session_id) WHERE phone_session_id IS NOT NULL AND ended_at IS NULL;
-- Finds the logins that the session of a browser has collected.
CREATE INDEX phone_logins_browser ON phone_logins (browser_session_id) WHERE browser_session_id IS NOT NULL;
-- Finds the logins that phones of a user have claimed, and the account of a login.
CREATE INDEX phone_logins_of_user ON phone_logins (of_user_id, started_at) WHERE of_user_id IS NOT NULL;
-- Finds the logins with a ping that is due.
CREATE INDEX phone_logins_ping ON phone_logins (ping_at) WHERE ping_at IS NOT NULL;
-- Finds the logins that time may have changed, and counts those that wait for a phone.
CREATE INDEX phone_logins_due ON phone_logins (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX phone_logins_waiting ON phone_logins (id) WHERE state = 'requested';
-- Finds the rows that can be deleted.
CREATE INDEX phone_logins_old ON phone_logins (coalesce(kept_at, started_at));
-- Find the newest logins, of all or in one state.
CREATE INDEX phone_logins_by_time ON phone_logins (started_at, id);
CREATE INDEX phone_logins_by_state ON phone_logins (state, started_at, id);

-- Readers have the numbers as their cursor. Under shared locks, writers say which numbers may still appear.
CREATE TABLE audit_events (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    occurred_at bigint NOT NULL,
    -- Cause
    actor text NOT NULL,
    remote_address text,
    request_id text,
    -- Subject
    user_id uuid,
    session_id uuid,
    client_id text,
    device_id text,
    device_name text, -- then, or else its platform; it is erased with the user
    token_id text, -- `jti` of a token that a client got for itself
    token_epoch bigint, -- tokens that clients got for themselves in an earlier epoch are over
    reason text,
    -- The revocation that resource servers read about the event; null: it revokes nothing
    revokes text, -- kind of the revocation
    revoked_at bigint,
    revoked_until bigint
);

CREATE INDEX audit_events_of_user ON audit_events (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_events_of_session ON audit_events (session_id) WHERE session_id IS NOT NULL;
-- Finds the ends that the receiver of a client's logout tokens has not taken.
CREATE INDEX audit_events_ends ON audit_events (client_id, number) WHERE kind = 'session_ended';
-- Find the last change of a limit of sessions.
CREATE INDEX audit_events_of_clients ON audit_events (client_id, number) WHERE kind = 'client_changed';
CREATE INDEX audit_events_of_settings ON audit_events (kind, number) WHERE kind = 'settings_changed';

-- The feed that resource servers read: access tokens that have not expired and are refused all the same. Numbers are
-- as in the audit trail.
CREATE TABLE revocations (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    revoked_at bigint NOT NULL,
    matters_until bigint NOT NULL, -- from then on all tokens that it is about have expired
    user_id uuid,
    session_id uuid,
    client_id text,
    token_id text, -- `jti`
    token_epoch bigint, -- concerns tokens that clients got for themselves in an earlier epoch
    reason text
);

-- Finds the rows that can be deleted.
CREATE INDEX revocations_ending ON revocations (matters_until);

-- The progress of each delivery in the audit trail (webhook, logout tokens, stream), and the node that sends.
CREATE TABLE deliveries (
    name text COLLATE "C" PRIMARY KEY,
    cursor bigint NOT NULL, -- number of the last event that is done
    since bigint NOT NULL, -- Unix seconds: events from before are not sent
    holder text NOT NULL,
    held_until bigint NOT NULL,
    failing_since bigint
);

-- The node that cleans up, and its walk along all sessions after a change that moves their ends.
CREATE TABLE clean_up (
    id bigint PRIMARY KEY CHECK (id = 1),
    holder text NOT NULL,
    held_until bigint NOT NULL,
    walked_to uuid, -- the last session of the walk; null: there is no walk
    walk_end uuid, -- the last session before a change, to which the walk goes once more; null: there was no change
    users_read_to uuid -- the last anonymous user that was read; null: the next one is the first
);
INSERT INTO clean_up (id, holder, held_until) VALUES (1, '', 0);

CREATE TABLE signing_keys (
    number bigint GENERATED ALWAYS AS IDENTITY, -- order of arrival
    id text PRIMARY KEY, -- RFC 7638 thumbprint
    algorithm text NOT NULL,
    sealed_private_key bytea NOT NULL,
    created_at bigint NOT NULL,
    active_at bigint NOT NULL,
    retired_at bigint
);

CREATE TABLE admin_keys (
    number bigint GENERATED ALWAYS AS IDENTITY, -- order of arrival
    id text PRIMARY KEY,
    name text NOT NULL,
    hash bytea NOT NULL, -- SHA-256
    scope text NOT NULL, -- what the key may do
    created_at bigint NOT NULL,
    expires_at bigint, -- null: never
    last_used_at bigint -- to the hour
);

-- The readiness check writes this row, so that it fails when a change would fail.
CREATE TABLE heartbeat (
    id bigint PRIMARY KEY CHECK (id = 1),
    beats bigint NOT NULL
);
INSERT INTO heartbeat (id, beats) VALUES (1, 0);

-- How far the clock of each node's machine is ahead of the database's. By the other nodes, one tells which clock is wrong.
CREATE TABLE nodes (
    name text PRIMARY KEY, -- random, at each start
    lead_milliseconds bigint NOT NULL,
    reports bigint NOT NULL, -- by it, one tells a new report from that of a node that is gone
    seen_at bigint NOT NULL -- the last report
);
