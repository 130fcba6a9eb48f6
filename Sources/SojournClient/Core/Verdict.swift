/// What an answer to a renewal means for the stored session.
package enum Verdict<Grant: Hashable & Sendable>: Hashable, Sendable {
    /// New tokens.
    case granted(Grant)
    /// The server has ended the session of the token that was presented. The only verdict that does.
    case ended(EndReason)
    /// Logins are switched off, or the request did not come from the session's device. The tokens are kept.
    case suspended(Suspension)
    /// The server asks for the user (RFC 9470). Everything is kept.
    case presenceRequired(PresenceRequirement)
    /// The signature was refused for its nonce or time: sign again, once.
    case signAgain
    /// No answer, or one that is not the server's word about the session: a lost connection, 429, 5xx, a page of a proxy.
    case unreachable(Unreachable)
    /// The first proof of a login was right, and the server asks for a second one.
    case secondFactorRequired(SecondFactorChallenge)
    /// The request itself was refused. The session is not concerned.
    case refused(Refusal)
    /// The app is set up wrongly, for example with an unknown client.
    case misconfigured(String, detail: String? = nil)

    /// Whether a server without the path has answered: one that is no Sojourn, or another listener.
    package var mayBeOfAnotherServer: Bool {
        switch self {
        case .unreachable(let cause): [404, 405, 501].contains(cause.status)
        case .refused(let refusal): [404, 405, 501].contains(refusal.status)
        default: false
        }
    }
}
