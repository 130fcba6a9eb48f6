internal import Cryptography
internal import JOSE

/// Authenticates OAuth clients: by their secrets, or by assertions that their keys have signed.
public final class ClientAuthenticator: UseCase {
    /// How far a client's clock may be ahead.
    private static let clientLead = Duration.seconds(30)

    let context: ServiceContext

    init(_ context: ServiceContext) { self.context = context }

    /// The client with that id and secret; for a public client, the id is enough. `method` is how the request brings them.
    public func authenticate(
        id: String, secret: String?, method: Client.AuthenticationMethod
    ) async throws(ServiceError) -> Client {
        guard Device.isValid(id: id),
            let client = try await inStore({ () async throws(StoreError) in try await store.client(id) })
        else { throw .invalidClient }
        guard client.authenticationMethod == method else { throw .invalidClient }
        if client.isPublic { return client }
        // In constant time, because the duration must not disclose how much of a guessed secret's hash is right.
        guard let secret, let hash = client.secretHash, constantTimeEqual(sha256(Array(secret.utf8)), hash) else {
            throw .invalidClient
        }
        return client
    }

    /// The client that signed `assertion` with one of its keys: `private_key_jwt` (OpenID Connect Core section 9). `id` is
    /// the client that the request names beside it. The audience has to be the issuer alone, as the successor of
    /// RFC 7523 demands, so that an assertion for another server's endpoint is invalid here.
    ///
    /// - Parameter audiences: the audiences that the endpoint accepts beside the issuer, each alone as well.
    public func authenticate(
        assertion text: String, id: String?, audiences: [String] = []
    ) async throws(ServiceError) -> Client {
        let now = context.clock.now
        guard let assertion = try? KeyAssertion(text), ClientKeys.algorithms.contains(assertion.header.alg),
            Device.isValid(id: assertion.issuer),
            id == nil || id == assertion.issuer,
            let client = try await inStore({ () async throws(StoreError) in try await store.client(assertion.issuer) }),
            client.authenticationMethod == .privateKeyJWT, let keys = client.keys,
            (try? assertion.verify(
                using: keys.set.verificationKey, type: .clientAuthentication(assertion.header.typ))) != nil,
            assertion.subject == client.id, assertion.audience.count == 1,
            ([context.issuer] + audiences).contains(assertion.audience[0]),
            Text.isValid(assertion.id, lengthMax: 255),
            let end = assertion.end(at: now, lead: Self.clientLead)
        else { throw .invalidClient }
        // OpenID Connect Core section 9: it must be used once. Each costs a write, which all nodes see.
        let token = OneTimeToken(.clientAssertion, of: client.id, id: assertion.id, goodUntil: end, at: now)
        let isFresh = try await inStore { () async throws(StoreError) in try await store.use(token) }
        guard isFresh else { throw .invalidClient }
        return client
    }
}

extension KeyAssertion {
    /// The time until which the assertion is accepted; nil if it is not valid at `now`. Some libraries sign assertions for an
    /// hour: with the time of its signature (`nbf`) such an assertion is accepted for as long as others, and need not be
    /// remembered for longer.
    fileprivate func end(at now: Instant, lead: Duration) -> Instant? {
        let longest = DeviceKeyService.assertionLifetimeMax
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
    /// The type by its name, or the types that assertions had before it was named. No other token of this server has them.
    fileprivate static func clientAuthentication(_ typ: String?) -> JWT.ExpectedType {
        JWT.ExpectedType.clientAuthentication.accepts(typ) ? .clientAuthentication : .jwtOrAbsent
    }
}
