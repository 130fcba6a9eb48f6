/// A user account.
public struct User: Hashable, Sendable, Identifiable {
    /// The longest username, in bytes of UTF-8.
    public static let usernameLengthMax = 128
    /// The longest name that a user types at a login in bytes: a mailbox with some blanks.
    public static let loginNameLengthMax = 320

    /// Whether `text` may be a name that a user types at a login: a username or a mailbox. No other rule bounds such a name,
    /// wherever it comes in.
    public static func isLoginName(_ text: String) -> Bool { Text.isValid(text, lengthMax: loginNameLengthMax) }

    /// The profile that the app shows and stores (seed 002). Every member may be absent.
    public struct Profile: Hashable, Sendable {
        /// The e-mail address. A new address is not verified; another spelling of the verified address remains verified.
        public var email: String? {
            didSet {
                let wasVerified = verifiedEmailKey != nil && oldValue.flatMap(Text.emailKey) == verifiedEmailKey
                if !(wasVerified && isEmailVerified) { verifiedEmailKey = nil }
            }
        }
        /// The telephone number.
        public var phoneNumber: String?
        /// The name to display.
        public var displayName: String?
        /// The given name.
        public var givenName: String?
        /// The family name.
        public var familyName: String?
        /// The country, ISO 3166-1 alpha-2.
        public var country: String?
        /// The key (`Text.emailKey`) of the verified address. It counts only while it is that of `email`. Users cannot set it.
        public var verifiedEmailKey: String?

        /// Whether an admin, or a provider that may link users by addresses, has verified the e-mail address. Setting it has no
        /// effect on an address without a key.
        public var isEmailVerified: Bool {
            get { verifiedEmailKey != nil && email.flatMap(Text.emailKey) == verifiedEmailKey }
            set { verifiedEmailKey = newValue ? email.flatMap(Text.emailKey) : nil }
        }

        /// The key of the address, if it is verified.
        var provenKey: String? { isEmailVerified ? verifiedEmailKey : nil }

        /// Creates a profile.
        public init(
            email: String? = nil, phoneNumber: String? = nil, displayName: String? = nil, givenName: String? = nil,
            familyName: String? = nil, country: String? = nil
        ) {
            self.email = email
            self.phoneNumber = phoneNumber
            self.displayName = displayName
            self.givenName = givenName
            self.familyName = familyName
            self.country = country
        }
    }

    /// Disabled logins: no login and no refresh succeeds on any device. Sessions do not end.
    public struct LoginDisabling: Hashable, Sendable {
        /// The time from which unexpired access tokens are refused.
        public enum Effective: String, CaseIterable, Sendable {
            /// Access tokens are refused at once.
            case immediate
            /// Access tokens serve until they expire; they are not renewed.
            case onExpiry = "on_expiry"
        }

        /// The time from which unexpired access tokens are refused.
        public var effective: Effective
        /// The time at which logins were disabled.
        public var since: Instant
        /// The admin's note for other admins.
        public var note: String?

        /// Creates a disabling at `since`.
        public init(effective: Effective, since: Instant, note: String? = nil) {
            self.effective = effective
            self.since = since
            self.note = note
        }
    }

    /// Wrong passwords since the last right one, from devices without an active session of the user.
    public struct WrongPasswords: Hashable, Sendable {
        /// The number of wrong passwords. 0 voids what each node has counted on its own up to `lastAt`.
        public var count: Int
        /// The time of the last wrong password.
        public var lastAt: Instant
        /// The end of the lock, during which such a device is refused even with the right password. A value not after `lastAt`
        /// is the time at which an admin removed a lock, and later wrong passwords keep it. Nil if there was neither.
        public var lockedUntil: Instant?

        /// Creates a count of wrong passwords.
        public init(count: Int, lastAt: Instant, lockedUntil: Instant? = nil) {
            self.count = count
            self.lastAt = lastAt
            self.lockedUntil = lockedUntil
        }

        /// The time at which an admin last removed a lock, while it is known.
        public var liftedAt: Instant? { count == 0 ? lastAt : lockedUntil.flatMap { $0 > lastAt ? nil : $0 } }

        /// The end of the lock, which may have passed; nil if there was no lock.
        public var lockEnd: Instant? { liftedAt == nil ? lockedUntil : nil }

        /// Returns true if a device without an active session of the user is refused at `now`.
        func isLocked(at now: Instant) -> Bool { lockEnd.map { now < $0 } ?? false }
    }

    /// 16 random bytes, stable and opaque. This id is the `sub` of all tokens.
    public let id: Identifier<User>
    /// The username, unique without regard to case and Unicode composition (`Text.key`).
    public var username: String
    /// The profile.
    public var profile: Profile
    /// The password hash as a PHC string; nil if the user cannot log in by password.
    public var passwordHash: String?
    /// The user's own limit for a session, from its start; nil inherits the client's or the server's.
    public var offlineSessionMax: Duration?
    /// The disabling of logins by an admin; nil while there is none.
    public var disabledByAdmin: LoginDisabling?
    /// The disabling of logins by the user; nil while there is none.
    public var disabledByUser: LoginDisabling?
    /// Wrong passwords since the last right one; nil if there are none.
    public var wrongPasswords: WrongPasswords?
    /// The claims that an admin has set for every access token of the user; nil if there are none.
    public var claims: UserClaims?
    /// Whether the user was made by an anonymous login and not named since. Such a user has no password and no identity, so that
    /// no login finds the user, and `username` is a placeholder. The user is deleted when no active session is left.
    public var isAnonymous = false
    /// The time at which the account was created.
    public let createdAt: Instant

    /// Creates a user from its stored values.
    public init(
        id: Identifier<User>, username: String, profile: Profile = Profile(), passwordHash: String? = nil,
        offlineSessionMax: Duration? = nil, disabledByAdmin: LoginDisabling? = nil,
        disabledByUser: LoginDisabling? = nil, createdAt: Instant
    ) {
        self.id = id
        self.username = username
        self.profile = profile
        self.passwordHash = passwordHash
        self.offlineSessionMax = offlineSessionMax
        self.disabledByAdmin = disabledByAdmin
        self.disabledByUser = disabledByUser
        self.createdAt = createdAt
    }

    /// Creates an anonymous user.
    public init(anonymous id: Identifier<User>, createdAt: Instant) {
        self.init(id: id, username: "anonymous-\(id)", createdAt: createdAt)
        isAnonymous = true
    }

    /// The user with an address that is not verified, if another one of `others` has verified it.
    func leavingMailbox(to others: [User]) -> User {
        guard let key = profile.provenKey,
            others.contains(where: { $0.id != id && $0.profile.provenKey == key })
        else { return self }
        var user = self
        user.profile.isEmailVerified = false
        return user
    }

    /// The username to show; nil for an anonymous user.
    public var shownUsername: String? { isAnonymous ? nil : username }

    /// The reason for which logins and refreshes are refused; nil if they are not. The admin's reason precedes the user's.
    public var loginRefusal: RefusalReason? {
        if disabledByAdmin != nil { return .loginDisabledByAdmin }
        if disabledByUser != nil { return .loginDisabledByUser }
        return nil
    }

    /// Whether unexpired access tokens are refused, because logins are disabled with immediate effect.
    public var rejectsAccessTokens: Bool {
        disabledByAdmin?.effective == .immediate || disabledByUser?.effective == .immediate
    }
}

/// A reference to a user in a call of an admin: an id or `username:NAME`.
public enum UserReference: Hashable, Sendable {
    case id(Identifier<User>)
    case username(String)

    /// Parses a reference; nil if `text` is neither an id nor `username:NAME`.
    public init?(_ text: String) {
        if text.hasPrefix("username:") {
            let name = String(text.dropFirst("username:".count))
            guard Text.isValid(name, lengthMax: User.usernameLengthMax) else { return nil }
            self = .username(name)
        } else if let id = Identifier<User>(text) {
            self = .id(id)
        } else {
            return nil
        }
    }
}
