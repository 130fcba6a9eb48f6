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
        let client = try await client(id)
        guard client.acceptedMethods.contains(method) else {
            throw .refused(id, sent: method.rawValue, expected: client.expectedMethods)
        }
        if client.isPublic { return client }
        guard let secret, client.accepts(secret: secret, at: context.clock.now) else {
            throw .refused(id, sent: "another secret by \(method.rawValue)", expected: "the secret of the client")
        }
        return client
    }

    private func client(_ id: String) async throws(ServiceError) -> Client {
        guard Device.isValid(id: id),
            let client = try await inStore(await store.client(id))
        else { throw .refused(id, sent: "an unknown client_id", expected: "the client_id of a client") }
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
        guard let assertion = try? KeyAssertion(text), ClientKeys.algorithms.contains(assertion.header.alg) else {
            let algorithms = ClientKeys.algorithms.map(\.rawValue).joined(separator: " ")
            throw .refused(id, sent: "an unreadable client_assertion", expected: "one signed by \(algorithms)")
        }
        guard id == nil || id == assertion.issuer else {
            throw .refused(id, sent: "a client_assertion with another iss", expected: "the client_id as iss")
        }
        let client = try await client(assertion.issuer)
        guard client.authenticationMethod == .privateKeyJWT, let keys = client.keys else {
            throw .refused(client.id, sent: "private_key_jwt", expected: client.expectedMethods)
        }
        guard
            (try? assertion.verify(
                using: keys.set.verificationKey, type: .clientAuthentication(assertion.header.typ))) != nil
        else {
            throw .refused(client.id, sent: "a client_assertion of another key or type", expected: "a key of jwks")
        }
        guard assertion.subject == client.id, assertion.audience.count == 1,
            ([context.issuer] + audiences).contains(assertion.audience[0])
        else {
            throw .refused(
                client.id, sent: "a client_assertion with another sub or aud",
                expected: "the client_id as sub, and as aud \(context.issuer) alone")
        }
        guard Text.isValid(assertion.id, lengthMax: 255), let end = assertion.end(at: now, lead: Self.clientLead) else {
            throw .refused(
                client.id, sent: "a client_assertion without a good jti, or not of this time",
                expected: "a jti, and an exp within \(DeviceKeyService.assertionLifetimeMax.wholeSeconds) seconds")
        }
        // OpenID Connect Core section 9: it must be used once. Each costs a write, which all nodes see.
        let token = OneTimeToken(.clientAssertion, of: client.id, id: assertion.id, goodUntil: end, at: now)
        let isFresh = try await inStore(await store.use(token))
        guard isFresh else {
            throw .refused(client.id, sent: "a client_assertion a second time", expected: "a new jti each time")
        }
        return client
    }
}

extension ServiceError {
    /// The refusal of a client that failed to authenticate.
    fileprivate static func refused(_ id: String?, sent: String, expected: String) -> ServiceError {
        .clientRefused(ClientRefusal(.invalidClient, of: id, sent: sent, expected: expected))
    }
}

extension Client {
    /// The methods of the client in words.
    fileprivate var expectedMethods: String { acceptedMethods.map(\.rawValue).joined(separator: " or ") }
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
