// Sessions: the domain, that is what a login session is, how it is renewed, and how it ends.
//
// It owns the values (session, user, client, settings), the decisions on them, the use cases, and the protocol of the store
// that keeps them. It knows no HTTP, no SQL, no socket, no configuration file and no clock of its own: requests come in as
// values, the store and the time are given to `ServiceContext`, and errors go out as `ServiceError`.
//
// Reading order: Refresh/RefreshPolicy.swift (the whole decision on a refresh), then Refresh/RefreshService.swift (the way to
// it and back), then Store/Store.swift (what a database has to do). The targets SQLiteStore and PostgresStore write what is
// decided here: SessionRow.swift and SessionWrites.swift. After that any folder by itself. A folder is a feature: it has the
// values, the policy, the procedures (extensions of `Store`, one transaction each, in a file named by a plural: `Users`,
// `PhoneLogins`) and the service (a member of `Services`).
//
// - Refresh        the decision on a refresh, `RefreshAttempt`, refresh tokens. Begin here
// - Session        sessions and devices, their start and end, lifetimes, reasons of ends, what ends with a session
// - PasswordLogin  the login by name and password: hashing and its queue, rules for new passwords, lockout
// - PageLogin      the login on the server's page: authorization requests, codes, ID tokens, sessions of browsers
// - PhoneLogin     the login with the help of a phone: its states, its policy, the codes that a phone scans or a user types
// - Enrolment      a phone that is invited, and the invitations
// - Backchannel    a login that a backend asks for (CIBA)
// - Push           messages to the apps of a user, encrypted to keys of their devices
// - PINs           the PIN of an app, for the second factor of a login with a phone
// - Passkeys       WebAuthn credentials of users, their challenges, and the login by them
// - SecondFactor   authenticator apps and recovery codes of users, and the policy that asks for them
// - Verification   proofs of mailboxes by code and link, and what they allow: sign-up, login, a new password or address
// - Mails          the outbox of mails, which are written when they are sent
// - Branding       logo, color and links that pages and mails show of a client
// - Federation     identities of users at providers, foreign tokens, and what providers answer about sessions
// - Accounts       users, their profile, their own switches and calls
// - Administration the calls of admins, settings, and the catalogue of settings and clients that a node keeps in memory
// - Clients        clients, their authentication, their own tokens
// - Binding        DPoP, replay caches, the user's presence, device keys
// - Tokens         access tokens, their verification and signing, signing keys, root keys, scopes, resources
// - Audit          audit events, revocations and their feed, misused refresh tokens
// - EventStreams   security events for the receivers of clients (OpenID SSF, CAEP, RISC), and their tokens
// - Import         the procedures of an import: users, sessions, clients and revocations from elsewhere
// - Store          the protocol of the store, with the values that it reads and writes together
// - Time           instants, and the guard against a clock that jumps
