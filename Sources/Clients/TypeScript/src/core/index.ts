// The client without a platform. Reading order: platform (what it stands on), verdict (what is final), record (what is stored), time,
// base, exchange, renewal, tokens, then the verbs from signing-out to phone-login.

export {SojournClient} from "./client.js"
export type {SignIn} from "./client.js"
export type {SojournConfiguration} from "./configuration.js"
export {SojournError} from "./errors.js"
export type {PresenceRequirement, Refusal, SojournErrorKind, Unreachable} from "./errors.js"
export {KeyError, PromptError, StoreError} from "./platform.js"
export type {
    Clock, DeviceKey, Environment, HTTPAnswer, HTTPRequest, Keys, LoginAttempt, LoginAttempts, LoginPresenter, PasskeyAuthenticator,
    Platform, PublicJWK, SessionStore, StoredRecord,
} from "./platform.js"
export type {Account, AuthenticationMode, Reachability, SessionState} from "./state.js"
export type {AccessToken, Need} from "./session/tokens.js"
export type {LoginPage} from "./verbs/login-page.js"
export type {Passkey} from "./verbs/passkeys.js"
export type {Device, Identity, LoginSettings, ProfileChange} from "./verbs/account.js"
export type {Purpose, Verification} from "./verbs/verifications.js"
export type {EmailChange, SignUpSecret} from "./verbs/sign-up.js"
export type {Authenticator, SecondFactors} from "./verbs/factors.js"
export {SecondFactorLogin} from "./verbs/second-factor.js"
export type {NewAuthenticator} from "./verbs/second-factor.js"
export type {Abort, PhoneLoginEvent, PhoneLoginOptions} from "./verbs/phone-login.js"
export {MemoryStore} from "./memory-store.js"
