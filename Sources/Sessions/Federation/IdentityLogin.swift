/// A login by the identity that a provider has authenticated, as the store is told of it.
public struct IdentityLogin: Sendable {
    /// How many users are looked at who may be meant by one address. Where there are so many, it means nobody.
    public static let namesakesMax = 8

    /// The identity.
    public let key: Identity.Key
    /// The ID token.
    public let token: OneTimeToken
    /// The key (`Text.emailKey`) of the proven address by which a user is linked if nobody has the identity; nil: none is.
    public let linkingKey: String?
    /// Who comes into being if nobody has the identity and nobody is linked: one user under several names, of which the first is
    /// taken that nobody has.
    public let newUsers: [User]
    /// When.
    public let at: Instant

    /// A login.
    public init(_ key: Identity.Key, token: OneTimeToken, linkingKey: String? = nil, newUsers: [User], at: Instant) {
        self.key = key
        self.token = token
        self.linkingKey = linkingKey
        self.newUsers = newUsers
        self.at = at
    }

    /// The one user, of those who were found, whom the proven address means: it is their username, or was verified and is theirs
    /// still. Nil if it means nobody, or several, be it that one has it as username and another one verified.
    public func meant(of found: [User]) -> User? {
        // Not by what a username is found by, under which more is one than under this.
        let meant = found.filter { linkingKey != nil && Text.emailKey($0.username) == linkingKey || hasVerified($0) }
        return found.count < Self.namesakesMax && meant.count == 1 ? meant[0] : nil
    }

    /// Whether the user whom the address means gets the identity. By an address that was verified: unless they have another
    /// identity of this provider, to which they are two people. By a username alone: only without any identity, as one whom an
    /// admin or an import has made, so that nobody can lie in wait under somebody else's name.
    public func mayLink(_ user: User, having identities: [Identity]) -> Bool {
        hasVerified(user) ? !identities.contains { $0.key.provider == key.provider } : identities.isEmpty
    }

    private func hasVerified(_ user: User) -> Bool {
        user.profile.isEmailVerified && user.profile.verifiedEmailKey == linkingKey
    }
}
