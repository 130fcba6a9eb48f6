// Sessions: the domain, that is what a login session is, how it is renewed, and how it ends.
//
// It owns the values (session, user, client, settings), the decisions on them, the use cases, and the protocol of the store
// that keeps them. It knows no HTTP, no SQL, no socket, no configuration file and no clock of its own: requests come in as
// values, the store and the time are given to `ServiceContext`, and errors go out as `ServiceError`.
//
// Reading order: Rotation/RefreshPolicy.swift (the whole decision on a refresh), then UseCases/RefreshService.swift (the way to
// it and back), then Store/Store.swift (what a database has to do). The targets SQLiteStore and PostgresStore write what is
// decided here: SessionRow.swift and SessionWrites.swift. After that any folder by itself:
//
// - Rotation    the decision on a refresh, `RefreshAttempt`, sessions, lifetimes, refresh tokens, reasons of ends
// - UseCases    one service for each job, all of them members of `Services`: refresh, device keys, login, federation, provider
//               checks, logout, verification of access tokens, client authentication, client credentials, signing
// - Logins      the decision on a login with the help of a phone, its states, and the codes that a phone scans or a user types
// - Pushes      messages to the apps of a user, encrypted to keys of their devices
// - Tokens      access tokens, signing keys, root keys, scopes, resources
// - Accounts    users, their profile and switches, administration, password reset
// - Passwords   hashing and its queue, rules for new passwords, failed attempts and lockout
// - Binding     DPoP, replay caches, the user's presence, device keys
// - HostedLogin logins on the server's page: authorization requests, codes, ID tokens, sessions of browsers
// - Federation  identities of users at providers, and what providers answer about sessions
// - EventStreams  security events for the receivers of clients (OpenID SSF, CAEP, RISC), and their tokens
// - Passkeys   WebAuthn credentials of users, their challenges, and the login by them
// - Audit       audit events, revocations and their feed, misused refresh tokens
// - Settings    settings and clients
// - Store       the protocol of the store, with the values that it reads and writes together
// - Procedures  extensions of `Store`: what is done with rows in one transaction, written once for both databases
// - Import      the procedures of an import: users, sessions, clients and revocations from elsewhere
// - Time        instants, and the guard against a clock that jumps
