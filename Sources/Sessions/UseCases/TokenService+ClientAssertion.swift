internal import JOSE

extension TokenService {
    /// How far a client's clock may be ahead.
    private static let clientLead = Duration.seconds(30)

    /// The client that signed `assertion` with one of its keys: `private_key_jwt` (OpenID Connect Core section 9). `id` is
    /// the client that the request names beside it. The audience has to be the issuer alone, as the successor of
    /// RFC 7523 demands: an assertion for the endpoint of a server in the middle is good for nothing here.
    public func authenticateClient(assertion text: String, id: String?) async throws(ServiceError) -> Client {
        let now = context.clock.now
        guard let assertion = try? KeyAssertion(text), ClientKeys.algorithms.contains(assertion.header.alg),
            Device.isValid(id: assertion.issuer),
            id == nil || id == assertion.issuer,
            let client = try await inStore({ () async throws(StoreError) in try await store.client(assertion.issuer) }),
            client.authenticationMethod == .privateKeyJWT, let keys = client.keys,
            (try? assertion.verify(
                using: keys.set.verificationKey, type: .clientAuthentication(assertion.header.typ))) != nil,
            assertion.subject == client.id, assertion.audience == [context.issuer],
            Text.isValid(assertion.id, lengthMax: 255),
            let end = assertion.end(at: now, lead: Self.clientLead)
        else { throw .invalidClient }
        // OpenID Connect Core section 9: it must be used once. So each costs a write, which all nodes see; whoever asks so often
        // that it matters has a secret, or keeps its tokens.
        let token = OneTimeToken(.clientAssertion, of: client.id, id: assertion.id, goodUntil: end, at: now)
        let isFresh = try await inStore { () async throws(StoreError) in try await store.use(token) }
        guard isFresh else { throw .invalidClient }
        return client
    }
}

extension KeyAssertion {
    /// Until when it is taken; nil when it is not good at `now`. Libraries are about that make it good for an hour: with the
    /// time at which it was made it is taken for as long as others may be, and nobody has to remember it for longer.
    fileprivate func end(at now: Instant, lead: Duration) -> Instant? {
        let longest = TokenService.assertionLifetimeMax
        var end = Instant(secondsSinceEpoch: expiry)
        if let notBefore {
            let start = Instant(secondsSinceEpoch: notBefore)
            guard start <= now + lead else { return nil }
            end = min(end, start + longest)
        } else if end > now + longest {
            return nil
        }
        return now < end ? end : nil
    }
}

extension JWT.ExpectedType {
    /// The type by its name, or else what assertions had before it was named. No other token of ours passes for one.
    fileprivate static func clientAuthentication(_ typ: String?) -> JWT.ExpectedType {
        JWT.ExpectedType.clientAuthentication.accepts(typ) ? .clientAuthentication : .jwtOrAbsent
    }
}
