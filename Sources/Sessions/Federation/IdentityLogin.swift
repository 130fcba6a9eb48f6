/// A login by an identity that a provider has authenticated, as the store executes it.
public struct IdentityLogin: Sendable {
    /// The number of users that the search by one address examines. An address with so many users selects none of them.
    public static let namesakesMax = 8

    /// The provider and subject.
    public let key: Identity.Key
    /// The ID token.
    public let token: OneTimeToken
    /// The key (`Text.emailKey`) of the verified address by which an unknown identity is linked to a user; nil if none is
    /// linked.
    public let linkingKey: String?
    /// The new user for an identity that is unknown and not linked, under several usernames. The first free one is used.
    public let newUsers: [User]
    /// The time of the login.
    public let at: Instant

    /// Creates a login.
    public init(_ key: Identity.Key, token: OneTimeToken, linkingKey: String? = nil, newUsers: [User], at: Instant) {
        self.key = key
        self.token = token
        self.linkingKey = linkingKey
        self.newUsers = newUsers
        self.at = at
    }

    /// The one user among `found` with the verified address as username, or as an address that was verified and is still
    /// current, from a trusted source. Nil if there is none or several, even if one has it as username and another as verified
    /// address. A name that a stranger chose does not count, so that it hides no other account either.
    public func meant(of found: [User], _ sources: [UserSources]) -> User? {
        let known = Dictionary(sources.map { ($0.userID, $0) }, uniquingKeysWith: { first, _ in first })
        let meant = found.filter { user in known[user.id].map { isMeant(user, $0) } ?? false }
        return found.count < Self.namesakesMax && meant.count == 1 ? meant[0] : nil
    }

    /// Returns true if the identity may be linked to `user`.
    ///
    /// A user with the verified address may not have another identity of this provider, because the provider treats the two as
    /// different users. A user with the address as username may have no identity at all, such as one that an admin or an import
    /// created, so that an attacker cannot claim the address of another user as username. Neither may have a password from an
    /// untrusted source, or a session, passkey or identity that such a source may have made, because the maker of the account
    /// would share it with the owner of the address. The same holds for a mailbox, a telephone number or a reset token that such
    /// a source may have left: the next password reset would go to it.
    public func mayLink(_ user: User, having access: UserAccess) -> Bool {
        if access.isOpenToStrangers || leadsToStrangers(user, access) { return false }
        if isMailbox(of: user, access.sources) {
            return !access.identities.contains { $0.key.provider == key.provider }
        }
        return isName(of: user, access.sources) && access.identities.isEmpty
    }

    /// The sources of a user that this login makes.
    public func sources(of user: User) -> UserSources {
        UserSources(
            userID: user.id, username: isAddress(user.username) ? .proof : .provider,
            email: user.profile.email.map { _ in hasVerified(user) ? .proof : .provider }, password: nil,
            access: linkingKey == nil ? .provider : .proof)
    }

    /// The sources of a user that was anonymous, after this login has named it. The holder of its session has proved the mailbox,
    /// if the provider may prove one.
    public func sources(ofNamed user: User, before old: User, _ known: UserSources) -> UserSources {
        let own = sources(of: user)
        var named = known
        named.username = own.username
        if old.profile.email == nil { named.email = own.email }
        if own.access.isTrusted { named.access = own.access }
        return named
    }

    /// Whether a stranger with former access may get a reset token of the user, or has one.
    private func leadsToStrangers(_ user: User, _ access: UserAccess) -> Bool {
        let sources = access.sources
        if sources.access.isTrusted { return false }
        return access.hasReset || user.profile.phoneNumber != nil || !(sources.email?.isTrusted ?? true)
    }

    private func isMeant(_ user: User, _ sources: UserSources) -> Bool {
        isName(of: user, sources) || isMailbox(of: user, sources)
    }

    private func isName(of user: User, _ sources: UserSources) -> Bool {
        isAddress(user.username) && sources.username.isTrusted
    }

    private func isMailbox(of user: User, _ sources: UserSources) -> Bool {
        hasVerified(user) && sources.email?.isTrusted ?? false
    }

    // The lookup key of usernames is not used here, because more spellings share it than share the e-mail key.
    private func isAddress(_ username: String) -> Bool {
        linkingKey != nil && Text.emailKey(username) == linkingKey
    }

    private func hasVerified(_ user: User) -> Bool {
        user.profile.isEmailVerified && user.profile.verifiedEmailKey == linkingKey
    }
}
