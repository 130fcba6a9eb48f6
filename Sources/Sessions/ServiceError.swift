public import WebAuthn

/// Why a call of the domain failed. A closed set, so that the mapping to wire errors is one exhaustive switch. The texts are
/// constant or name what the caller sent; they never hold a secret, nor say which of several secret facts was wrong.
public enum ServiceError: Error, Hashable, Sendable {
    /// The store could not answer. No session ends: try again.
    case store(StoreError)
    /// Too much work waits. No session ends: try again.
    case overloaded
    /// Too many passwords wait to be hashed, most of them of the same sender. No session ends: try again.
    case passwordQueueFull
    /// The request was under way for too long, or its `sent_at` is not from now. Nothing was decided: send it again.
    case staleRequest
    /// Too many attempts. No session ends: try again after that time.
    case tooManyRequests(retryAfter: Duration)
    /// A refresh was refused.
    case refused(RefusalReason)
    /// The session is renewed only after a proof of the user's presence (RFC 9470). No session ends.
    case insufficientUserAuthentication(PresenceRequirement)
    /// Unknown user or wrong password: the same answer, equally slow.
    case invalidCredentials
    /// The password beside a valid token of a session is wrong; what is required instead. No session ends.
    case wrongPassword(PresenceRequirement)
    /// An ID token that is not accepted, and why: its holder may know.
    case identityRefused(IdentityRefusal)
    /// A registration of a passkey, or an assertion, that is not accepted, and why: its sender may know.
    case passkeyRefused(WebAuthnError)
    /// The identity provider does not answer, and its last answer does not suffice. Try again.
    case identityProviderUnavailable
    /// An authorization code that is unknown, expired, used, or of another request (RFC 6749 section 5.2).
    case invalidGrant
    /// An act on a login with a phone is refused.
    case login(PhoneLogin.Refusal)
    /// A login with a phone has ended, and there is no session for its device.
    case loginOver(PhoneLogin.Cause)
    /// A pushed authorization request that was answered already (RFC 9126 section 7.3).
    case requestSpent
    /// The password is right, but logins are disabled.
    case loginRefused(RefusalReason)
    /// An access token that is not accepted (RFC 6750 section 3.1), and why, where the reason may be disclosed.
    case invalidToken(RefusalReason?)
    /// The access token is valid and lacks this scope (RFC 6750 section 3.1).
    case scopeMissing(String)
    /// The client gets no tokens without a proof of possession of a key (RFC 9449 section 5).
    case proofMissing
    /// The proof of possession was valid and cannot be used any more: it was used before, or may have been.
    case unproven(DPoPError)
    /// The client is unknown or failed to authenticate (RFC 6749 section 5.2).
    case invalidClient
    /// `invalidClient` or `invalidGrant` with what the client sent and what was expected, for the log. Indirect, because a
    /// refresh carries errors in its frames.
    indirect case clientRefused(ClientRefusal)
    /// The client may not do this (RFC 6749 section 5.2).
    case unauthorizedClient
    /// The client lacks the grant of the call (RFC 6749 section 5.2).
    case grantMissing(Client.GrantType)
    /// The client takes no logins by that method: its `login_methods` do not name it.
    case loginMethodRefused(Client.LoginMethod)
    /// The client does not allow calls of pages of that origin: its `allowed_origins` do not name it. Nothing was decided.
    case originNotAllowed
    /// The client may no longer renew its sessions by this grant (RFC 6749 section 5.2); whether a new login would help. The
    /// session is kept.
    case grantClosed(reauthenticate: Bool)
    /// The scope is malformed, unknown, or exceeds what was granted (RFC 6749 section 5.2).
    case invalidScope
    /// The resource is unknown, or not allowed for the client (RFC 8707 section 2).
    case invalidTarget
    /// Mails are not sent to that address, whether it has an account or not.
    case emailNotSupported
    /// The typed code is wrong; how many tries the verification has left.
    case invalidCode(attemptsLeft: Int)
    /// The verification is used, expired, cancelled, replaced or out of tries.
    case verificationOver
    /// Strangers make no accounts here, or not for that mailbox.
    case signUpClosed
    /// A member of the request is missing or impossible.
    case invalid(member: String, detail: String)
    /// A login or a proof lacks its second factor. Indirect, because a refresh carries errors in its frames.
    indirect case secondFactor(SecondFactorRefusal)
    /// The named thing does not exist.
    case notFound(String)
    /// The request contradicts what is there.
    case conflict(code: String, detail: String)
}
