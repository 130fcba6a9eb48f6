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
    /// current. Nil if there is none or several, even if one has it as username and another as verified address.
    public func meant(of found: [User]) -> User? {
        // The lookup key of usernames is not used here, because more spellings share it than share the e-mail key.
        let meant = found.filter { linkingKey != nil && Text.emailKey($0.username) == linkingKey || hasVerified($0) }
        return found.count < Self.namesakesMax && meant.count == 1 ? meant[0] : nil
    }

    /// Returns true if the identity may be linked to `user`.
    ///
    /// A user with the verified address may not have another identity of this provider, because the provider treats the two as
    /// different users. A user with the address as username may have no identity at all, such as one that an admin or an import
    /// created, so that an attacker cannot claim the address of another user as username.
    public func mayLink(_ user: User, having identities: [Identity]) -> Bool {
        hasVerified(user) ? !identities.contains { $0.key.provider == key.provider } : identities.isEmpty
    }

    private func hasVerified(_ user: User) -> Bool {
        user.profile.isEmailVerified && user.profile.verifiedEmailKey == linkingKey
    }
}
