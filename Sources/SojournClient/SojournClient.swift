// SojournClient: keeps an app's user signed in. This is the part of Sojourn that runs on the device.
//
// Owns: the stored session record, the renewal of access tokens, the keys of the device, and every rule of the manual's page
// "How an app stays signed in" (Apps/ClientRules.md). Must not know: the server's modules, user interface, and any API newer
// than iOS 16 or macOS 13. On Linux it imports `Cryptography` and `Locks`, on Apple platforms neither.
//
// Reading order: API/Sojourn (the actor that apps use) · Core/RenewalMachine (a renewal is load, send, compare-and-swap) ·
// Core/Verdict (which answers end a session) · Core/SessionRecord (what is stored) · Stores/SessionStore and Keys/DeviceKeyring
// (what a platform provides) · Presence/PresenceGate and API/Sojourn+Unlocking (biometry) · LoginPage (the
// server's page in a browser) · Passkeys · PhoneLogin/LoginSession (other devices that the phone lets in) and
// PhoneLogin/LoginSessionMachine (what an answer means for one) · Pushes (encrypted messages) · Wire (requests and answers) ·
// Transport. `Core` has no input or output, no clock and no randomness, so that tests walk it exhaustively.
