// Shaped for speed: functions with `@inline(never)` keep their variables out of the async frames of a refresh. These frames
// take 6000 bytes instead of 34 000 (`Sessions/Refresh/RefreshService.swift` has the command).

internal import Cryptography
internal import HTTP
internal import OAuth
internal import Sessions

/// The three kinds of callers: users with an access token, admins with a key, OAuth clients.
extension Endpoints {
    /// The active session of the access token in the `Authorization` field, which needs this scope token.
    func authenticatedSession(
        _ call: Call, scope: String?, requiresPresence: Bool = true
    ) async throws -> AuthenticatedSession {
        let (token, use) = try presentedToken(call)
        let session = try await services.accessTokens.authenticate(
            token, as: use, scope: scope, requiresPresence: requiresPresence, from: call.origin)
        try call.page?.admit(in: session.record)
        return session
    }

    /// The call with the admin of the key in the `Authorization` field, which has one of the scopes. On the admin socket no key
    /// is needed, because a process that can open it can read the database and the root key as well.
    func admitted(_ call: Call, for scopes: [AdminKey.Scope]) async throws -> Call {
        if call.caller.listener == .adminSocket { return call.by("admin:local", .owner) }
        guard case .bearer(let secret)? = try call.authorization() else { throw RequestProblem.unauthenticated }
        guard let key = try await services.administration.adminKey(for: secret) else {
            throw RequestProblem.unknownAdminKey
        }
        guard scopes.contains(where: key.scope.includes) else {
            throw RequestProblem.insufficientScope(scopes, actor: key.actor)
        }
        return call.by(key.actor, key.scope)
    }
}

extension AdminKey {
    /// The admin as the audit trail and the log name them.
    var actor: String { "admin:\(id)" }
}

extension Call {
    /// The call of an admin.
    func by(_ actor: String, _ scope: AdminKey.Scope) -> Call {
        var call = self
        (call.actor, call.adminScope) = (actor, scope)
        return call
    }
}

/// The OAuth client of a request, as far as it has identified itself. Indirect, because a client is large and most calls only
/// name one.
indirect enum ClientIdentity: Sendable {
    /// The request names no client.
    case unnamed
    /// The request names a client without authentication, which suffices for public clients.
    case named(String)
    /// The client has authenticated by its secret or its key.
    case authenticated(Client)

    /// The client that renews a session by this grant, and whether it has authenticated. The domain decides whether the session
    /// is that client's, and whether naming itself is enough.
    func presenter(by grant: Client.GrantType) throws(ServiceError) -> (id: String?, isAuthenticated: Bool) {
        switch self {
        case .unnamed: return (nil, false)
        case .named(let id): return (id, false)
        case .authenticated(let client):
            if let refusal = client.refusal(of: grant) { throw refusal }
            return (client.id, true)
        }
    }
}

extension Endpoints {
    /// Identifies the client of an OAuth request (RFC 6749 sections 2.3 and 3.2.1): by HTTP Basic, by an assertion, or in the
    /// form.
    ///
    /// - Parameter audiences: the audiences of assertions that the endpoint accepts beside the issuer.
    func clientIdentity(
        _ call: Call, _ client: ClientParameters, audiences: [String] = []
    ) async throws -> ClientIdentity {
        if client.assertion != nil || client.assertionType != nil {
            return try await assertedClient(call, client, audiences)
        }
        if let authorization = try call.authorization() { return try await clientIdentity(authorization, call, client) }
        let secret = client.secret
        guard let id = client.id else {
            guard secret == nil else { throw ServiceError.invalidClient }
            return .unnamed
        }
        guard let secret else { return .named(id) }
        return .authenticated(try await provenClient(id, secret, .clientSecretPost, call))
    }

    /// Authenticates the client in the `Authorization` field.
    @inline(never)
    private func clientIdentity(
        _ authorization: Authorization, _ call: Call, _ client: ClientParameters
    ) async throws -> ClientIdentity {
        guard case .basic(let encoded) = authorization else { throw ServiceError.invalidClient }
        guard client.secret == nil else {
            throw RequestProblem.invalid("client_secret", "must not stand beside an Authorization field")
        }
        guard let credentials = encoded.formDecoded else { throw ServiceError.invalidClient }
        guard client.id == nil || client.id == credentials.userID else {
            throw RequestProblem.invalid("client_id", "must be that of the Authorization field")
        }
        return .authenticated(
            try await provenClient(credentials.userID, credentials.password, .clientSecretBasic, call))
    }

    @inline(never)
    private func provenClient(
        _ id: String, _ secret: String, _ method: Client.AuthenticationMethod, _ call: Call
    ) async throws(ServiceError) -> Client {
        try await proven(id, call) { () async throws(ServiceError) in
            try await services.clients.authenticate(id: id, secret: secret, method: method)
        }
    }

    /// The client that authenticates by an assertion, and by nothing else (RFC 7521 section 4.2).
    @inline(never)
    private func assertedClient(
        _ call: Call, _ client: ClientParameters, _ audiences: [String]
    ) async throws -> ClientIdentity {
        guard try call.onlyField("Authorization") == nil else {
            throw RequestProblem.invalid("client_assertion", "must not stand beside an Authorization field")
        }
        guard client.secret == nil else {
            throw RequestProblem.invalid("client_assertion", "must not stand beside a client_secret")
        }
        guard let type = client.assertionType else {
            throw RequestProblem.invalid("client_assertion_type", "is missing")
        }
        guard let assertion = client.assertion else {
            throw RequestProblem.invalid("client_assertion", "is missing")
        }
        guard type == ClientParameters.jwtBearer else { throw ServiceError.invalidClient }
        return .authenticated(
            try await proven(client.id, call) { () async throws(ServiceError) in
                try await services.clients.authenticate(assertion: assertion, id: client.id, audiences: audiences)
            })
    }

    /// Lets a client authenticate as the one with that id, and counts failures.
    private func proven(
        _ id: String?, _ call: Call, by proof: () async throws(ServiceError) -> Client
    ) async throws(ServiceError) -> Client {
        do throws(ServiceError) { return try await proof() } catch {
            throw rateLimiter.refusal(error, toClaimed: id, from: call.caller)
        }
    }

    /// The client, which has to be known: a confidential client has authenticated, and a client that only named itself is
    /// public.
    func client(_ identity: ClientIdentity, _ call: Call) async throws -> Client {
        let client =
            switch identity {
            case .unnamed: throw ServiceError.invalidClient
            case .named(let id):
                try await proven(id, call) { () async throws(ServiceError) in
                    try await services.clients.authenticate(id: id, secret: nil, method: .none)
                }
            case .authenticated(let client): client
            }
        try call.page?.admit(client)
        return client
    }
}

extension Call {
    /// The parameters of a form (RFC 6749 section 3.2, appendix B). A repeated parameter is refused, except those in
    /// `repeatable`.
    func form(repeatable: ([FormPair]) -> [String] = { _ in [] }) throws -> FormParameters {
        let pairs = try pairs()
        do throws(FormParameters.Repeated) { return try FormParameters(pairs, repeatable: repeatable(pairs)) } catch {
            throw RequestProblem.unreadable("A parameter appears twice.")
        }
    }

    /// The fields of a form. A file, which only forms of the console have, is base64url.
    private func pairs() throws -> [FormPair] {
        if route.listeners == .admin, try hasContentType("multipart/form-data"),
            let type = try onlyField("Content-Type")
        {
            guard let parts = MultipartDecoder.decode(request.body, type: type) else {
                throw RequestProblem.unreadable("The form cannot be read.")
            }
            return parts.map { part in
                FormPair(
                    name: part.name,
                    value: part.isFile
                        ? Base64URL.encode(part.content) : String(decoding: part.content, as: UTF8.self))
            }
        }
        guard try hasContentType("application/x-www-form-urlencoded") else { throw RequestProblem.unsupportedMediaType }
        do throws(FormError) { return try FormDecoder.decode(request.body) } catch {
            throw RequestProblem.unreadable("The form cannot be read.")
        }
    }
}
