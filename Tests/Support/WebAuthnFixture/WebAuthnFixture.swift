// WebAuthnFixture: an authenticator and its client in memory, for the tests of everything that takes passkeys.
//
// It owns the making of registrations and assertions, whole or wrong in one place. It must not use what reads them: the CBOR
// that it writes is its own.
