extension PhoneLogin {
    /// The answer to an act.
    public enum Reply: Hashable, Sendable {
        /// The login is as the act wanted it.
        case accepted
        /// The session of the login starts for its user, with the phone's session as its parent, and the device gets it.
        case collected
        /// No.
        case refused(PhoneLogin.Refusal)
    }
}

extension PhoneLogin.Reply {
    /// The answer as one word in the database.
    public var rawValue: String {
        switch self {
        case .accepted: "accepted"
        case .collected: "collected"
        case .refused(.wrongFactor(let left)): "wrong_second_factor/\(left)"
        case .refused(.wrongPIN(let left)): "wrong_pin/\(left)"
        case .refused(let refusal): refusal.word
        }
    }

    /// The answer with that word; nil if there is none.
    public init?(rawValue: String) {
        let parts = rawValue.split(separator: "/")
        switch rawValue {
        case "accepted": self = .accepted
        case "collected": self = .collected
        default:
            if parts.first == "wrong_second_factor", parts.count == 2, let left = Int(parts[1]) {
                self = .refused(.wrongFactor(attemptsLeft: left))
            } else if parts.first == "wrong_pin", parts.count == 2, let left = Int(parts[1]) {
                self = .refused(.wrongPIN(attemptsLeft: left))
            } else if let refusal = PhoneLogin.Refusal(word: rawValue) {
                self = .refused(refusal)
            } else {
                return nil
            }
        }
    }
}

extension PhoneLogin {
    /// Why an act on a login is refused.
    public enum Refusal: Hashable, Sendable {
        /// The login is in a final state.
        case terminated
        /// The state awaits another act.
        case notAwaited
        /// Another phone has claimed the login, or none has.
        case notClaimant
        /// The login is approved and belongs to another phone.
        case taken
        /// The number on the other device has to be given.
        case numberRequired
        /// The number is not that on the other device. The login is over.
        case wrongNumber
        /// A second phone presented the code. The login is over.
        case contested
        /// The second factor is wrong. With none left the login is over.
        case wrongFactor(attemptsLeft: Int)
        /// The PIN is wrong. The login goes on.
        case wrongPIN(attemptsLeft: Int)
        /// The PIN was wrong too often, at this login or at earlier ones. The login goes on, and takes another factor.
        case pinLocked
        /// The session of the phone has no PIN.
        case noPIN
        /// The session of the phone has ended, or its user's logins are disabled.
        case phone(RefusalReason)
        /// The session of the phone may approve no logins now.
        case barred
        /// The user has not acted yet (RFC 8628 `authorization_pending`).
        case pending
        /// The session was requested by another browser.
        case otherBrowser
        /// The session was collected before.
        case spent
        /// The server lets in no device that is so far from the phone.
        case elsewhere

        private static let plain: [(PhoneLogin.Refusal, String)] = [
            (.terminated, "session_terminated"), (.notAwaited, "not_awaited"), (.notClaimant, "not_claimant"),
            (.taken, "taken"), (.numberRequired, "number_required"), (.wrongNumber, "wrong_number"),
            (.contested, "contested"), (.barred, "barred"), (.pending, "authorization_pending"),
            (.otherBrowser, "other_browser"), (.spent, "spent"),
            (.elsewhere, "elsewhere"), (.pinLocked, "pin_locked"), (.noPIN, "pin_not_set"),
        ]

        /// Every word but those of a phone's session, for tables.
        public static let words =
            plain.map(\.1) + [
                PhoneLogin.Refusal.wrongFactor(attemptsLeft: 0).word, PhoneLogin.Refusal.wrongPIN(attemptsLeft: 1).word,
            ]

        /// The refusal with that word; nil if there is none. The word of a wrong second factor does not tell how many are left.
        init?(word: String) {
            if let known = Self.plain.first(where: { $0.1 == word }) {
                self = known.0
            } else if let reason = RefusalReason.allCases.first(where: { $0.rawValue == word }) {
                self = .phone(reason)
            } else {
                return nil
            }
        }

        /// The word on the wire.
        public var word: String {
            switch self {
            case .phone(let reason): reason.rawValue
            case .wrongFactor: "wrong_second_factor"
            case .wrongPIN: "wrong_pin"
            default: Self.plain.first { $0.0 == self }?.1 ?? ""
            }
        }
    }
}

extension PhoneLogin {
    /// What follows from an act, beside the change of the row, in the same transaction.
    public enum Effect: Hashable, Sendable {
        /// An event of the audit trail; its reason is the login's cause.
        case record(Record)
        case endSession(PhoneLogin.Cause)
        /// The parent of the session of the login is another one from now on.
        case moveSession(to: Identifier<Session>)
        /// A wrong PIN counts against the PIN of the phone's session.
        case countWrongPIN
        /// A right factor ends the count of wrong PINs.
        case forgetWrongPINs
        /// The second factor has proved presence in the phone's session, from which the time to the next one counts.
        case notePresence(PresenceProof)

        /// The events of the audit trail.
        public enum Record: String, CaseIterable, Sendable {
            case claimed = "login_claimed"
            case approved = "login_approved"
            case aborted = "login_aborted"
            case failed = "login_failed"
            case reported = "login_reported"
        }
    }
}

/// What `PhoneLoginPolicy` decided.
public struct PhoneLoginOutcome: Hashable, Sendable {
    /// The answer to the act.
    public var reply: PhoneLogin.Reply
    /// The login after the act.
    public var login: PhoneLogin
    /// What follows from it, beside the change of the row.
    public var effects: [PhoneLogin.Effect]

    /// An outcome.
    public init(reply: PhoneLogin.Reply, login: PhoneLogin, effects: [PhoneLogin.Effect] = []) {
        self.reply = reply
        self.login = login
        self.effects = effects
    }
}
