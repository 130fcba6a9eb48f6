internal import JOSE

/// The claims of a client's proof of who it is (RFC 7523 section 3).
private struct ClientAssertion: Decodable {
    let iss: String
    let sub: String
    let aud: Audience
    let exp: Double
    let jti: String
    let iat: Double?
    let nbf: Double?

    /// One audience, alone or as the only one of a list.
    struct Audience: Decodable {
        let values: [String]

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let only = try? value.decode(String.self) {
                values = [only]
            } else {
                values = try value.decode([String].self)
            }
        }
    }
}

extension TokenService {
    /// The longest that an assertion can be good for, in seconds from now: used ones have to be remembered so long.
    static let longestAssertion: Int64 = 300
    /// How far a client's clock may be ahead, in seconds.
    private static let clockSkew: Int64 = 30

    /// The client that signed `assertion` with one of its keys: `private_key_jwt` (OpenID Connect Core section 9). `id` is
    /// the client that the request names beside it. The audience has to be the issuer alone, as the successor of
    /// RFC 7523 demands: an assertion for the endpoint of a server in the middle is good for nothing here.
    public func authenticateClient(assertion: String, id: String?) async throws(ServiceError) -> Client {
        guard let parsed = try? JWT.parse(assertion), let named = parsed.unverifiedSubject,
            Device.isValid(id: named), id == nil || id == named,
            let client = try await inStore({ () async throws(StoreError) in try await store.client(named) }),
            client.authenticationMethod == .privateKeyJWT, let keys = client.keys
        else { throw .invalidClient }
        let now = context.clock.now
        guard
            let verified = try? parsed.verify(
                using: keys.set.verificationKey, type: .clientAuthentication(parsed.header.typ)),
            let claims = try? verified.claims(as: ClientAssertion.self),
            isAcceptable(claims, of: client, at: now)
        else { throw .invalidClient }
        switch context.clientAssertions.use(claims.jti, of: client.id, at: now) {
        case .fresh: return client
        case .replayed: throw .invalidClient
        case .full: throw .overloaded
        }
    }

    private func isAcceptable(_ claims: ClientAssertion, of client: Client, at now: Instant) -> Bool {
        let now = now.secondsSinceEpoch
        let soon = Double(now + Self.clockSkew)
        guard claims.iss == client.id, claims.sub == client.id, claims.aud.values == [context.issuer],
            Text.isValid(claims.jti, lengthMax: 255)
        else { return false }
        return Double(now) < claims.exp && claims.exp <= Double(now + Self.longestAssertion)
            && (claims.nbf ?? 0) <= soon && (claims.iat ?? 0) <= soon
    }
}

extension JWT.ExpectedType {
    /// The type by its name, or else what assertions had before it was named. No other token of ours passes for one.
    fileprivate static func clientAuthentication(_ typ: String?) -> JWT.ExpectedType {
        JWT.ExpectedType.clientAuthentication.accepts(typ) ? .clientAuthentication : .jwtOrAbsent
    }
}
