public import SojournClient

/// A user of a tenant. A server of Sojourn has one tenant, so that `tenantId` is the app's own word, and comes back unchanged.
public struct UserIdentifier: Hashable, Sendable, Codable {
    /// The tenant, in the app's words.
    public var tenantId: String
    /// The user ID or the username; empty: whichever user is signed in.
    public var userId: String

    /// Creates an identifier.
    public init(tenantId: String = "", userId: String = "") {
        self.tenantId = tenantId
        self.userId = userId
    }

    /// Whether that user is meant.
    func names(_ account: Account) -> Bool {
        userId.isEmpty || userId == account.userID || userId == account.username
    }
}

/// The status of a result.
public enum StatusType: String, Hashable, Sendable, CaseIterable {
    case ok = "OK"
    case failed = "FAILED"
    case noTokenDataAvailable = "NO_TOKEN_DATA_AVAILABLE"
    case invalidParameter = "INVALID_PARAMETER"
    case notStarted = "NOT_STARTED"
    case loginRequired = "LOGIN_REQUIRED"
    case userRequired = "USER_REQUIRED"
    case loginDisabled = "LOGIN_DISABLED"
    case accessDenied = "ACCESS_DENIED"
    case notReachable = "NOT_REACHABLE"
    case canceled = "CANCELED"
    case storeFailed = "STORE_FAILED"
    case misconfigured = "MISCONFIGURED"

    /// A sentence for developers, as the sample app's `getActivationLoginErrorForKSMEventStatusType` has one for each status.
    public var activationLoginError: String {
        switch self {
        case .ok: "The session was validated."
        case .failed: "Biometry failed. The code says how."
        case .noTokenDataAvailable: "No tokens are stored for this user."
        case .invalidParameter: "The parameters do not fit: some are missing, or no login page was opened for the code."
        case .notStarted: "There is no session object."
        case .loginRequired: "The session has ended. The user has to log in."
        case .userRequired: "The user has to give the password, or to log in at the identity provider."
        case .loginDisabled: "Logins are switched off."
        case .accessDenied: "The server has refused the login."
        case .notReachable: "The server cannot be reached."
        case .canceled: "The user closed the page, or another login or a sign-out came in between."
        case .storeFailed: "The store or the keys of the device cannot be used now."
        case .misconfigured: "The app is set up wrongly."
        }
    }
}

/// What an app does after a result.
public enum RecommendedAction: Hashable, Sendable {
    /// Nothing: the user is signed in.
    case none
    /// A login at the identity provider, in the mode of before.
    case standardLogin(mode: AuthenticationMode)
    /// The next step after biometry failed.
    case biometry(PresenceAdvice)
    /// Posting the event again later.
    case retryLater
    /// The app's own fault: a developer has to look at it.
    case fix
}

/// The result of a login event.
public protocol LoginResult: Sendable {
    /// The outcome of the event.
    var outcome: LoginOutcome { get }
}

extension LoginResult {
    /// Whether the user is signed in.
    public var status: StatusType { outcome.status }
    /// 802000000 and the platform's code, if biometry failed; else 0.
    public var errorCode: Int { outcome.errorCode }
    /// The user; `userId` as the server has it, if a user is signed in.
    public var userIdentifier: UserIdentifier { outcome.userIdentifier }
    /// How the app guards the session, or did before.
    public var authenticationMode: AuthenticationMode { outcome.mode }
    /// The recommended next step.
    public var recommendedAction: RecommendedAction { outcome.action }
}

/// The outcome of a login event.
public struct LoginOutcome: Hashable, Sendable {
    let status: StatusType
    private(set) var errorCode = 0
    let userIdentifier: UserIdentifier
    let mode: AuthenticationMode
    let action: RecommendedAction

    init(_ status: StatusType, _ user: UserIdentifier, _ mode: AuthenticationMode, _ action: RecommendedAction) {
        (self.status, userIdentifier, self.mode, self.action) = (status, user, mode, action)
    }

    /// A success.
    init(_ account: Account, _ user: UserIdentifier, _ mode: AuthenticationMode) {
        self.init(.ok, UserIdentifier(tenantId: user.tenantId, userId: account.userID), mode, .none)
    }

    /// A failure.
    init(_ error: SojournError, _ user: UserIdentifier, _ mode: AuthenticationMode) {
        let login = RecommendedAction.standardLogin(mode: mode)
        switch error {
        case .presence(let failure):
            self.init(.failed, user, mode, .biometry(failure.advice))
            errorCode = failure.error.errorCode
        case .notSignedIn: self.init(.noTokenDataAvailable, user, mode, login)
        case .ended: self.init(.loginRequired, user, mode, login)
        case .presenceRequired, .secondFactorRequired: self.init(.userRequired, user, mode, login)
        case .suspended: self.init(.loginDisabled, user, mode, .retryLater)
        case .refused: self.init(.accessDenied, user, mode, login)
        case .unreachable: self.init(.notReachable, user, mode, .retryLater)
        case .cancelled: self.init(.canceled, user, mode, .retryLater)
        case .store, .key: self.init(.storeFailed, user, mode, login)
        case .locked: self.init(.storeFailed, user, mode, .retryLater)
        case .misconfigured: self.init(.misconfigured, user, mode, .fix)
        }
    }

    static func notStarted(_ user: UserIdentifier, _ mode: AuthenticationMode) -> LoginOutcome {
        LoginOutcome(.notStarted, user, mode, .fix)
    }
}
