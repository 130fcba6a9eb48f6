internal import Cryptography
internal import HTTP
internal import Sessions

extension Endpoints {
    /// `POST /v1/login`: logs a user of a public client in on a device, by password or by an ID token of an identity provider,
    /// by a passkey, or as a new anonymous user.
    func logIn(_ call: Call) async throws -> Response {
        let shared = Members.loginNames + ["session_id"]
        let all = try Members(
            call,
            known: shared + Members.identityNames + Members.codeNames + [
                "username", "password", "anonymous", "passkey", "verification_token", "cancel_deletion",
            ])
        if all.contains("login_token") {
            return try await continueLogin(
                try Members(call, known: shared + Members.codeNames + ["cancel_deletion"]), call)
        }
        if all.contains("verification_token") {
            return try await logInByEmail(
                try Members(call, known: shared + ["verification_token", "code", "cancel_deletion"]), call)
        }
        if all.contains("passkey") {
            return try await logInByPasskey(
                try Members(call, known: Members.loginNames + ["passkey", "cancel_deletion"]), call)
        }
        if let isAnonymous = try all.bool("anonymous") {
            guard isAnonymous else { throw all.refused("anonymous", "must be true, or absent") }
            return try await logInAnonymously(try Members(call, known: Members.loginNames + ["anonymous"]), call)
        }
        if all.contains("provider") || all.contains("id_token") {
            return try await logInByIdentity(
                try Members(
                    call, known: shared + Members.identityNames + ["anonymous", "code", "cancel_deletion"]), call)
        }
        let members = try Members(
            call, known: shared + ["username", "password", "anonymous", "code", "cancel_deletion"])
        let username = try members.requiredString("username")
        guard User.isLoginName(username) else {
            throw members.refused(
                "username", "must have 1 to \(User.loginNameLengthMax) bytes and no control characters")
        }
        let password = try members.requiredString("password")
        return try await logIn(
            try await publicLogin(members, by: .password, call), username: username, password: password, call)
    }

    private func logInByIdentity(_ members: Members, _ call: Call) async throws -> Response {
        guard let token = try members.identityToken() else { throw members.refused("id_token", "is missing") }
        var request = try await publicLogin(members, by: .provider(token.provider ?? ""), call)
        request.providerRefreshToken = try members.providerRefreshToken()
        return try await logIn(request, by: token, call) { TokenAnswer.response($0) }
    }

    private func logInAnonymously(_ members: Members, _ call: Call) async throws -> Response {
        let request = try await publicLogin(members, by: .anonymous, call)
        do throws(ServiceError) {
            let grant = try await rateLimiter.anonymousLogin(in: call) { () async throws(ServiceError) in
                try await services.anonymousUsers.logIn(request, from: call.origin)
            }
            let response = TokenAnswer.response(grant)
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            throw error
        }
    }

    /// Reads the members that all kinds of logins share. Throws `invalid_client` for a confidential client, and for one that
    /// does not take the login what the transaction would say, before a password is hashed or a token verified.
    func publicLogin(
        _ members: Members, by method: Client.LoginMethod, _ call: Call
    ) async throws -> SessionRequest {
        guard let device = try members.device() else { throw members.refused("device", "is missing") }
        var request = try members.loginRequest(on: device)
        request.proof = try keyProof(call)
        request.idempotencyKey = try call.idempotencyKey()
        request.cancelsDeletion = try members.bool("cancel_deletion") ?? false
        request.code = try code(members)
        // A confidential client is refused, because this call does not authenticate clients: /oauth/token does.
        guard let client = try await services.pageLogin.client(request.clientID), client.isPublic else {
            throw ServiceError.invalidClient
        }
        try call.page?.admit(client)
        request.loginNames = client.page.loginNames
        if let refusal = client.refusal(of: method) { throw refusal }
        if request.continuedSession == nil, let refusal = client.refusal(of: request.grantType) { throw refusal }
        return request
    }
}

extension Members {
    /// Reads a public key on P-256 or Ed25519, as a JWK (RFC 7517); nil when the member is absent.
    func publicKey(_ name: String) throws -> VerificationKey? {
        guard let jwk = try object(name, known: Self.jwkNames) else { return nil }
        guard let key = try jwk.publicKey else { throw refused(name, "must be a public key on P-256 or Ed25519") }
        return key
    }

    /// Reads the ID token and its provider; nil when the body has none of `provider`, `id_token` and `nonce`.
    func identityToken() throws -> IdentityToken? {
        guard contains("provider") || contains("id_token") || contains("nonce") else { return nil }
        guard let provider = try text("provider") else { throw refused("provider", "is missing") }
        return IdentityToken(provider: provider, text: try requiredString("id_token"), nonce: try nonce())
    }

    /// Reads the nonce that the app sent to the provider for the ID token.
    fileprivate func nonce() throws -> String? {
        guard let nonce = try string("nonce") else { return nil }
        guard Text.isValid(nonce, lengthMax: 512) else {
            throw refused("nonce", "must have 1 to 512 bytes and no control characters")
        }
        return nonce
    }

    /// Reads the provider's refresh token, with which the server can ask the provider about the session later.
    fileprivate func providerRefreshToken() throws -> String? {
        guard let token = try string("provider_refresh_token") else { return nil }
        guard ProviderCheckService.isProviderToken(token) else {
            throw refused("provider_refresh_token", Endpoints.providerTokenRule)
        }
        return token
    }

    /// The members that a JWK may have.
    static let jwkNames = ["kty", "crv", "x", "y", "alg", "use", "kid", "key_ops"]

    /// The public key of this JWK; nil unless it is on P-256 or Ed25519.
    var publicKey: VerificationKey? {
        get throws {
            let x = try string("x").flatMap { Base64URL.decode($0) } ?? []
            let y = try string("y").flatMap { Base64URL.decode($0) } ?? []
            switch (try string("kty"), try string("crv")) {
            case ("EC", "P-256"): return VerificationKey(.p256(x: x, y: y))
            case ("OKP", "Ed25519"): return VerificationKey(.ed25519(x: x))
            default: return nil
            }
        }
    }

    /// Reads the member `device`.
    func device() throws -> Device? {
        guard let device = try object("device", known: ["id", "name", "platform", "app_version"]) else { return nil }
        guard let id = try device.identifier("id") else { throw device.refused("id", "is missing") }
        return Device(
            id: id, name: try device.text("name"), platform: try device.text("platform"),
            appVersion: try device.text("app_version"))
    }

    /// Reads the member `device` of a refresh.
    func deviceReport() throws -> DeviceReport? {
        guard let device = try object("device", known: ["name", "platform", "app_version"]) else { return nil }
        return DeviceReport(
            name: try device.text("name"), platform: try device.text("platform"),
            appVersion: try device.text("app_version"))
    }

    /// The members of a login by an identity provider.
    fileprivate static let identityNames = idTokenNames + ["provider_refresh_token"]

    /// The ID token and the members that belong to it.
    static let idTokenNames = ["provider", "id_token", "nonce"]

    /// The members that every login may have.
    static let loginNames = ["client_id", "device", "authentication_mode", "scope", "device_key", "presence_key"]

    /// Reads a login on `device` from these members.
    func loginRequest(on device: Device) throws -> SessionRequest {
        var request = SessionRequest(
            clientID: try identifier("client_id") ?? Client.mobileID, device: device,
            authenticationMode: try word("authentication_mode", as: AuthenticationMode.self),
            scope: try scope("scope"))
        if let text = try string("session_id") {
            guard let id = Identifier<Session>(text) else { throw refused("session_id", "must be the id of a session") }
            request.continuedSession = id
        }
        request.deviceKey = try publicKey("device_key").map(DeviceKey.init)
        request.presenceKey = try publicKey("presence_key").map(DeviceKey.init)
        return request
    }
}

extension Route {
    static let logIn = Route(
        .post, "/v1/login", cors: .client, .open { try await $0.logIn($1) },
        Operation(
            "log_in", .apps, "Log in",
            """
            A public client with the grant `login` logs a user in on a device. A login that continues a session \
            (`session_id`) does not need the grant. An earlier session on the same device and client is \
            replaced, unless the request is a retry with the same `Idempotency-Key`. A field `DPoP` binds the \
            session to that key; with `device_key` the device can later resume the session without a stored \
            token. With `anonymous` a new user is made; `POST /v1/me/account` gives it a name later.
            """,
            takes: .json("Login"), parameters: ["DPoP", "Idempotency-Key"], answers: [.tokens],
            errors: [.wrongPassword, .loginRefused, .notFound, .idempotencyKeyUsed, .tooManyRequests]))
}
