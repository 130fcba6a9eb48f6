/// The requests about identities.
public protocol IdentityReader {
    func identity(_ key: Identity.Key) -> Answer<Identity?>

    /// The identities of a user, by provider and subject.
    func identities(of userID: Identifier<User>) -> Answer<[Identity]>

    /// Every identity, by provider and subject.
    func identities(after key: Identity.Key?, limit: Int) -> Answer<[Identity]>
}

/// The requests and writes about identities inside a transaction.
public protocol IdentityTransaction: IdentityReader {
    /// Adds an identity. False if the identity exists; nothing was written.
    func insert(_ identity: Identity) -> Answer<Bool>

    /// Deletes an identity of a user. False if the user has no such identity.
    func deleteIdentity(_ key: Identity.Key, of userID: Identifier<User>) -> Answer<Bool>

    /// Deletes the identities of a user.
    func deleteIdentities(of userID: Identifier<User>)
}

/// The requests about checks with providers.
public protocol ProviderCheckReader {
    /// The stored check of a session with its identity provider.
    func providerCheck(of id: Identifier<Session>) -> Answer<ProviderCheck?>

    /// Whether a check of that provider is due by `now`.
    func hasDueProviderCheck(of provider: String, by now: Instant) -> Answer<Bool>
}

/// The requests and writes about checks with providers inside a transaction.
public protocol ProviderCheckTransaction: ProviderCheckReader {
    /// The provider check of a session, for update.
    func providerCheckForUpdate(of id: Identifier<Session>) -> Answer<ProviderCheck?>

    /// Up to `limit` checks of a provider that are due by `now` and that no other transaction holds, for update, the longest
    /// due first.
    func dueProviderChecksForUpdate(of provider: String, by now: Instant, limit: Int) -> Answer<[ProviderCheck]>

    /// Claims the checks of those sessions: each becomes due again at `end`, is marked as in doubt, and increments its
    /// revision.
    func claimProviderChecks(of sessions: [Identifier<Session>], until end: Instant)

    /// Adds or replaces the provider check of a session.
    func replace(_ check: ProviderCheck)

    /// Deletes the provider check of a session.
    func deleteProviderCheck(of id: Identifier<Session>)
}

/// The requests about refresh tokens of other systems.
public protocol ForeignTokenReader {
    /// The foreign token with that digest.
    func foreignToken(_ digest: [UInt8]) -> Answer<ForeignToken?>

    /// Every foreign token, in the order of their digests.
    func foreignTokens(after digest: [UInt8]?, limit: Int) -> Answer<[ForeignToken]>

    /// Up to `limit` foreign tokens that were exchanged or have expired by `end`, or were not exchanged and started by `start`.
    func foreignTokens(endedBy end: Instant, startedBy start: Instant, limit: Int) -> Answer<[ForeignToken]>

    /// Whether the user has a foreign token that was not exchanged.
    func hasWaitingForeignToken(of userID: Identifier<User>) -> Answer<Bool>
}

/// The requests and writes about refresh tokens of other systems inside a transaction.
public protocol ForeignTokenTransaction: ForeignTokenReader {
    /// The foreign token with that digest, for update.
    func foreignTokenForUpdate(_ digest: [UInt8]) -> Answer<ForeignToken?>

    /// Adds a foreign token, or replaces one that was not exchanged: by an exchanged one, or, if `replacing`, by any. False if
    /// nothing was written.
    func insert(_ token: ForeignToken, replacing: Bool) -> Answer<Bool>

    /// Writes the exchange of a foreign token.
    func updateForeignToken(_ digest: [UInt8], _ exchange: ForeignToken.Exchange?)

    func deleteForeignToken(_ digest: [UInt8])

    /// Deletes the foreign tokens of a user that were not exchanged and match client and device of `ending`.
    func deleteForeignTokens(of userID: Identifier<User>, _ ending: UserChange.EndingSessions)
}
