// Shaped for speed: the switch over the other grants is not inlined, because a refresh would allocate their async frames. The
// frames of a refresh take 6000 bytes instead of 34 000 (`Sessions/Refresh/RefreshService.swift` has the command).

internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /oauth/token` (RFC 6749 section 3.2): the steps that all grants share, so that no grant can omit one.
    func token(_ call: Call) async throws -> Response {
        // 1. Read the form once: nothing below reads raw parameters.
        let form = try call.form {
            TokenRequest.repeatable(in: $0, tokenExchange: Client.GrantType.tokenExchange.rawValue)
        }
        let request = TokenRequest(form)
        guard let name = request.grantType else { throw RequestProblem.invalid("grant_type", "is missing") }
        guard let grantType = Client.GrantType(rawValue: name), grantType != .login else {
            throw RequestProblem.unsupportedGrantType
        }
        // 2. Verify the proof of the key to which the tokens are bound, or will be (RFC 9449 section 5).
        var call = call
        call.proof = try keyProof(call, isRepeatable: grantType == .refreshToken)
        // 3. Identify the client, if the request names one.
        let identity = try await clientIdentity(call, request.client)
        if case .authenticated(let client) = identity {
            call.actor = "client:\(client.id)"
            call.isOfProvenClient = true
            try call.page?.admit(client)
        }
        // 4. Run the grant.
        if grantType == .refreshToken { return try await refreshTokenGrant(request, identity, call) }
        return try await grant(grantType, request, identity, call)
    }

    /// The grants other than a refresh.
    @inline(never)
    private func grant(
        _ grantType: Client.GrantType, _ request: TokenRequest, _ identity: ClientIdentity, _ call: Call
    ) async throws -> Response {
        switch grantType {
        case .refreshToken: return try await refreshTokenGrant(request, identity, call)
        case .jwtBearer: return try await jwtBearerGrant(request, identity, call)
        case .clientCredentials: return try await clientCredentialsGrant(request, identity, call)
        case .tokenExchange:
            return try await counted(identity) { try await tokenExchangeGrant(request, identity, call) }
        case .authorizationCode:
            return try await counted(identity) { try await authorizationCodeGrant(request, identity, call) }
        case .deviceCode:
            return try await counted(identity) { try await deviceCodeGrant(request, identity, call) }
        case .backchannel:
            return try await counted(identity) { try await backchannelGrant(request, identity, call) }
        case .password: return try await counted(identity) { try await passwordGrant(request, identity, call) }
        // The app's own login screen, `POST /v1/login`.
        case .login: throw RequestProblem.unsupportedGrantType
        }
    }

    /// A grant that starts a session: its refusals count against a client that has authenticated.
    private func counted(_ identity: ClientIdentity, _ grant: () async throws -> Response) async throws -> Response {
        do { return try await grant() } catch let error as ServiceError {
            guard case .authenticated(let client) = identity else { throw error }
            throw rateLimiter.refusal(error, to: client)
        }
    }
}

extension TokenRequest {
    /// The scope that the request asks for; nil: all that can be granted.
    func requestedScope() throws -> Scope? {
        guard let text = scope else { return nil }
        guard let scope = Scope(text) else { throw ServiceError.invalidScope }
        return scope
    }

    /// The device that the request names, with what it says of it; else a device with that id.
    func device(else id: @autoclosure () -> String) throws -> Device {
        try checkDeviceTexts()
        return Device(
            id: try namedDevice() ?? id(), name: deviceName, platform: devicePlatform, appVersion: deviceAppVersion)
    }

    /// What a refresh says of its device.
    @inline(never)
    func deviceReport() throws -> DeviceReport? {
        try checkDeviceTexts()
        return DeviceReport(name: deviceName, platform: devicePlatform, appVersion: deviceAppVersion)
    }

    private func checkDeviceTexts() throws {
        for (name, text) in [
            ("device_name", deviceName), ("device_platform", devicePlatform), ("device_app_version", deviceAppVersion),
        ] {
            if let text, !Device.isValid(text: text) {
                throw RequestProblem.invalid(
                    name, "must have 1 to \(Device.textLengthMax) bytes and no control characters")
            }
        }
    }

    /// The protection of the session by the app; nil if the request names none.
    func namedMode() throws -> AuthenticationMode? {
        guard let text = authenticationMode else { return nil }
        guard let mode = AuthenticationMode(rawValue: text) else {
            throw RequestProblem.invalid("authentication_mode", "must be one of NO, BIOMETRIC, PASSWORD")
        }
        return mode
    }

    /// When the client sent the request, by its own clock; nil if it does not say.
    func sendingTime() throws -> Instant? {
        guard let text = sentAt else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(text),
            Instant.unixSeconds.contains(seconds)
        else { throw RequestProblem.invalid("sent_at", "must be a time in Unix seconds") }
        return Instant(secondsSinceEpoch: seconds)
    }

    /// The evidence of the user's presence in the request.
    func evidence(_ verifier: (any IdentityVerifier)?) throws -> PresenceEvidence {
        var evidence = PresenceEvidence(assertion: userAssertion, password: password, code: otp)
        if let idToken { evidence.identity = IdentityEvidence(try identityToken(idToken), verifier: verifier) }
        return evidence
    }

    /// The ID token with its provider, which the request need not name, and its nonce.
    @inline(never)
    private func identityToken(_ text: String) throws -> IdentityToken {
        if let provider, !Identity.Key.isValid(provider: provider) {
            throw RequestProblem.invalid("provider", "must be the name of an identity provider")
        }
        if let nonce = exchange.nonce, !Text.isValid(nonce, lengthMax: 512) {
            throw RequestProblem.invalid("nonce", "must have 1 to 512 bytes and no control characters")
        }
        return IdentityToken(provider: provider, text: text, nonce: exchange.nonce)
    }

    /// The device id in the request.
    func namedDevice() throws -> String? {
        guard let id = deviceID else { return nil }
        guard Device.isValid(id: id) else {
            throw RequestProblem.invalid("device_id", "must have 1 to \(Device.idLengthMax) visible ASCII characters")
        }
        return id
    }
}

extension Route {
    static let token = Route(
        .post, Endpoints.tokenPath, errorFormat: .oauth, challenge: .basic, cors: .client,
        .open { try await $0.token($1) },
        Operation(
            "token", .oauth, "Get tokens",
            """
            The token endpoint (RFC 6749 section 3.2). `refresh_token` renews a session: it rotates the refresh \
            token, and a retry within `rotation_interval` gets the same one again. `client_credentials` gives a \
            client a token of its own, for an hour unless the client has an `access_token_lifetime`. \
            `urn:ietf:params:oauth:grant-type:jwt-bearer` resumes a session by an assertion that the key of the \
            device has signed (RFC 7523). `urn:ietf:params:oauth:grant-type:token-exchange` exchanges an \
            identity provider's ID token for a session (RFC 8693). \
            `urn:ietf:params:oauth:grant-type:device_code` is for a device that a phone, or a browser, lets in \
            (RFC 8628). `urn:openid:params:grant-type:ciba` is for a backend that has requested a login of a \
            user (OpenID Connect CIBA). `password` is for clients that have it in their `grant_types`; \
            first-party apps call `/v1/login`. A client without the method in its `login_methods` gets \
            `unauthorized_client` with the `reason` `login_method_not_allowed`.
            """,
            takes: .form, parameters: ["DPoP", "Idempotency-Key"], answers: [.tokens]))
}
