/// The source of a name, of an address or of a password.
public enum AccountSource: String, CaseIterable, Sendable {
    /// An admin, or a backend with an admin key.
    case admin
    /// An import with a file that names no other source.
    case `import`
    /// A proof of the mailbox: a provider that may link users by addresses has verified it.
    case proof
    /// An identity provider, without such a proof.
    case provider
    /// The holder of an invitation.
    case invitation
    /// The user, or a stranger at a sign-up.
    case user

    /// Whether an address from this source may lead to the account. A stranger may have chosen whatever comes from the other
    /// sources.
    public var isTrusted: Bool {
        switch self {
        case .admin, .import, .proof: true
        case .provider, .invitation, .user: false
        }
    }
}

/// The sources of the parts of one account, and what else no refresh needs. They are stored apart from the user for this reason.
public struct UserSources: Hashable, Sendable {
    /// The user.
    public let userID: Identifier<User>
    /// The source of the username.
    public var username: AccountSource
    /// The source of the e-mail address, or of the word that it is verified; nil without an address.
    public var email: AccountSource?
    /// The source of the password; nil without a password. A new password that the old one or a reset token has allowed keeps
    /// the source of the old one.
    public var password: AccountSource?
    /// The source of the first access without a password that an admin gave: of the sessions, passkeys and identities that
    /// came of it.
    public var access: AccountSource
    /// The last time at which all sessions of the user ended because their devices may be another person's: what a phone let in
    /// before is no longer known. Nil: never.
    public var devicesUnknownAt: Instant?

    /// Creates sources from their stored values.
    public init(
        userID: Identifier<User>, username: AccountSource, email: AccountSource?, password: AccountSource?,
        access: AccountSource, devicesUnknownAt: Instant? = nil
    ) {
        self.userID = userID
        self.username = username
        self.email = email
        self.password = password
        self.access = access
        self.devicesUnknownAt = devicesUnknownAt
    }

    /// The sources of a user of which every part comes from `source`.
    public init(of user: User, from source: AccountSource) {
        self.init(
            userID: user.id, username: source, email: user.profile.email.map { _ in source },
            password: user.passwordHash.map { _ in source }, access: source)
    }

    /// The sources of a new account that an invitation makes: the admin has chosen what the invitation names.
    public init(of user: User, by invitation: Invitation) {
        self.init(
            userID: user.id, username: invitation.username == nil ? .user : .admin,
            email: user.profile.email.map { _ in .admin }, password: user.passwordHash.map { _ in .invitation },
            access: .invitation)
    }

    /// The sources after a proof of the mailbox has linked an identity: nothing is left that a stranger made.
    var linked: UserSources {
        var linked = self
        if !access.isTrusted { linked.access = .proof }
        return linked
    }

    /// Whether a change of `old` to `new` may change sources.
    static func depend(on old: User, _ new: User) -> Bool {
        old.username != new.username || old.passwordHash != new.passwordHash
            || EmailChange(from: old.profile, to: new.profile) != nil
            || old.profile.isEmailVerified != new.profile.isEmailVerified
    }

    /// The sources after `source` has changed `old` to `new`.
    public func after(_ old: User, _ new: User, by source: AccountSource) -> UserSources {
        var changed = self
        if old.username != new.username { changed.username = source }
        if new.profile.email == nil {
            changed.email = nil
        } else if !new.profile.isSameMailbox(as: old.profile) {
            changed.email = source
        }
        if new.passwordHash == nil {
            changed.password = nil
        } else if old.passwordHash != new.passwordHash {
            changed.password = source == .user ? password ?? access : source
        }
        return changed
    }
}

extension User.Profile {
    /// Whether the address is the mailbox of `old`, in any spelling, and no better verified.
    fileprivate func isSameMailbox(as old: Self) -> Bool {
        if isEmailVerified, !old.isEmailVerified { return false }
        if EmailChange(from: old, to: self) == nil { return true }
        return email.flatMap(Text.emailKey).map { $0 == old.email.flatMap(Text.emailKey) } ?? false
    }
}

/// Everything that decides whether an identity may be linked to a user by an address.
public struct UserAccess: Sendable {
    /// The identities of the user.
    public let identities: [Identity]
    /// Whether the user has a passkey.
    public let hasPasskey: Bool
    /// Whether a session of the user has no recorded end.
    public let hasSession: Bool
    /// Whether a link or code is on its way that sets a new password.
    public let hasReset: Bool
    /// The sources.
    public let sources: UserSources

    /// The access to a user.
    public init(
        identities: [Identity] = [], hasPasskey: Bool = false, hasSession: Bool = false, hasReset: Bool = false,
        sources: UserSources
    ) {
        self.identities = identities
        self.hasPasskey = hasPasskey
        self.hasSession = hasSession
        self.hasReset = hasReset
        self.sources = sources
    }

    /// Whether what an untrusted source gave still opens the account.
    var isOpenToStrangers: Bool {
        if let password = sources.password, !password.isTrusted { return true }
        return !sources.access.isTrusted && (hasSession || hasPasskey || !identities.isEmpty)
    }
}
