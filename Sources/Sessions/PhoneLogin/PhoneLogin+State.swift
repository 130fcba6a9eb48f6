extension PhoneLogin {
    /// The state of a login. The words are those of the mobile SDK's sessions, on the wire and in the database.
    ///
    /// The input belongs to one state only, so that no other state can have one.
    public enum State: Hashable, Sendable {
        /// Requested; no phone has claimed it.
        case starting
        /// A phone has claimed it and holds it until its app is ready.
        case readyForUserInteraction
        /// The user has to act on the phone.
        case waitingForUserInput(PhoneLogin.Input)
        /// The user has acted; whether the login is finished is in the history.
        case active
        /// Final: ended in the normal way, with or without success.
        case done
        /// Final: ended by an error.
        case error

        /// Whether no act can change the state any more.
        public var isFinal: Bool { self == .done || self == .error }

        /// Whether the time-out for the user's input runs.
        public var awaitsInput: Bool { !isFinal && self != .active }

        /// The word on the wire.
        public var word: String {
            switch self {
            case .starting: "STARTING"
            case .readyForUserInteraction: "READY_FOR_USER_INTERACTION"
            case .waitingForUserInput: "WAITING_FOR_USER_INPUT"
            case .active: "ACTIVE"
            case .done: "DONE"
            case .error: "ERROR"
            }
        }

        /// The words, in the order of a login.
        public static let words = [
            "STARTING", "READY_FOR_USER_INTERACTION", "WAITING_FOR_USER_INPUT", "ACTIVE", "DONE", "ERROR",
        ]

        /// The awaited input; nil in all states but `waitingForUserInput`.
        public var input: PhoneLogin.Input? {
            if case .waitingForUserInput(let input) = self { input } else { nil }
        }

        /// The state with those words; nil for words that do not belong together.
        public init?(word: String, input: PhoneLogin.Input?) {
            let all: [PhoneLogin.State] = [
                .starting, .readyForUserInteraction, .waitingForUserInput(.confirmation),
                .waitingForUserInput(.secondFactor), .active, .done, .error,
            ]
            guard let state = all.first(where: { $0.word == word && $0.input == input }) else { return nil }
            self = state
        }
    }
}

extension PhoneLogin {
    /// What the user is asked for.
    public enum Input: String, CaseIterable, Sendable {
        /// The consent to log in with the account of the phone's session.
        case confirmation = "WAIT_FOR_CONFIRMATION"
        /// Biometry or the password.
        case secondFactor = "WAIT_FOR_SECOND_FACTOR"
    }
}

extension PhoneLogin {
    /// What has come of a login. It stays readable after the end.
    public enum History: String, CaseIterable, Sendable {
        /// Nothing yet. No login ends so.
        case fail = "FAIL"
        /// Logged in, and bound to the phone.
        case loggedIn = "LOGGED_IN"
        /// Logged in, without a bond.
        case loggedInOneShot = "LOGGED_IN_ONE_SHOT"
        /// Denied, or not completed in time.
        case aborted = "ABORTED"
        /// A session with a bond is over.
        case loggedOut = "LOGGED_OUT"
        case error = "ERROR"
        /// The user was deleted.
        case deleted = "DELETED"
    }
}

extension PhoneLogin {
    /// Why a login ended.
    public enum Cause: RawRepresentable, Hashable, Sendable {
        /// The user refused on the phone.
        case denied
        /// The device that wanted to be logged in gave up.
        case canceled
        /// No input in time.
        case timedOut
        /// The device did not come for its session in time.
        case notCollected
        /// Another number than that on the device was entered.
        case wrongNumber
        /// A second phone presented the code of a claimed login.
        case contested
        /// The second factor was wrong too often.
        case secondFactorFailed
        /// A fault of the server.
        case fault
        /// The session of the phone ended.
        case parentEnded
        /// The phone did not answer in time.
        case presenceLost
        /// The session that the login started ended for this reason.
        case ended(EndReason)

        private static let own: [PhoneLogin.Cause] = [
            .denied, .canceled, .timedOut, .notCollected, .wrongNumber, .contested, .secondFactorFailed, .fault,
            .parentEnded, .presenceLost,
        ]

        /// The word on the wire and in the database. A switch, because values are compared by their words.
        public var rawValue: String {
            switch self {
            case .denied: "denied"
            case .canceled: "canceled"
            case .timedOut: "timed_out"
            case .notCollected: "not_collected"
            case .wrongNumber: "wrong_number"
            case .contested: "contested"
            case .secondFactorFailed: "second_factor_failed"
            case .fault: "fault"
            case .parentEnded: "parent_ended"
            case .presenceLost: "presence_lost"
            case .ended(let reason): reason.rawValue
            }
        }

        /// The cause with that word; nil if there is none.
        public init?(rawValue: String) {
            if let known = Self.own.first(where: { $0.rawValue == rawValue }) {
                self = known
            } else if let reason = EndReason(rawValue: rawValue) {
                self = .ended(reason)
            } else {
                return nil
            }
        }
    }
}

extension PhoneLogin {
    /// How long the session of a login depends on the phone that let it in.
    public enum Bond: Hashable, Sendable {
        /// Not at all: the login is a single act.
        case none
        /// It ends with the session of the phone.
        case session
        /// Furthermore it ends when the phone has not answered for that long.
        case ping(Duration)

        /// The word on the wire.
        public var word: String {
            switch self {
            case .none: "none"
            case .session: "session"
            case .ping: "ping"
            }
        }

        /// The longest silence of the phone; nil for the bonds that do not depend on its answers.
        public var interval: Duration? {
            if case .ping(let interval) = self { interval } else { nil }
        }

        /// The bond with that word; nil if there is none.
        public init?(word: String, interval: Duration?) {
            switch (word, interval) {
            case ("none", nil): self = .none
            case ("session", nil): self = .session
            case ("ping", let interval?): self = .ping(interval)
            default: return nil
            }
        }

        /// The weakest bonds that a client can be allowed.
        public enum Minimum: String, CaseIterable, Sendable {
            /// Any: a login can be a single act, which the end of the phone does not undo.
            case none
            /// Every session ends with that of the phone.
            case session
        }

        /// Whether the bond is as strong as a client demands.
        public func meets(_ minimum: Minimum) -> Bool { self != .none || minimum == .none }

        /// The shortest time between two answers.
        public static let pingMin = Duration.seconds(60)
        /// The longest time between two answers. The bond `session` is for more.
        public static let pingMax = Duration.seconds(604_800)
    }
}
