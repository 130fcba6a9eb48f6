internal import Cryptography
internal import HTTP
internal import Sessions

extension Endpoints {
    /// `POST /v1/login`: a public client logs a user in on a device.
    func logIn(_ call: Call) async throws -> Response {
        let members = try Members(
            call, known: ["username", "password", "client_id", "device", "authentication_mode", "scope", "device_key"])
        let username = try members.requiredString("username")
        guard Text.isValid(username, lengthMax: User.usernameLengthMax) else {
            throw members.refused(
                "username", "must have 1 to \(User.usernameLengthMax) bytes and no control characters")
        }
        let password = try members.requiredString("password")
        guard let device = try members.device() else { throw members.refused("device", "is missing") }
        var request = try members.loginRequest(on: device)
        request.deviceKey = try members.publicKey("device_key").map(DeviceKey.init)
        request.keyThumbprint = try provenKey(call)
        // A confidential client has to prove itself, which this call does not ask for: /oauth/token does.
        guard try await administration.isPublic(clientID: request.clientID) else { throw ServiceError.invalidClient }
        return try await logIn(request, username: username, password: password, call)
    }
}

extension Administration {
    /// Whether there is a client with that id, and it has nothing to prove itself with.
    fileprivate func isPublic(clientID: String) async throws(ServiceError) -> Bool {
        do throws(ServiceError) { return try await client(clientID).isPublic } catch {
            if case .notFound = error { return false }
            throw error
        }
    }
}

extension Members {
    /// A public key on P-256 or Ed25519 as a JWK (RFC 7517); nil when it is absent.
    func publicKey(_ name: String) throws -> VerificationKey? {
        guard let jwk = try object(name, known: ["kty", "crv", "x", "y", "alg", "use", "kid", "key_ops"]) else {
            return nil
        }
        let x = try jwk.string("x").flatMap { Base64URL.decode($0) } ?? []
        let y = try jwk.string("y").flatMap { Base64URL.decode($0) } ?? []
        let key: VerificationKey? =
            switch (try jwk.string("kty"), try jwk.string("crv")) {
            case ("EC", "P-256"): VerificationKey(.p256(x: x, y: y))
            case ("OKP", "Ed25519"): VerificationKey(.ed25519(x: x))
            default: nil
            }
        guard let key else { throw refused(name, "must be a public key on P-256 or Ed25519") }
        return key
    }

    /// The member `device`.
    func device() throws -> Device? {
        guard let device = try object("device", known: ["id", "name", "platform", "app_version"]) else { return nil }
        guard let id = try device.identifier("id") else { throw device.refused("id", "is missing") }
        return Device(
            id: id, name: try device.text("name"), platform: try device.text("platform"),
            appVersion: try device.text("app_version"))
    }

    /// A login on `device` with the members that every login can have.
    func loginRequest(on device: Device) throws -> LoginRequest {
        LoginRequest(
            clientID: try identifier("client_id") ?? Client.mobileID, device: device,
            authenticationMode: try word("authentication_mode", as: AuthenticationMode.self) ?? .no,
            scope: try scope("scope"))
    }
}
