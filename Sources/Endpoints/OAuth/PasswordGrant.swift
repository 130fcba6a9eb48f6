internal import Cryptography
internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `grant_type=password` (RFC 6749 section 4.3), only for clients with this grant, because RFC 9700 section 2.4 forbids it
    /// in general.
    func passwordGrant(_ request: TokenRequest, _ identity: ClientIdentity, _ call: Call) async throws -> Response {
        let client = try await client(identity, call)
        if let refusal = client.refusal(of: Client.GrantType.password) { throw refusal }
        guard let username = request.username else { throw RequestProblem.invalid("username", "is missing") }
        guard let password = request.password else { throw RequestProblem.invalid("password", "is missing") }
        if let refusal = client.refusal(of: Client.LoginMethod.password) { throw refusal }
        let login = try loginRequest(request, for: client, by: .password, call)
        return try await logIn(login, username: username, password: password, call) { (grant) throws(ServiceError) in
            TokenAnswer.response(grant, idToken: try idToken(of: grant, for: request))
        }
    }

    /// The ID token of a login by a grant that has no authorization request; nil without the scope `openid`, and for a client
    /// that declines it.
    func idToken(of grant: TokenGrant, for request: TokenRequest) throws(ServiceError) -> String? {
        request.takesIDToken ? try services.pageLogin.idToken(of: grant) : nil
    }

    /// Reads the members of a login from the form; they are equal for all grants.
    func loginRequest(
        _ request: TokenRequest, for client: Client, by grant: Client.GrantType, _ call: Call
    ) throws -> SessionRequest {
        var login = SessionRequest(
            clientID: client.id, device: try request.device(else: madeUpDeviceID()),
            authenticationMode: try request.namedMode(), scope: try request.requestedScope(),
            proof: call.proof)
        login.grantType = grant
        login.isDeviceNamed = request.deviceID != nil
        login.loginNames = client.page.loginNames
        if let text = request.sessionID {
            guard let id = Identifier<Session>(text) else {
                throw RequestProblem.invalid("session_id", "must be the id of a session")
            }
            login.continuedSession = id
        }
        login.deviceKey = try Self.key(request.deviceKey, "device_key")
        login.presenceKey = try Self.key(request.presenceKey, "presence_key")
        login.resources = request.resources
        login.idempotencyKey = try call.idempotencyKey()
        login.code = request.otp.map(services.secondFactors.code)
        return login
    }

    /// Reads the public key in a parameter, as a JWK.
    private static func key(_ text: String?, _ name: String) throws -> DeviceKey? {
        guard let text else { return nil }
        guard let jwk = try? Members(json: Array(text.utf8), known: Members.jwkNames), let key = try jwk.publicKey
        else {
            throw RequestProblem.invalid(name, "must be a public key on P-256 or Ed25519, as a JWK")
        }
        return DeviceKey(key)
    }

    /// Returns a random device id, for a request that names no device.
    func madeUpDeviceID() -> String { Hex.encode(context.random.bytes(16)) }

    /// Logs a user in by password for `/oauth/token` and `/v1/login`, and makes the answer.
    func logIn(
        _ request: SessionRequest, username: String, password: String, _ call: Call,
        answer: (TokenGrant) throws(ServiceError) -> Response = { TokenAnswer.response($0) }
    ) async throws(ServiceError) -> Response {
        do throws(ServiceError) {
            try rateLimiter.admitLogin(username: username, deviceID: request.device.id)
            let grant = try await rateLimiter.password(in: call) { () async throws(ServiceError) in
                let user = try await services.login.user(
                    named: username, by: request.loginNames, password: password, on: request.device,
                    for: request.clientID, from: call.origin)
                try rateLimiter.admitLogin(as: user, named: username, deviceID: request.device.id)
                return try await rateLimiter.session(of: user.username) { () async throws(ServiceError) in
                    try await services.login.logIn(request, as: user, from: call.origin)
                }
            }
            let response = try answer(grant)
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            throw error
        }
    }
}
