extension PhoneLogin {
    /// What happens to a login.
    public enum Act: Hashable, Sendable {
        // Of the phone:
        /// The phone presents a valid code of the login.
        case claim(PhoneLogin.Arrival, PhoneLogin.Wishes)
        /// The app is ready for the user.
        case start
        /// The user agrees to log in with the account of the phone's session, and types the number, if there is one.
        case confirm(number: Int?)
        /// The user proves presence.
        case proveFactor(PhoneFactor)
        /// The user refuses, or ends what came of the login. `isReport`: the user has not asked for it.
        case stop(isReport: Bool)
        /// The phone is there.
        case ping
        /// Another phone of the user takes the place of the first one.
        case adopt(PhoneFactor)

        // Of the device that wants to be logged in:
        /// It comes for its session, from the browser with that hash of its flow cookie; nil: with the secret of the request.
        /// `isReturned`: with the token that only the phone which has followed a link got, and handed on to the device.
        case collect(browser: [UInt8]?, isReturned: Bool = false)
        /// It gives up.
        case cancel

        // Of the server:
        /// Time has passed.
        case tick
        /// A fault of the server.
        case fail
        /// The session of the phone ended.
        case phoneEnded
        /// A new login of the phone replaced its session.
        case phoneReplaced(by: Identifier<Session>)
        /// The session that the login started ended.
        case sessionEnded(EndReason)
        /// A user was deleted.
        case userDeleted(Identifier<User>)
        /// The user says by the link in a message that another person asked for it.
        case report
        /// An admin ends it, with what came of it.
        case revoke

        /// Whether the change of another row brings it, in one transaction with that change.
        var isOfOtherRow: Bool {
            switch self {
            case .phoneEnded, .phoneReplaced, .sessionEnded, .userDeleted: true
            default: false
            }
        }

        /// Whether a phone moves the login towards its success by it.
        var letsIn: Bool {
            switch self {
            case .claim, .start, .confirm, .proveFactor, .adopt: true
            default: false
            }
        }

        /// Whether a phone asks for it.
        var isOfPhone: Bool {
            switch self {
            case .claim, .start, .confirm, .proveFactor, .stop, .ping, .adopt: true
            case .collect, .cancel, .tick, .fail, .phoneEnded, .phoneReplaced, .sessionEnded, .userDeleted, .report,
                .revoke:
                false
            }
        }
    }
}

/// A second factor, after its verification.
public struct PhoneFactor: Hashable, Sendable {
    /// Whether it is right: the signature over the login's id, or the password.
    public let isValid: Bool
    /// The number that the user typed with it, or that the signature covers; nil: none.
    public let number: Int?
    /// What it proves of the user's presence in the session of the phone; nil: nothing that lasts.
    public let proof: PresenceProof?
    /// The PIN of the app, which the decision verifies; nil: another factor.
    public let pin: PIN.MAC?

    /// A factor.
    public init(isValid: Bool, number: Int? = nil, proof: PresenceProof? = nil) {
        self.isValid = isValid
        self.number = number
        self.proof = isValid ? proof : nil
        pin = nil
    }

    /// A PIN, which is not verified yet. It proves no presence.
    public init(pin: PIN.MAC, number: Int? = nil) {
        (isValid, proof) = (false, nil)
        self.number = number
        self.pin = pin
    }
}

/// An act with its circumstances: what the request brings, and the rows that the transaction adds.
public struct PhoneLoginAttempt: Hashable, Sendable {
    /// The act.
    public var act: PhoneLogin.Act
    /// A short hash of `Idempotency-Key`, act and session; nil: the request has no key.
    public var key: UInt64?
    /// The phone that asks; nil: none does. The request brings it if it enrols, because it has no session yet.
    public var phone: Phone?
    /// The phone that has claimed the login, as its session stands now; nil: none has, or its session is unknown.
    public var claimant: Phone?
    /// The PIN of the phone that asks, if the act reads it; nil: there is none.
    public var pin: PIN?
    /// A new random number from 10 to 99, in case one is needed.
    public var drawnNumber: Int
    /// Whether a session of the login lives, beside one that has just ended.
    public var hasSessions: Bool

    /// An attempt.
    public init(
        _ act: PhoneLogin.Act, key: UInt64? = nil, phone: Phone? = nil, claimant: Phone? = nil, pin: PIN? = nil,
        drawnNumber: Int = 10, hasSessions: Bool = false
    ) {
        self.act = act
        self.key = key
        self.phone = phone
        self.claimant = claimant
        self.pin = pin
        self.drawnNumber = drawnNumber
        self.hasSessions = hasSessions
    }
}
