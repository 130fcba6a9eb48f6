internal import Cryptography

/// A login that a user has completed on the server's page. Its id is that of the session which its code starts, so that the
/// `sid` of tokens, sessions and logins name one thing. A code that continues a session names that one instead.
public struct PageLogin: Hashable, Sendable, Identifiable {
    /// How long a code can be exchanged (RFC 6749 section 4.1.2).
    public static let codeLifetime = Duration.seconds(60)
    /// How long the row of a login is kept after the login.
    public static let retention = Duration.seconds(30 * 86_400)
    /// The prefix of a code.
    public static let codePrefix = "sjc_"

    /// 16 random bytes.
    public let id: Identifier<Session>
    /// The request, without what only the page needed.
    public let request: AuthorizationRequest
    /// The network address of the browser.
    public let remoteAddress: String?
    /// The `User-Agent` of the browser, at most `userAgentLengthMax` bytes.
    public let userAgent: String?
    /// The user.
    public let userID: Identifier<User>
    /// How the user authenticated (RFC 8176).
    public let methods: [String]
    /// When the user authenticated.
    public let authenticatedAt: Instant
    /// The epoch of the settings at the login: a "revoke all" cancels its code.
    public let epoch: Int64
    /// The session of the browser; nil: none.
    public let browserSession: Identifier<Session>?
    /// SHA-256 of the code; nil: the code was cancelled.
    public var codeHash: [UInt8]?
    /// From when the code is refused.
    public let codeExpiresAt: Instant
    /// SHA-256 of the `Idempotency-Key` with which the code was exchanged; nil: it had none.
    public var codeRequest: [UInt8]?
    /// When the code was exchanged; nil: it was not.
    public var codeUsedAt: Instant?
    /// When the login was completed.
    public let startedAt: Instant
    /// The login with a phone that let the browser in, if the session of the browser answered by it; nil otherwise.
    public var phoneLoginID: Identifier<Session>?
    /// The session that the exchange of the code has continued; nil: it has started its own, or there was none.
    public var continuedID: Identifier<Session>?

    /// The client of the request.
    public var clientID: String { request.clientID }

    /// The session to which the code belongs: the one that it starts, or one that lives in the browser.
    public var sessionID: Identifier<Session> { continuedID ?? joinedSession ?? id }

    /// The session of the client that lives in the browser, to which the tokens of the code belong; nil: the code starts one.
    public var joinedSession: Identifier<Session>? { request.joinedSession.flatMap { Identifier<Session>($0) } }

    /// Whether a phone has let the browser in. A provider may use the same word for its own methods.
    public var isByPhone: Bool { request.loginMethod == .phone }

    /// The largest `userAgent`, in bytes.
    public static let userAgentLengthMax = 200

    /// A login from its stored values.
    public init(
        id: Identifier<Session>, request: AuthorizationRequest, remoteAddress: String? = nil, userAgent: String? = nil,
        userID: Identifier<User>, methods: [String], authenticatedAt: Instant, epoch: Int64,
        browserSession: Identifier<Session>? = nil, codeHash: [UInt8]?, codeExpiresAt: Instant,
        codeRequest: [UInt8]? = nil, codeUsedAt: Instant? = nil, startedAt: Instant
    ) {
        self.id = id
        self.request = request
        self.remoteAddress = remoteAddress
        self.userAgent = userAgent
        self.userID = userID
        self.methods = methods
        self.authenticatedAt = authenticatedAt
        self.epoch = epoch
        self.browserSession = browserSession
        self.codeHash = codeHash
        self.codeExpiresAt = codeExpiresAt
        self.codeRequest = codeRequest
        self.codeUsedAt = codeUsedAt
        self.startedAt = startedAt
    }

    /// A code of 32 bytes, and its hash.
    static func makeCode(_ bytes: [UInt8]) -> (code: String, hash: [UInt8]) {
        let code = codePrefix + Base64URL.encode(bytes)
        return (code, hash(ofCode: code))
    }

    /// The hash by which the store finds the login of a code.
    public static func hash(ofCode code: String) -> [UInt8] { sha256(Array(code.utf8)) }
}

/// How the user of a login on the server's page has authenticated, as the store executes it.
public enum PageLoginProof: Sendable {
    /// By what names the user: the password, or the session of the browser.
    case user(Identifier<User>)
    /// By a passkey, whose signature was verified.
    case passkey(PasskeyLogin)
    /// At an identity provider. The first login makes the user.
    case identity(IdentityLogin)
    /// By a code or link that was sent to the mailbox.
    case email(VerificationProof)
    /// By the proof of a mailbox, which makes the user.
    case signUp(SignUp)

    /// The queue of the transaction: logins of one user wait for each other.
    var queue: UInt8 {
        switch self {
        case .user(let id): id.bytes.last ?? 0
        case .passkey(let login): login.userID.bytes.last ?? 0
        case .identity(let login): login.token.digest.first ?? 0
        case .email(let proof): proof.verification.userID?.bytes.last ?? 0
        case .signUp(let signUp): signUp.user.id.bytes.last ?? 0
        }
    }
}

/// The completion of an authorization request, inside a transaction: set `login` to complete it.
public struct PageLoginCompletion: Sendable {
    /// The user.
    public let user: User
    /// How the login found its user. New rows are written only if the login is completed.
    public let arrival: SessionOpening.Arrival
    /// Whether the one-time token of the proof was used before, at any node.
    public let isReplay: Bool
    /// Whether the pushed request was answered before.
    public let isRequestSpent: Bool
    /// The login that has the code of this one already: the browser has sent its form twice.
    public let answered: PageLogin?
    /// The passkey of the login, if it is by one; written together with the login.
    public var passkey: Passkey?
    /// Nil when there is no such client.
    public let client: Client?
    /// The settings of this moment.
    public let settings: Settings
    /// The built-in client of browser sessions; nil until a client has them.
    public let browserClient: Client?
    /// The session that the browser has shown, whatever its state and user; nil: none.
    public let browser: Session?
    /// The second factors of the user. What their check changes is written with the login; a wrong code in any case.
    public var factors: EnrolledFactors
    /// The phone on which that session depends; nil: it depends on none.
    public var browserPhone: BondedPhone?
    /// The phones that have let that browser in, the latest first.
    public var browserPhones: [BrowserPhone] = []
    /// The sessions of the client that began in that browser and have no recorded end, the latest first. Only read on request.
    public var clientSessions: [SessionRecord] = []
    /// The login; left nil when it is refused, and when no app has asked for it.
    public var login: PageLogin?
    /// A new session of the browser; nil: none.
    public var started: Session?
    /// `browser` as it goes on; nil: it stays as it is.
    public var kept: Session?
    /// How `browser` ends with the login; nil: it does not.
    public var ended: Session.Ending?
    /// The audit events of the same transaction.
    public var events: [AuditEvent] = []
}

/// The exchange of a code, inside a transaction.
public struct CodeExchange: Sendable {
    /// The login of the code. A difference at the end is written.
    public var login: PageLogin
    /// The session to which the code belongs; nil: there is none yet, or no longer.
    public let started: Session?
    /// The phone on which that session depends, if it lived in the browser before; nil: it depends on none.
    public var startedPhone: BondedPhone?
    /// `started` as it goes on with this exchange; nil: it stays as it is.
    public var renewed: Session?
    /// The login with a phone that let the browser in, if a phone did; nil: none, or no longer.
    public let phoneLogin: PhoneLogin?
    /// The session of that phone; nil: none, or no longer.
    public let phone: Session?
    /// The start of the session: set `opening.session` to start it.
    public var opening: SessionOpening
    /// How the session that the code has started ends with this exchange; nil: it does not.
    public var ending: Session.Ending?
}
