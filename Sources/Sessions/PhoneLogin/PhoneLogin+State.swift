extension PhoneLogin {
    /// The state of a login. What only one state has belongs to that state, so that no other can have it.
    public enum State: Hashable, Sendable {
        /// No phone has claimed it.
        case requested
        /// A phone has claimed it and holds it until its app is ready.
        case claimed
        /// The user has to consent on the phone to log in with the account of the phone's session.
        case confirming
        /// The user has to prove presence on the phone, by biometry, the password or the PIN.
        case proving
        /// The user has let the device in, which has not come for its session.
        case approved
        /// A session of the login lives, as far as the login knows, and depends on the phone.
        case signedIn
        /// Final.
        case ended(Ending)

        /// Whether no act can change the state any more, except that the user is deleted.
        public var isFinal: Bool { ending != nil }

        /// Whether the time-out for the user's input runs.
        public var awaitsInput: Bool {
            switch self {
            case .requested, .claimed, .confirming, .proving: true
            case .approved, .signedIn, .ended: false
            }
        }

        /// The end; nil: it is not over.
        public var ending: Ending? { if case .ended(let ending) = self { ending } else { nil } }

        /// What came of it; nil: it is not over.
        public var outcome: Ending.Outcome? { ending?.outcome }

        /// The state as one word.
        public var phase: Phase {
            switch self {
            case .requested: .requested
            case .claimed: .claimed
            case .confirming: .confirming
            case .proving: .proving
            case .approved: .approved
            case .signedIn: .signedIn
            case .ended(let ending): ending.outcome.phase
            }
        }

        /// The state of a row; nil for columns that do not belong together.
        public init?(_ phase: Phase, cause: Cause?, endedAt: Instant?) {
            if let outcome = Ending.Outcome.allCases.first(where: { $0.phase == phase }) {
                guard let endedAt else { return nil }
                self = .ended(Ending(outcome, cause, at: endedAt))
                return
            }
            let living: [State] = [.requested, .claimed, .confirming, .proving, .approved, .signedIn]
            guard cause == nil, endedAt == nil, let state = living.first(where: { $0.phase == phase }) else {
                return nil
            }
            self = state
        }
    }

    /// How a login ended.
    public struct Ending: Hashable, Sendable {
        /// What came of a login.
        public enum Outcome: CaseIterable, Sendable {
            /// The device was logged in by an act that does not bind it to the phone.
            case completed
            /// No device was logged in: refused, given up, or not completed in time.
            case aborted
            /// The session that depended on the phone is over.
            case signedOut
            /// No device was logged in, because of an error or a sign of fraud.
            case failed
            /// The user was deleted, during the login or after its end.
            case deleted

            fileprivate var phase: Phase {
                switch self {
                case .completed: .completed
                case .aborted: .aborted
                case .signedOut: .signedOut
                case .failed: .failed
                case .deleted: .deleted
                }
            }
        }

        /// What came of it.
        public var outcome: Outcome
        /// Why it ended; nil for a login of one act that succeeded.
        public let cause: Cause?
        /// When it ended.
        public let at: Instant

        /// The end of a login.
        public init(_ outcome: Outcome, _ cause: Cause?, at instant: Instant) {
            (self.outcome, self.cause, at) = (outcome, cause, instant)
        }
    }

    /// A state as one word, in the database and for admins.
    public enum Phase: String, CaseIterable, Sendable {
        case requested, claimed, confirming, proving, approved
        case signedIn = "signed_in"
        case completed, aborted
        case signedOut = "signed_out"
        case failed, deleted
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

        /// Whether the login failed by it, and was not only given up.
        public var isFailure: Bool {
            switch self {
            case .wrongNumber, .contested, .secondFactorFailed, .fault: true
            case .denied, .canceled, .timedOut, .notCollected, .parentEnded, .presenceLost, .ended: false
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
