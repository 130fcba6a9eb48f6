internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `GET /v1/logins/{login_id}?wait=&version=`: what the device that wants to be logged in may know, for the holder of its
    /// `device_code`. Before the approval it learns nothing of the user.
    func showDeviceLogin(_ call: Call) async throws -> Response {
        guard case .bearer(let secret)? = try call.authorization() else { throw RequestProblem.unauthenticated }
        let query = try QueryParameters(call, known: ["wait", "version"])
        let patience = call.patience(try query.seconds("wait", max: Self.longestWait) ?? .zero)
        let (version, proof) = (try query.text("version"), PhoneLoginService.DeviceProof.secret(secret))
        do {
            let id = try call.loginID()
            if call.page != nil {
                try await admitPage(of: call, try await services.phoneLogins.look(at: id, as: proof).clientID)
            }
            let login =
                patience > .zero
                ? try await services.phoneLogins.wait(for: id, as: proof, unlike: version, patience: patience)
                : try await services.phoneLogins.look(at: id, as: proof)
            return try .json(DevicePhoneLoginAnswer(login, services.phoneLogins))
        } catch ServiceError.notFound {
            // The secret is not that of this login, or there is none.
            throw ServiceError.invalidToken(nil)
        }
    }
}

/// A login with a phone as JSON, for the device that wants to be logged in.
struct DevicePhoneLoginAnswer: Encodable {
    let loginID: String
    /// The last thing that has happened, in the word of `DeviceEvent`.
    let event: String
    let state: String
    let history: String
    let number: Int?
    let qr: String?
    let qrExpiresAt: Int64?
    let expiresAt: Int64?
    let sessionID: String?
    let version: String

    init(_ login: PhoneLogin, _ service: PhoneLoginService) {
        loginID = login.id.description
        event = DeviceEvent(login).rawValue
        let words = PhoneLoginWords(login.state)
        (state, history) = (words.state.rawValue, words.history.rawValue)
        number = login.state.awaitsInput ? login.number : nil
        // A login that a backend requests is pushed: no picture leads to it.
        let isWaiting = login.state == .requested && login.kind != .backchannel
        qr = isWaiting ? service.link(of: login, .picture) : nil
        qrExpiresAt = isWaiting ? service.pictureUntil.secondsSinceEpoch : nil
        expiresAt = login.state.awaitsInput ? login.inputUntil.secondsSinceEpoch : nil
        sessionID = login.isLoggedIn || login.state.isFinal ? login.id.description : nil
        version = login.deviceVersion
    }

    enum CodingKeys: String, CodingKey {
        case loginID = "login_id"
        case event, state, history, number, qr
        case qrExpiresAt = "qr_expires_at"
        case expiresAt = "expires_at"
        case sessionID = "session_id"
        case version
    }
}

extension Route {
    static let showDeviceLogin = Route(
        .get, "/v1/logins/{login_id}", mayWait: true, cors: .client, .open { try await $0.showDeviceLogin($1) },
        Operation(
            "show_device_login", .logins, "Show a login to its device",
            """
            Takes the `device_code` as the bearer token. With `wait` the call waits for a change.
            """,
            parameters: ["wait", "version"], security: [.bearer], answers: [.json("DeviceLogin", "The login.")]))
}
