// WebAuthn: the two ceremonies of a relying party (W3C Web Authentication Level 3, sections 7.1 and 7.2) as pure functions.
//
// Owns: the subset of CBOR that authenticators write (CTAP2 section 8), COSE keys (RFC 9052 section 7), authenticator data
// (section 6.1), client data (section 5.8.1), attestation objects (section 6.5), the JSON of options and responses (section
// 5.1), and every check of a registration and of an assertion.
//
// Must not know: users, sessions, the store, the time. The caller makes the challenges, sees to it that each is used once,
// looks up the credential, and keeps what a ceremony returns.
//
// An attestation statement is read and not verified, because no policy of this server depends on the maker of an
// authenticator. What a registration proves is that somebody with this key answered this challenge for this site.
//
// Reading order: RelyingParty, then Registration and Assertion, then what they read: ClientData, AuthenticatorData,
// AttestationObject, COSEKey, CBOR. Options writes what a browser or an app is asked. WebAuthnError names every refusal.
