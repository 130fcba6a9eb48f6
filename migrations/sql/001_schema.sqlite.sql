-- effects: adds tables schema_migrations, settings, clients, users, user_sources, identities, user_details,
--   totp_factors, recovery_codes, verifications, mailboxes, mails, logos, passkeys,
--   sessions, provider_checks, pins, foreign_tokens, used_tokens, failed_attempts, page_logins, phone_logins, audit_events, revocations,
--   deliveries, clean_up, signing_keys, admin_keys, heartbeat
-- readable by: 1

-- Columns named …_at hold Unix seconds, columns named …_seconds durations. Identifiers are 16 random bytes.
-- Lists are words with a space between them. A column that may be null says what null means, unless it is "none".

-- "Sojr": by this number `file` and the next start recognise the database.
PRAGMA application_id = 0x536F6A72;

CREATE TABLE schema_migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    digest BLOB NOT NULL, -- SHA-256 of the migration's text
    applied_at INTEGER NOT NULL,
    readable_by INTEGER NOT NULL, -- version that a program must know to work on the schema from here on
    newest_known INTEGER NOT NULL -- newest version that the program knew which applied this one
) STRICT;

-- One row: the settings of an admin, and the server's state of all sessions.
CREATE TABLE settings (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    -- Lifetimes
    offline_session_idle_seconds INTEGER NOT NULL,
    offline_session_max_limited INTEGER NOT NULL,
    offline_session_max_seconds INTEGER NOT NULL,
    refresh_after_seconds INTEGER NOT NULL,
    rotation_interval_seconds INTEGER NOT NULL,
    -- Login
    second_factor_policy TEXT NOT NULL, -- 'off', 'if_enrolled', 'required_at_login' or 'required'
    branding TEXT, -- JSON; null: none
    -- State of all sessions
    served_max_seconds INTEGER, -- absolute maximum in the file of the node that started last; null before the first start
    earlier_tokens_end_at INTEGER, -- when the last token expires that was issued before lifetimes were shortened
    restores TEXT, -- list: FROM:AT, the times of the backup and of the restore; null: never
    -- "Revoke all"
    epoch INTEGER NOT NULL, -- counts "revoke all", new clients, and ended secrets and keys of clients
    revoked_before_epoch INTEGER, -- sessions with a smaller epoch are over
    revoked_before_at INTEGER
) STRICT;

CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    name TEXT,
    created_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL, -- of the settings when the client was made
    token_epoch INTEGER NOT NULL, -- tokens that the client got for itself in an earlier epoch are over
    -- How the client authenticates
    authentication_method TEXT NOT NULL,
    authentication_method_pinned INTEGER NOT NULL, -- otherwise a secret is accepted in the header and in the form
    secret_hash BLOB,
    earlier_secret_hash BLOB, -- of the secret before, which is accepted until its end
    earlier_secret_ends_at INTEGER,
    jwks TEXT, -- public keys of its assertions (RFC 7523), as a JWK set
    dpop TEXT NOT NULL, -- 'optional', 'required' or 'nonce': whether a login must bring a proof of possession (RFC 9449), and each proof a nonce
    -- Permissions of the client
    grant_types TEXT NOT NULL, -- list
    scope TEXT NOT NULL, -- list
    scope_claims TEXT NOT NULL, -- JSON: claims of users that each scope brings into ID tokens and userinfo
    resources TEXT NOT NULL, -- list of the APIs that it can have tokens for (RFC 8707)
    allowed_origins TEXT NOT NULL, -- list of the origins of pages that may call the server as this client (CORS)
    token_style TEXT NOT NULL,
    -- Hosted login
    redirect_uris TEXT NOT NULL, -- list
    post_logout_redirect_uris TEXT NOT NULL, -- list
    redirect_hops TEXT NOT NULL, -- list
    require_pushed_authorization_requests INTEGER NOT NULL, -- RFC 9126
    pkce TEXT NOT NULL, -- 'required' or 'optional' for requests with a nonce (RFC 9700)
    browser_session TEXT NOT NULL, -- 'none', 'client' or 'shared': which logins the session of a browser answers
    login_methods TEXT, -- list; NULL: every way
    login_names TEXT NOT NULL, -- 'username', 'email' or 'both'
    backchannel_logout_uri TEXT,
    backchannel_logout_session_required INTEGER NOT NULL,
    backchannel_token_delivery_mode TEXT NOT NULL, -- 'poll' or 'ping' (OpenID Connect CIBA)
    backchannel_client_notification_endpoint TEXT,
    id_token_signed_response_alg TEXT, -- 'RS256'; null: as access tokens
    initiate_login_uri TEXT,
    remote_scope TEXT,
    minimum_bond TEXT NOT NULL, -- 'none' or 'session': the weakest bond of a session to the phone that lets it in
    apple_app_ids TEXT NOT NULL, -- list: TEAMID.bundle.id
    android_apps TEXT NOT NULL, -- list: PACKAGE/FINGERPRINT
    -- Lifetimes; null: as in the settings
    offline_session_idle_seconds INTEGER,
    offline_session_max_seconds INTEGER,
    access_token_lifetime_seconds INTEGER,
    refresh_after_seconds INTEGER,
    app_data TEXT NOT NULL, -- 'ignore', 'report' or 'refuse' a refresh that names another platform than the login
    attestation TEXT NOT NULL, -- 'ignore', 'report' or 'refuse' a refresh in a session without the verdict 'genuine'
    stays_logged_in INTEGER NOT NULL, -- otherwise a login gives one short access token
    sign_up INTEGER NOT NULL, -- whether strangers make accounts by a proof of their mailbox
    second_factor_policy TEXT, -- null: as in the settings
    branding TEXT, -- JSON; null: as in the settings
    anonymous_users INTEGER NOT NULL, -- whether a login can make a user without username and password
    user_presence_max_age_seconds INTEGER, -- how long a session goes on without proof of the user's presence; null: for ever
    event_stream TEXT -- JSON; null: the client has no stream of security events (OpenID SSF)
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    username TEXT NOT NULL,
    username_key TEXT NOT NULL UNIQUE, -- normalised, lower-case
    -- Profile
    email TEXT,
    verified_email_key TEXT, -- of the verified address; counts while it is the key of `email`
    phone_number TEXT,
    names TEXT, -- display name, given name and family name, a line each; null: none of them
    country TEXT,
    claims TEXT, -- claims that an admin has given, as a JSON object
    -- Password
    password_hash TEXT, -- PHC string
    -- Wrong passwords since the last right one, from devices without an active session
    wrong_passwords INTEGER,
    wrong_password_at INTEGER,
    locked_until INTEGER,
    -- Logins switched off
    admin_disabling TEXT, -- 'immediate' or 'on_expiry'; null: logins are on
    admin_disabled_at INTEGER,
    admin_disabling_note TEXT,
    user_disabling TEXT, -- 'immediate' or 'on_expiry'; null: logins are on
    user_disabled_at INTEGER,
    user_disabling_note TEXT,
    -- Lifetimes
    offline_session_max_seconds INTEGER, -- null: as in client and settings
    anonymous INTEGER NOT NULL -- without password and identity; the username is a placeholder
) STRICT;

-- Finds the anonymous users, which are deleted when they have no active session.
CREATE INDEX users_anonymous ON users (id) WHERE anonymous = 1;

-- Lets one user have a verified address, and finds the user by a proven address.
CREATE UNIQUE INDEX users_mailbox ON users (verified_email_key) WHERE verified_email_key IS NOT NULL;

-- Finds the users with an address, verified or not.
CREATE INDEX users_email ON users (lower(email)) WHERE email IS NOT NULL;

-- Finds the users with a telephone number.
CREATE INDEX users_phone_number ON users (phone_number) WHERE phone_number IS NOT NULL;

-- Where the names, addresses and passwords of users come from: 'admin', 'import', 'proof' (of the mailbox), 'provider',
-- 'invitation' or 'user'. Logins by a proven address and by
-- a phone read it, and no refresh does.
CREATE TABLE user_sources (
    user_id BLOB PRIMARY KEY,
    username TEXT NOT NULL,
    email TEXT, -- null: there is no address
    password TEXT, -- null: there is no password
    access TEXT NOT NULL, -- of the first sessions, passkeys and identities
    devices_unknown_at INTEGER -- null: no end of all sessions has made the devices of the user unknown
) STRICT, WITHOUT ROWID;

-- Links users to their subjects at identity providers.
CREATE TABLE identities (
    provider TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id BLOB NOT NULL,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;

-- Finds the identities of a user.
CREATE INDEX identities_of_user ON identities (user_id);

-- What few users have. Logins and calls of the account read it, and no refresh does.
CREATE TABLE user_details (
    user_id BLOB PRIMARY KEY,
    language TEXT, -- of pages and mails; null: unknown
    second_factor TEXT, -- 'required' or 'exempt'; null: as in client and settings
    wrong_factors INTEGER NOT NULL, -- wrong codes since the last right one
    wrong_factor_at INTEGER,
    former_email TEXT, -- verified address before the last change, which its owner can undo
    former_email_until INTEGER,
    delete_at INTEGER -- when clean-up deletes the user, as the user has wished
) STRICT, WITHOUT ROWID;

-- Finds the users that are to be deleted.
CREATE INDEX user_details_deleting ON user_details (delete_at) WHERE delete_at IS NOT NULL;

-- Authenticator apps of users (RFC 6238).
CREATE TABLE totp_factors (
    id BLOB PRIMARY KEY,
    user_id BLOB NOT NULL,
    name TEXT NOT NULL,
    sealed_seed BLOB NOT NULL, -- encrypted by a root key
    algorithm TEXT NOT NULL, -- 'SHA1', 'SHA256' or 'SHA512'
    digits INTEGER NOT NULL,
    period INTEGER NOT NULL,
    last_step INTEGER NOT NULL, -- newest time step of which a code was accepted
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER, -- null: the user has not shown a code yet
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

-- Finds the authenticator apps of a user.
CREATE INDEX totp_factors_of_user ON totp_factors (user_id);

-- One-time codes for users without their authenticator.
CREATE TABLE recovery_codes (
    user_id BLOB NOT NULL,
    hash BLOB NOT NULL, -- SHA-256 of the code, which has 120 random bits
    used_at INTEGER,
    PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

-- Proofs of mailboxes that are under way. Code and link are derived from the id and a root key, and are not stored.
CREATE TABLE verifications (
    id BLOB PRIMARY KEY,
    purpose TEXT NOT NULL, -- 'sign_up', 'sign_in', 'reset' or 'email'
    mailbox BLOB NOT NULL, -- keyed hash of the address in lower case
    email TEXT, -- as it is written to; null: nothing is written to it
    user_id BLOB, -- null: a sign-up, or no such user
    client_id TEXT,
    asker BLOB, -- SHA-256 of the secret of the browser, app or session that asked; null: an admin
    session_id BLOB, -- session that changes its user's address
    language TEXT NOT NULL,
    key_id INTEGER NOT NULL, -- root key of code and link
    created_at INTEGER NOT NULL,
    code_until INTEGER NOT NULL,
    link_until INTEGER NOT NULL,
    mails INTEGER NOT NULL,
    mailed_at INTEGER,
    wrong_codes INTEGER NOT NULL,
    proven_at INTEGER,
    ended_at INTEGER -- used, cancelled, replaced, or out of tries
) STRICT, WITHOUT ROWID;

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
    mailbox BLOB PRIMARY KEY,
    since INTEGER NOT NULL, -- beginning of the day of the counts
    mails INTEGER NOT NULL,
    wrong_codes INTEGER NOT NULL,
    refused_at INTEGER, -- when a relay refused the mailbox
    reply TEXT -- of that relay
) STRICT, WITHOUT ROWID;

-- Finds the counts that are over.
CREATE INDEX mailboxes_since ON mailboxes (since);

-- Mails that are to be sent. The table holds no code, no link and no text.
CREATE TABLE mails (
    id BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    user_id BLOB,
    verification_id BLOB,
    email TEXT, -- null: the address of the verification
    language TEXT NOT NULL,
    facts TEXT NOT NULL, -- JSON: what the template names
    event INTEGER, -- event of the audit trail that the mail tells; null: none
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    due_at INTEGER, -- next attempt; null: none
    tries INTEGER NOT NULL,
    reply TEXT -- last one of the relay
) STRICT, WITHOUT ROWID;

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
    digest BLOB PRIMARY KEY, -- SHA-256 of the picture
    type TEXT NOT NULL, -- 'image/png' or 'image/webp'
    bytes BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- WebAuthn credentials of users.
CREATE TABLE passkeys (
    credential_id BLOB PRIMARY KEY, -- 1 to 1023 bytes
    user_id BLOB NOT NULL,
    rp_id TEXT NOT NULL,
    public_key BLOB NOT NULL, -- COSE_Key, as the authenticator sent it
    sign_count INTEGER NOT NULL, -- 0: the authenticator has no counter
    backup_eligible INTEGER NOT NULL, -- flag BE of the last ceremony
    backed_up INTEGER NOT NULL, -- flag BS
    user_verified INTEGER NOT NULL, -- flag UV
    transports TEXT NOT NULL, -- list
    aaguid BLOB, -- model of the authenticator; null: it does not say
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

-- Finds the passkeys of a user.
CREATE INDEX passkeys_of_user ON passkeys (user_id);

-- One permanent row for each session: an ended session becomes a tombstone, which outlasts its user (so there is no
-- foreign key). Rows lie in the order of arrival, which fills their pages. In a table WITHOUT ROWID random ids would leave
-- a third of every page empty, and whole rows as separators in its inner pages would make the part worth caching twenty
-- times as large.
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    -- The session is of one user, client and device.
    user_id BLOB NOT NULL,
    -- Row of the user, found without the index of ids. The number of a deleted user may be used again, the id is not, so
    -- a join compares both. Every active session has a user.
    user_number INTEGER NOT NULL,
    client_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    device_name TEXT,
    device_platform TEXT,
    device_app_version TEXT,
    -- Login
    started_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL, -- of the settings at the login
    look_at INTEGER NOT NULL, -- when clean-up looks at it next, while it has no end; a refresh never moves it
    authentication_mode TEXT NOT NULL,
    authentication_methods TEXT NOT NULL, -- list, as in `amr`
    scope TEXT NOT NULL, -- list
    resources TEXT NOT NULL, -- list of the APIs that the login asked for (RFC 8707)
    -- Keys
    key_thumbprint TEXT, -- key that every refresh must prove (DPoP)
    device_key TEXT, -- public key that resumes the session (RFC 7523): algorithm, a dot, coordinates in base64url
    encryption_key TEXT, -- public key to which messages to the device are encrypted: curve, a dot, coordinates
    -- Presence of the user
    presence_key TEXT, -- public key that signs while the user is present
    presence_proven_at INTEGER,
    password_proven_at INTEGER,
    attestation TEXT, -- verdict of the operator's own attestation, set by an admin key
    -- The phone that let it in
    parent_session_id BLOB, -- session of the phone, on which this one depends; null: it depends on none
    probation_until INTEGER, -- until when it may do less; null: it never had to
    identity_proven_at INTEGER, -- last authentication at an identity provider, by the login or later
    -- Confirmation by an identity provider; null: no provider is asked
    confirmed_by TEXT,
    confirmed_at INTEGER,
    -- Columns that a refresh changes. No index has them, so that a refresh dirties one page.
    parent INTEGER NOT NULL,
    child INTEGER NOT NULL,
    child_answered_at INTEGER NOT NULL,
    renewed_at INTEGER NOT NULL, -- last refresh, to a quarter of the rotation interval; the idle time counts from it
    child_request_key INTEGER,
    child_confirmed_at INTEGER, -- when the child was presented before the next one was due; counts if later than the answer
    ended_at INTEGER,
    ended_reason TEXT
) STRICT;

-- At most one active session for each device. Finds the active sessions of a user.
CREATE UNIQUE INDEX sessions_living ON sessions (user_number, client_id, device_id) WHERE ended_at IS NULL;

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
    session_id BLOB PRIMARY KEY,
    provider TEXT NOT NULL,
    subject TEXT NOT NULL, -- the answer must be about this subject
    client_id TEXT NOT NULL, -- the id that the app has at the provider
    sealed_token BLOB, -- refresh token of the provider; null: it was lost
    rotates INTEGER NOT NULL, -- whether the provider's answers replace the token
    due_at INTEGER NOT NULL,
    failing_since INTEGER,
    in_doubt INTEGER NOT NULL, -- an answer may have been lost
    revision INTEGER NOT NULL -- counts the nodes that have taken the check
) STRICT;

-- Finds the checks that are due.
CREATE INDEX provider_checks_due ON provider_checks (provider, due_at);

-- PINs of apps: a factor of logins with a phone. No refresh reads them.
CREATE TABLE pins (
    session_id BLOB PRIMARY KEY, -- of the phone
    user_id BLOB NOT NULL,
    mac_hash BLOB NOT NULL, -- SHA-256 of the MAC of the PIN, by a secret of the device
    replaced_mac_hash BLOB, -- of the PIN by which this one was set; null: it was set by another proof
    wrong_pins INTEGER NOT NULL, -- since the last right factor, at all logins together; three lock the PIN
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Refresh tokens of other systems, each accepted once and exchanged for a session. The text of a token is not stored.
CREATE TABLE foreign_tokens (
    digest BLOB PRIMARY KEY, -- SHA-256 of the token's text
    user_id BLOB NOT NULL,
    client_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    device_name TEXT,
    device_platform TEXT,
    device_app_version TEXT,
    scope TEXT, -- null: everything that the client can be granted
    started_at INTEGER NOT NULL,
    expires_at INTEGER,
    epoch INTEGER NOT NULL,
    session_id BLOB, -- the session that it was exchanged for; null: it waits
    exchanged_at INTEGER
) STRICT, WITHOUT ROWID;

-- Find the tokens that clean-up deletes: long ago exchanged, expired, or started.
CREATE INDEX foreign_tokens_exchanged ON foreign_tokens (exchanged_at) WHERE exchanged_at IS NOT NULL;
CREATE INDEX foreign_tokens_expiring ON foreign_tokens (expires_at) WHERE exchanged_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX foreign_tokens_started ON foreign_tokens (started_at) WHERE exchanged_at IS NULL;

-- Finds the waiting tokens of a user, which are deleted when the user's sessions are ended.
CREATE INDEX foreign_tokens_waiting ON foreign_tokens (user_id) WHERE session_id IS NULL;

-- ID tokens and assertions that were used, so that no node accepts one twice, and tokens of clients that were revoked.
CREATE TABLE used_tokens (
    digest BLOB PRIMARY KEY,
    good_until INTEGER NOT NULL -- from then on the token is refused because of its age
) STRICT, WITHOUT ROWID;

-- Finds the rows that can be deleted.
CREATE INDEX used_tokens_ending ON used_tokens (good_until);

-- Wrong passwords in a row, counted by all nodes together: with the token of a session, and at logins from a device on
-- which the user has a session.
CREATE TABLE failed_attempts (
    digest BLOB PRIMARY KEY, -- of the session, or of user and device
    user_id BLOB NOT NULL,
    wrong_passwords INTEGER NOT NULL,
    wrong_password_at INTEGER NOT NULL -- when the last one came
) STRICT, WITHOUT ROWID;

-- Finds the attempts of a user, and those that can be deleted.
CREATE INDEX failed_attempts_of_user ON failed_attempts (user_id);
CREATE INDEX failed_attempts_ending ON failed_attempts (wrong_password_at);

-- Logins that users have completed on the server's page. The id is also that of the session that the login starts, and that of the
-- login with a phone which the page has completed.
CREATE TABLE page_logins (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    client_id TEXT NOT NULL,
    request TEXT NOT NULL, -- JSON
    remote_address TEXT,
    user_agent TEXT,
    -- Authentication
    user_id BLOB NOT NULL,
    methods TEXT NOT NULL, -- list, as in `amr`
    authenticated_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL, -- of the settings at the login
    browser_session_id BLOB, -- session of the browser; null: none
    phone_login_id BLOB, -- login with a phone by which the session of the browser answered; null: another way
    continued_session_id BLOB, -- session that the exchange of the code has continued; null: it has started its own
    -- Authorization code
    code_hash BLOB, -- SHA-256; null: the code was cancelled
    code_expires_at INTEGER NOT NULL,
    code_request BLOB, -- SHA-256 of the Idempotency-Key with which the code was exchanged; null: it had none
    code_used_at INTEGER, -- null: it was not exchanged
    started_at INTEGER NOT NULL,
    kept_at INTEGER -- clean-up has found that the row is needed, and looks at it as if it began then; null: it has not
) STRICT;

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
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL, -- 'authorize', 'device', 'backchannel', 'app' or 'enrolment'
    client_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL, -- of the settings at the request
    request TEXT NOT NULL, -- JSON
    bond TEXT NOT NULL, -- 'none', 'session' or 'ping': how long the session depends on the phone
    ping_seconds INTEGER, -- of the bond 'ping'; null for the others
    code_handle BLOB, -- 8 random bytes, in the picture, the link and the push
    user_code TEXT, -- 8 letters (RFC 8628)
    secret_hash BLOB, -- SHA-256 of the secret of the device
    browser_hash BLOB, -- SHA-256 of the cookie of the browser; null: there is none
    -- What acts and time change
    state TEXT NOT NULL, -- 'requested', 'claimed', 'confirming', 'proving', 'approved', 'signed_in', 'completed', 'aborted', 'signed_out', 'failed' or 'deleted'
    cause TEXT, -- of the end; null: it is not over, or was completed
    ended_at INTEGER,
    user_id BLOB, -- null: the user has not chosen the account by an act
    approved_at INTEGER,
    number_shown INTEGER, -- on the device, 10 to 99
    of_user_id BLOB, -- user of the phone that has claimed it; before the claim the user that a backend or an invitation names
    phone_session_id BLOB, -- of the phone that has claimed it; null: none
    phone_client_id TEXT,
    phone_device_id TEXT,
    arrival TEXT, -- 'scanned', 'linked', 'pushed', 'typed' or 'in_app'
    wishes TEXT NOT NULL, -- of the app, list
    phone_secret_hash BLOB, -- SHA-256 of the secret of a phone that enrols; null: it has a session
    browser_session_id BLOB, -- session of the browser that has collected it; null: none has
    wrong_factors INTEGER NOT NULL,
    answered_at INTEGER, -- last answer of the phone after the login
    input_until INTEGER NOT NULL,
    collect_until INTEGER, -- null: it is not approved
    due_at INTEGER, -- when time may change it next; null: not by itself
    ping_at INTEGER, -- when its client is told of the result next (OpenID Connect CIBA); null: never, or no more
    ping_tries INTEGER NOT NULL,
    answered_acts TEXT NOT NULL, -- list, the latest one last
    kept_at INTEGER -- as for `page_logins`
) STRICT;

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

-- AUTOINCREMENT, because readers have the number as their cursor: it must not be used again after clean-up.
CREATE TABLE audit_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    -- Cause
    actor TEXT NOT NULL,
    remote_address TEXT,
    request_id TEXT,
    -- Subject
    user_id BLOB,
    session_id BLOB,
    client_id TEXT,
    device_id TEXT,
    device_name TEXT, -- then, or else its platform; it is erased with the user
    token_id TEXT, -- `jti` of a token that a client got for itself
    token_epoch INTEGER, -- tokens that clients got for themselves in an earlier epoch are over
    reason TEXT,
    -- The revocation that resource servers read about the event; null: it revokes nothing
    revokes TEXT, -- kind of the revocation
    revoked_at INTEGER,
    revoked_until INTEGER
) STRICT;

CREATE INDEX audit_events_of_user ON audit_events (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_events_of_session ON audit_events (session_id) WHERE session_id IS NOT NULL;
-- Finds the ends that the receiver of a client's logout tokens has not taken.
CREATE INDEX audit_events_ends ON audit_events (client_id, number) WHERE kind = 'session_ended';
-- Find the last change of a limit of sessions.
CREATE INDEX audit_events_of_clients ON audit_events (client_id, number) WHERE kind = 'client_changed';
CREATE INDEX audit_events_of_settings ON audit_events (kind, number) WHERE kind = 'settings_changed';

-- The feed that resource servers read: access tokens that have not expired and are refused all the same. The number is
-- that of the event in the audit trail.
CREATE TABLE revocations (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    revoked_at INTEGER NOT NULL,
    matters_until INTEGER NOT NULL, -- from then on all tokens that it is about have expired
    user_id BLOB,
    session_id BLOB,
    client_id TEXT,
    token_id TEXT, -- `jti`
    token_epoch INTEGER, -- concerns tokens that clients got for themselves in an earlier epoch
    reason TEXT
) STRICT;

-- Finds the rows that can be deleted.
CREATE INDEX revocations_ending ON revocations (matters_until);

-- The progress of each delivery in the audit trail (webhook, logout tokens, stream), and the node that sends.
CREATE TABLE deliveries (
    name TEXT PRIMARY KEY,
    cursor INTEGER NOT NULL, -- number of the last event that is done
    since INTEGER NOT NULL, -- Unix seconds: events from before are not sent
    holder TEXT NOT NULL,
    held_until INTEGER NOT NULL,
    failing_since INTEGER
) STRICT, WITHOUT ROWID;

-- The node that cleans up, and its walk along all sessions after a change that moves their ends.
CREATE TABLE clean_up (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    holder TEXT NOT NULL,
    held_until INTEGER NOT NULL,
    walked_to BLOB, -- the last session of the walk; null: there is no walk
    walk_end BLOB, -- the last session before a change, to which the walk goes once more; null: there was no change
    users_read_to BLOB -- the last anonymous user that was read; null: the next one is the first
) STRICT;
INSERT INTO clean_up (id, holder, held_until) VALUES (1, '', 0);

CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY, -- RFC 7638 thumbprint
    algorithm TEXT NOT NULL,
    sealed_private_key BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    active_at INTEGER NOT NULL,
    retired_at INTEGER
) STRICT;

CREATE TABLE admin_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash BLOB NOT NULL, -- SHA-256
    scope TEXT NOT NULL, -- what the key may do
    created_at INTEGER NOT NULL,
    expires_at INTEGER, -- null: never
    last_used_at INTEGER -- to the hour
) STRICT;

-- The readiness check writes this row, so that it fails when a change would fail.
CREATE TABLE heartbeat (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    beats INTEGER NOT NULL
) STRICT;
INSERT INTO heartbeat (id, beats) VALUES (1, 0);
