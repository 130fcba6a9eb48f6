/// What an app shows.
public enum SessionState: Hashable, Sendable {
    /// The store has not been read yet: show a splash.
    case starting
    /// The store cannot be read before the device is unlocked: a splash, not the login.
    case locked
    /// The store has failed for another reason. Nothing is deleted: show the error, `start()` tries again, and a login may help.
    case storeFailed(StoreError)
    /// No session: show the login.
    case signedOut(SignOut)
    /// A user is signed in. `Reachability` says whether the server has confirmed it lately.
    case signedIn(Account, Reachability)
    /// The session waits for the user's presence. Everything is kept.
    case presenceRequired(PresenceRequirement, Account)
    /// The server has ended the session: show the login, in this mode. The profile is kept.
    case ended(EndReason, Account, AuthenticationMode)

    /// Why there is no session.
    public enum SignOut: Hashable, Sendable {
        /// There was none on this device.
        case never
        /// The user signed out.
        case byUser
        /// The account was deleted.
        case deleted
        /// The record cannot be read, and is kept: a login sets it aside.
        case unreadable
    }

    /// How a session stands with the server.
    public enum Reachability: Hashable, Sendable {
        /// The last attempt to renew succeeded, or none was due.
        case current
        /// No attempt has succeeded since that time (Unix seconds of the server).
        case unreachable(since: Int64)
        /// Logins are switched off.
        case suspended(Suspension)
    }
}

extension SessionState: CustomStringConvertible {
    /// A line for logs and terminals. It names the user.
    public var description: String {
        switch self {
        case .starting: "starting"
        case .locked: "locked"
        case .storeFailed(let error): "store failed: \(error)"
        case .signedOut(.never): "signed out"
        case .signedOut(.byUser): "signed out by the user"
        case .signedOut(.deleted): "signed out: the account was deleted"
        case .signedOut(.unreadable): "signed out: the record cannot be read"
        case .signedIn(let account, .current): "signed in as \(account.name)"
        case .signedIn(let account, .unreachable(let since)):
            "signed in as \(account.name), server unreachable since \(since)"
        case .signedIn(let account, .suspended(let suspension)):
            "signed in as \(account.name), suspended: \(suspension)"
        case .presenceRequired(let requirement, let account):
            "presence required of \(account.name): \(requirement.ways.joined(separator: " or "))"
        case .ended(let reason, let account, _): "ended for \(account.name): \(reason)"
        }
    }
}

extension Account {
    /// What a line calls the user.
    fileprivate var name: String { username ?? userID }
}

/// How the app guards the tokens on the device (the server's `authentication_mode`).
public enum AuthenticationMode: String, Hashable, Sendable, Codable {
    case no = "NO"
    case biometric = "BIOMETRIC"
    case password = "PASSWORD"
}

/// The user of a session, as the server told it at the last login or renewal.
public struct Account: Hashable, Sendable, Codable {
    /// The user ID, stable and opaque.
    public var userID: String
    /// The name with which the user logs in; nil for an anonymous user.
    public var username: String?
    /// The e-mail address.
    public var email: String?
    /// The telephone number.
    public var phoneNumber: String?
    /// The name for people.
    public var displayName: String?
    /// The given name.
    public var givenName: String?
    /// The family name.
    public var familyName: String?
    /// ISO 3166-1 alpha-2.
    public var country: String?
    /// The member of the wire: true for an anonymous user, else absent.
    private var anonymous: Bool?

    /// Whether the user has no name yet: `signInAnonymously` made it, and `nameAccount` was not called.
    public var isAnonymous: Bool {
        get { anonymous ?? false }
        set { anonymous = newValue ? true : nil }
    }

    /// Creates an account.
    public init(
        userID: String, username: String? = nil, email: String? = nil, phoneNumber: String? = nil,
        displayName: String? = nil, givenName: String? = nil, familyName: String? = nil, country: String? = nil,
        isAnonymous: Bool = false
    ) {
        self.userID = userID
        self.username = username
        self.email = email
        self.phoneNumber = phoneNumber
        self.displayName = displayName
        self.givenName = givenName
        self.familyName = familyName
        self.country = country
        anonymous = isAnonymous ? true : nil
    }

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case username, email
        case phoneNumber = "phone_number"
        case displayName = "display_name"
        case givenName = "given_name"
        case familyName = "family_name"
        case country, anonymous
    }
}

/// An access token, with what a request to an API needs.
public struct AccessToken: Hashable, Sendable {
    /// The token, opaque to the app.
    public var value: String
    /// `Bearer` or `DPoP`.
    public var type: String
    /// When it expires, in Unix seconds of the server.
    public var expiresAt: Int64

    /// Creates a token.
    public init(value: String, type: String, expiresAt: Int64) {
        self.value = value
        self.type = type
        self.expiresAt = expiresAt
    }
}
