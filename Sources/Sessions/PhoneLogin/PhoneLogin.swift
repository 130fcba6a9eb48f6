/// One attempt to log in on a device with the help of a phone, from the request to the end of what came of it: a row of the
/// table `phone_logins`. Its id is also that of the session which it starts.
///
/// `PhoneLoginPolicy` alone changes the fields that are variable.
public struct PhoneLogin: Hashable, Sendable, Identifiable {
    /// The way of a login.
    public enum Kind: String, CaseIterable, Sendable {
        /// A browser on the login page.
        case authorize
        /// A device without a browser (RFC 8628).
        case device
        /// A request of a backend, which is pushed to the phone (OpenID Connect CIBA).
        case backchannel
        /// The phone's own app, for a web session at its backend.
        case app
        /// A phone without an account here, which an invitation gives one. The session is the phone's own.
        case enrolment

        /// The grant by which the device gets its session; nil: it needs none.
        var grantType: Client.GrantType? {
            switch self {
            case .authorize: .authorizationCode
            case .device, .app: .deviceCode
            case .backchannel: .backchannel
            case .enrolment: nil
            }
        }

        /// Whether the client gets an ID token of the session, if its scope has `openid`.
        public var bringsIDToken: Bool { grantType != nil }
    }

    /// How a phone got to know of the login.
    public enum Arrival: String, CaseIterable, Sendable {
        /// It scanned the picture in its app.
        case scanned
        /// It followed a link on the phone itself, where the browser waits.
        case linked
        /// It was pushed to the phone.
        case pushed
        /// The user typed the code of the device.
        case typed
        /// It began in the app itself.
        case inApp = "in_app"

        /// Whether the user has to type the number that the other device shows. A link leads to the same device, and a typed
        /// code was read from the other device already.
        public var needsNumber: Bool { self == .scanned || self == .pushed }
    }

    /// The phone that has claimed a login.
    public struct Claim: Hashable, Sendable {
        /// The session of the phone.
        public var sessionID: Identifier<Session>
        /// The user of that session. The account of the login is `PhoneLogin.userID`, which only the user's act sets.
        public let userID: Identifier<User>
        /// The client of that session.
        public let clientID: String
        /// The installation of the app. Another account of it may take over the claim.
        public let deviceID: String
        /// How the phone got to know of the login.
        public let arrival: Arrival
        /// What the app wants.
        public let wishes: Wishes
        /// SHA-256 of the secret of a phone that enrols, because it has no session yet; nil: the phone has one.
        public var secretHash: [UInt8]?

        /// The claim of `phone`.
        public init(_ phone: Phone, _ arrival: Arrival, _ wishes: Wishes) {
            self.init(
                sessionID: phone.sessionID, userID: phone.userID, clientID: phone.clientID, deviceID: phone.deviceID,
                arrival: arrival, wishes: wishes)
            secretHash = phone.secretHash
        }

        /// Whether `phone` has made this claim.
        public func isOf(_ phone: Phone) -> Bool {
            sessionID == phone.sessionID && secretHash == phone.secretHash
        }

        /// Whether `phone` is the installation that has made this claim, with the same account. A later login of it has another
        /// session.
        func isOfInstallation(_ phone: Phone) -> Bool {
            isOf(phone) || userID == phone.userID && clientID == phone.clientID && deviceID == phone.deviceID
        }

        /// A claim from its stored values.
        public init(
            sessionID: Identifier<Session>, userID: Identifier<User>, clientID: String, deviceID: String,
            arrival: Arrival, wishes: Wishes
        ) {
            self.sessionID = sessionID
            self.userID = userID
            self.clientID = clientID
            self.deviceID = deviceID
            self.arrival = arrival
            self.wishes = wishes
        }
    }

    /// What the app of the phone wants of a login.
    public struct Wishes: Hashable, Sendable {
        /// Whether the app says when the user can act.
        public var startsByHand = false
        /// Whether the confirmation is left out if a second factor follows anyway.
        public var skipsConfirmation = false
        /// Whether the app demands a second factor of its own accord. It cannot refuse one.
        public var demandsSecondFactor = false

        /// No wishes.
        public init() {}
    }

    /// The answer to an act that changed the row, for a retry with the same `Idempotency-Key`.
    public struct AnsweredAct: Hashable, Sendable {
        /// A short hash of the key, of the act and of its session.
        public let key: UInt64
        /// The answer.
        public let reply: Reply

        /// The answer to the act with that key.
        public init(key: UInt64, reply: Reply) {
            self.key = key
            self.reply = reply
        }
    }

    /// What a login is found by.
    public enum Lookup: Hashable, Sendable {
        case id(Identifier<Session>)
        /// The random bytes in the codes, as long as the login is not over.
        case handle([UInt8])
        /// The letters that the user types, as long as the login is not over.
        case userCode(String)
        /// A session that it has let in: its own, or one that the session of its browser answered.
        case session(Identifier<Session>)
        /// The hash of the secret of the device.
        case poll(hash: [UInt8])
    }

    /// The largest number of `answered` acts. The oldest is forgotten first.
    public static let answeredMax = 16

    /// 16 random bytes.
    public let id: Identifier<Session>
    /// The way of the login.
    public let kind: Kind
    /// The client that wants a session.
    public let clientID: String
    /// How long the session depends on the phone.
    public let bond: PhoneLogin.Bond
    /// SHA-256 of the flow cookie of the browser; nil: there is no browser.
    public let browser: [UInt8]?
    /// What the client has asked for.
    public let request: Request
    /// When it was requested.
    public let startedAt: Instant
    /// The session of the browser that has collected it; nil: none has.
    public var browserSession: Identifier<Session>?

    /// The state.
    public var state = PhoneLogin.State.requested
    /// The phone; nil before one has claimed it.
    public var claim: Claim?
    /// The number on the other device, 10 to 99; nil before the phone is ready, and where none is needed.
    public var number: Int?
    /// The account; nil before the user has chosen it by an act. It never changes.
    public var userID: Identifier<User>?
    /// The number of wrong second factors.
    public var wrongFactors = 0
    /// When the user's last input let the device in.
    public var approvedAt: Instant?
    /// When the phone last answered after the login.
    public var answeredAt: Instant?
    /// From when the time-out for the input ends it.
    public var inputUntil: Instant
    /// From when the session can no longer be collected; nil before the approval.
    public var collectUntil: Instant?
    /// When its client is to be told of the result next; nil: never, or no more.
    public var pingAt: Instant?
    /// How often its client has been told, or tried to be.
    public var pingTries = 0
    /// The acts that changed it, the latest one last.
    public var answered: [AnsweredAct] = []

    /// A login that was just requested.
    ///
    /// - Parameter inputUntil: from when the time-out for the input ends it.
    public init(
        id: Identifier<Session>, kind: Kind, clientID: String, bond: PhoneLogin.Bond = .session,
        browser: [UInt8]? = nil, request: Request = Request(), startedAt: Instant, inputUntil: Instant
    ) {
        self.id = id
        self.kind = kind
        self.clientID = clientID
        self.bond = bond
        self.browser = browser
        self.request = request
        self.startedAt = startedAt
        self.inputUntil = inputUntil
    }

    /// The authentication method of a session that a phone has let in. It is never that of the phone's own login.
    public static let authenticationMethod = "phone"

    /// When time may change it next; nil: only its phone may. The clean-up looks at it then.
    public var dueAt: Instant? {
        switch state {
        case .requested, .claimed, .confirming, .proving: inputUntil
        case .approved: collectUntil
        case .signedIn: bond.interval.map { (answeredAt ?? startedAt) + $0 }
        case .ended: nil
        }
    }

    /// Whether the user has to type the number that the other device shows. An invitation has no other device.
    public var needsNumber: Bool { kind != .enrolment && claim?.arrival.needsNumber == true }

    /// The number of second factors that may still be wrong.
    public var attemptsLeft: Int { max(PhoneLoginRules().factorAttempts - wrongFactors, 0) }

    /// Whether the device is known to that user: a phone of the user has let it in before.
    public func isKnown(to userID: Identifier<User>?) -> Bool { userID.map(request.knownUsers.contains) ?? false }

    /// Whether a session that it has let in lives, as far as the login knows, and depends on the phone.
    public var isLoggedIn: Bool { state == .signedIn }

    /// Whether the session of its browser may answer for it: it has succeeded, and is not over.
    public var hasLetIn: Bool { isLoggedIn || state.outcome == .completed }

    /// Why it ended; nil before the end and for a login of one act that succeeded.
    public var cause: Cause? { state.ending?.cause }

    /// When it ended; nil: it has not.
    public var endedAt: Instant? { state.ending?.at }

    /// Lets a session that it has let in depend on its phone, and do less for a day from the approval on.
    public func bind(_ session: inout Session) {
        session.phoneID = isLoggedIn ? claim?.sessionID : nil
        session.probationUntil = (approvedAt ?? startedAt) + PhoneLoginRules.probation
    }
}

/// The durations and bounds of logins with a phone.
public struct PhoneLoginRules: Hashable, Sendable {
    /// How long a login awaits a phone, and then, from the claim on, the user.
    public var inputLifetime = Duration.seconds(180)
    /// How long the session can be collected after the approval.
    public var collectLifetime = Duration.seconds(60)
    /// How long the session can be collected in the phone's own app, where no device waits.
    public var nonceLifetime = Duration.seconds(30)
    /// How long after that a retry of the collection gets the session again.
    public var retryWindow = Duration.seconds(30)
    /// How long a phone that has claimed an invitation has for the enrolment.
    public var enrolmentLifetime = Duration.seconds(600)
    /// How long after an enrolment a retry of its last act gets the tokens again.
    public var enrolmentRetryWindow = Duration.seconds(600)
    /// The largest number of invitations that wait for a phone. Further ones are refused.
    public var invitationsMax = 20_000
    /// The number of wrong second factors that ends a login.
    public var factorAttempts = 3
    /// The largest number of logins that wait for a phone. Further ones are refused.
    public var pendingMax = 20_000
    /// How long a session that a phone has let in may do less than others.
    public static let probation = Duration.seconds(86_400)

    /// The default rules.
    public init() {}
}

extension PhoneLogin {
    /// A login in the phone's own app. Its phone is known from the start, and `start` follows at once.
    public static func inApp(
        id: Identifier<Session>, clientID: String, phone: Phone, request: Request = Request(), rules: PhoneLoginRules,
        at now: Instant
    ) -> PhoneLogin {
        var login = PhoneLogin(
            id: id, kind: .app, clientID: clientID, request: request, startedAt: now,
            inputUntil: now + rules.inputLifetime)
        login.claim = Claim(phone, .inApp, Wishes())
        return login
    }

    /// Keeps the answer to an act, so that a retry gets it again.
    mutating func remember(_ reply: Reply, for key: UInt64) {
        answered.append(AnsweredAct(key: key, reply: reply))
        if answered.count > Self.answeredMax { answered.removeFirst() }
    }

    /// Records that the phone has answered, in steps, so that a phone that answers all the time costs few writes.
    mutating func noteAnswer(at now: Instant) {
        guard isLoggedIn, case .ping(let interval) = bond, let answeredAt, now - answeredAt >= interval / 4 else {
            return
        }
        self.answeredAt = now
    }
}
