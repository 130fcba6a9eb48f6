/// An account that can log in.
public struct User: Hashable, Sendable, Identifiable {
    /// The longest username, in bytes of UTF-8.
    public static let usernameLengthMax = 128

    /// What the app shows and stores of the user (seed 002); every member may be missing.
    public struct Profile: Hashable, Sendable {
        /// The e-mail address. Another one is not verified; another spelling of the same one is what it was.
        public var email: String? {
            didSet {
                let wasVerified = verifiedEmailKey != nil && oldValue.flatMap(Text.emailKey) == verifiedEmailKey
                if !(wasVerified && isEmailVerified) { verifiedEmailKey = nil }
            }
        }
        /// The telephone number.
        public var phoneNumber: String?
        /// The name to show.
        public var displayName: String?
        /// The country, ISO 3166-1 alpha-2.
        public var country: String?
        /// The key (`Text.emailKey`) of the address that was verified, which counts only while it is the key of `email`. A key of
        /// another Unicode version may differ, and then counts no more. Not for users to write.
        public var verifiedEmailKey: String?

        /// Whether the e-mail address was found to be the user's by somebody who is believed: an admin, or a provider that may link
        /// users by it. Stays false for an address without a key.
        public var isEmailVerified: Bool {
            get { verifiedEmailKey != nil && email.flatMap(Text.emailKey) == verifiedEmailKey }
            set { verifiedEmailKey = newValue ? email.flatMap(Text.emailKey) : nil }
        }

        /// A profile.
        public init(
            email: String? = nil, phoneNumber: String? = nil, displayName: String? = nil, country: String? = nil
        ) {
            self.email = email
            self.phoneNumber = phoneNumber
            self.displayName = displayName
            self.country = country
        }
    }

    /// Logins switched off: no login and no refresh, on any device. It blocks; it ends nothing.
    public struct LoginDisabling: Hashable, Sendable {
        /// From when living rolling tokens are refused.
        public enum Effective: String, CaseIterable, Sendable {
            /// Rolling tokens are refused at once.
            case immediate
            /// Rolling tokens serve until they expire; they are not renewed.
            case onExpiry = "on_expiry"
        }

        /// When living rolling tokens stop being accepted.
        public var effective: Effective
        /// Since when.
        public var since: Instant
        /// What the admin wrote, for other admins.
        public var note: String?

        /// A switch thrown at `since`.
        public init(effective: Effective, since: Instant, note: String? = nil) {
            self.effective = effective
            self.since = since
            self.note = note
        }
    }

    /// A one-time password reset that is outstanding. At most one per user: a newer one replaces it.
    public struct PasswordReset: Hashable, Sendable {
        /// SHA-256 of the token's secret part.
        public let secretHash: [UInt8]
        /// The first instant at which it no longer works.
        public let expiresAt: Instant

        /// An outstanding reset.
        public init(secretHash: [UInt8], expiresAt: Instant) {
            self.secretHash = secretHash
            self.expiresAt = expiresAt
        }
    }

    /// Wrong passwords since the last right one, from devices on which the user has no living session.
    public struct WrongPasswords: Hashable, Sendable {
        /// How many; 0: what nodes count on their own up to `lastAt` is void.
        public var count: Int
        /// When the last one came.
        public var lastAt: Instant
        /// Until when no password from such a device is taken, be it right. Not after `lastAt`: when an admin lifted a lock,
        /// which the later passwords leave standing. Nil: neither.
        public var lockedUntil: Instant?

        /// So many wrong passwords.
        public init(count: Int, lastAt: Instant, lockedUntil: Instant? = nil) {
            self.count = count
            self.lastAt = lastAt
            self.lockedUntil = lockedUntil
        }

        /// When an admin last lifted a lock, as long as that is known.
        public var liftedAt: Instant? { count == 0 ? lastAt : lockedUntil.flatMap { $0 > lastAt ? nil : $0 } }

        /// The end of the lock, which may have passed; nil: there was none.
        public var lockEnd: Instant? { liftedAt == nil ? lockedUntil : nil }

        /// Whether no password is taken at `now` from where the user has no session.
        func isLocked(at now: Instant) -> Bool { lockEnd.map { now < $0 } ?? false }
    }

    /// 16 random bytes; stable and opaque: the `sub` of every token.
    public let id: Identifier<User>
    /// Unique without regard to case and Unicode composition (`Text.key`).
    public var username: String
    /// What the app shows.
    public var profile: Profile
    /// A PHC string; nil for a user who cannot log in by password.
    public var passwordHash: String?
    /// The user's own limit for a session, from its start; nil inherits.
    public var offlineSessionMax: Duration?
    /// Set while an admin has switched the user's logins off.
    public var disabledByAdmin: LoginDisabling?
    /// Set while the user has switched their own logins off.
    public var disabledByUser: LoginDisabling?
    /// The outstanding reset, if any.
    public var passwordReset: PasswordReset?
    /// Wrong passwords since the last right one; nil: none.
    public var wrongPasswords: WrongPasswords?
    /// What an admin has said of the user, for every rolling token; nil: nothing.
    public var claims: UserClaims?
    /// When the account was made.
    public let createdAt: Instant

    /// A user as it stands in the store.
    public init(
        id: Identifier<User>, username: String, profile: Profile = Profile(), passwordHash: String? = nil,
        offlineSessionMax: Duration? = nil, disabledByAdmin: LoginDisabling? = nil,
        disabledByUser: LoginDisabling? = nil, passwordReset: PasswordReset? = nil, createdAt: Instant
    ) {
        self.id = id
        self.username = username
        self.profile = profile
        self.passwordHash = passwordHash
        self.offlineSessionMax = offlineSessionMax
        self.disabledByAdmin = disabledByAdmin
        self.disabledByUser = disabledByUser
        self.passwordReset = passwordReset
        self.createdAt = createdAt
    }

    /// Why logins and refreshes are refused at present, if they are; the admin's word comes first.
    public var loginRefusal: RefusalReason? {
        if disabledByAdmin != nil { return .loginDisabledByAdmin }
        if disabledByUser != nil { return .loginDisabledByUser }
        return nil
    }

    /// Whether a living rolling token must be refused because logins are off with immediate effect.
    public var rejectsRollingTokens: Bool {
        disabledByAdmin?.effective == .immediate || disabledByUser?.effective == .immediate
    }
}

/// How an admin names a user: by id, or as `username:NAME`.
public enum UserReference: Hashable, Sendable {
    case id(Identifier<User>)
    case username(String)

    /// The reference that `text` spells; nil if it is neither an id nor `username:NAME`.
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
