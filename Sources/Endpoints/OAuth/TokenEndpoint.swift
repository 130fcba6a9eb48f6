internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /oauth/token` (RFC 6749 section 3.2). The steps that all grants share, so that none can forget one.
    func token(_ call: Call) async throws -> Response {
        // 1. Read the form once; nobody below reads raw parameters.
        let request = TokenRequest(try call.form(repeatable: TokenRequest.repeatable))
        guard let name = request.grantType else { throw RequestProblem.invalid("grant_type", "is missing") }
        guard let grantType = OAuth.GrantType(rawValue: name) else { throw RequestProblem.unsupportedGrantType }
        // 2. The key that the tokens are to be bound to, or are bound to already (RFC 9449 section 5).
        var call = call
        call.proof = try keyProof(call)
        // 3. The client, as far as it shows itself.
        let identity = try await clientIdentity(call, request.client)
        if case .authenticated(let client) = identity {
            call.actor = "client:\(client.id)"
            call.isOfProvenClient = true
        }
        // 4. The grant. Those but a refresh are not inlined into what every refresh passes, whose memory would grow by theirs.
        switch grantType {
        case .refreshToken: return try await refreshTokenGrant(request, identity, call)
        case .jwtBearer: return try await jwtBearerGrant(request, identity, call)
        case .clientCredentials: return try await clientCredentialsGrant(request, identity, call)
        case .tokenExchange:
            return try await counted(identity) { try await tokenExchangeGrant(request, identity, call) }
        case .password: return try await counted(identity) { try await passwordGrant(request, identity, call) }
        }
    }

    /// A grant that begins a session: what a client is refused then, it is itself that asked for too much.
    @inline(never)
    private func counted(_ identity: ClientIdentity, _ grant: () async throws -> Response) async throws -> Response {
        do { return try await grant() } catch let error as ServiceError {
            guard case .authenticated(let client) = identity else { throw error }
            throw doors.refusal(error, to: client)
        }
    }
}

extension TokenRequest {
    /// The scope that is asked for; nil for all that there is.
    func requestedScope() throws -> Scope? {
        guard let text = scope else { return nil }
        guard let scope = Scope(text) else { throw ServiceError.invalidScope }
        return scope
    }

    /// The device that the request names, and what people call it; else one with an id that was made up.
    func device(else id: @autoclosure () -> String) throws -> Device {
        if let name = deviceName, !Device.isValid(text: name) {
            throw RequestProblem.invalid(
                "device_name", "must have 1 to \(Device.textLengthMax) bytes and no control characters")
        }
        return Device(id: try namedDevice() ?? id(), name: deviceName)
    }

    /// How the app will guard the session.
    func namedMode() throws -> AuthenticationMode {
        guard let text = authenticationMode else { return .no }
        guard let mode = AuthenticationMode(rawValue: text) else {
            throw RequestProblem.invalid("authentication_mode", "must be one of NO, BIOMETRIC, PASSWORD")
        }
        return mode
    }

    /// What the request brings to show that the user is there.
    var evidence: PresenceEvidence { PresenceEvidence(assertion: userAssertion, password: password) }

    /// The device that the request names.
    func namedDevice() throws -> String? {
        guard let id = deviceID else { return nil }
        guard Device.isValid(id: id) else {
            throw RequestProblem.invalid("device_id", "must have 1 to \(Device.idLengthMax) visible ASCII characters")
        }
        return id
    }
}
