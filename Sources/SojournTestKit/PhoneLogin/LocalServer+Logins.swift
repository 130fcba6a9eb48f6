public import Foundation
import SojournClient

/// The device that wants to be logged in (RFC 8628). Its client is made at the first login: `test-device`, or `test-backend` with a
/// secret for requests with JSON that only a client may send that proves itself.
extension LocalServer {
    /// Requests a login, as a device without a browser does. `push` of the result is empty, because no backend has asked.
    public func requestLogin(_ request: TestLoginRequest = TestLoginRequest()) async throws -> TestLogin {
        let client = try await deviceClient(
            isProven: request.announceInfo != nil || request.sessionInfo != nil, returnURI: request.returnURI)
        var form = client
        switch request.bond {
        case .none: form["bond"] = "none"
        case .session: form["bond"] = "session"
        case .ping(let seconds): (form["bond"], form["ping_seconds"]) = ("ping", "\(seconds)")
        }
        form["redirect_uri"] = request.returnURI
        form["second_factor"] = request.secondFactor
        form["announce_info"] = request.announceInfo ?? request.announceQuote.map(Self.quote)
        form["session_info"] = request.sessionInfo ?? request.sessionQuote.map(Self.quote)
        let answer = try await post("/oauth/device_authorization", form)
        guard let members = JSONValue(parsing: answer.body)?.members, let id = members.text("login_id"),
            let picture = members.text("qr"), let secret = members.text("device_code")
        else { throw Self.refusal("/oauth/device_authorization", answer) }
        devices.withLock { $0[id] = client }
        return TestLogin(id: id, picture: picture, link: members.text("link") ?? "", secret: secret, push: Data())
    }

    /// The number that the device shows; nil while it shows the picture, or if none is needed.
    public func number(of login: TestLogin) async throws -> Int? {
        try await look(at: login).integer("number").flatMap { Int(exactly: $0) }
    }

    /// Lets the device come for its session. Returns the answer with its tokens, for `Sojourn.adopt`; nil: the user has not let it
    /// in, or it has come before.
    ///
    /// - Parameter returnURL: what the app on the phone has opened (`LoginDetails.returnURL`). A login by a link takes it.
    @discardableResult
    public func collect(
        _ login: TestLogin, device: String = "desktop", returnURL: URL? = nil
    ) async throws -> Data? {
        // A device that asks for tokens before it may has to slow down.
        guard try await look(at: login).text("event") == "approved" else { return nil }
        var form = devices.withLock { $0[login.id] } ?? [:]
        form["grant_type"] = "urn:ietf:params:oauth:grant-type:device_code"
        (form["device_code"], form["device_id"]) = (login.secret, device)
        let query = returnURL.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false)?.queryItems }
        form["return_token"] = query?.first { $0.name == "return_token" }?.value
        let answer = try await post(TokenRequest.path, form)
        guard answer.status == 200 else { throw Self.refusal(TokenRequest.path, answer) }
        return Data(answer.body)
    }

    /// What the device may know of its login.
    private func look(at login: TestLogin) async throws -> [String: JSONValue] {
        let path = "/v1/logins/" + login.id
        var message = try ServerAddress(url).request("GET", path)
        message.fields.append(HTTPMessageField("Authorization", "Bearer " + login.secret))
        let answer = try await transport.send(message, within: .seconds(60))
        guard answer.status == 200, let members = JSONValue(parsing: answer.body)?.members else {
            throw Self.refusal(path, answer)
        }
        return members
    }

    /// The parameters that name the client of a device.
    private func deviceClient(isProven: Bool, returnURI: String?) async throws -> [String: String] {
        let id = isProven ? "test-backend" : "test-device"
        let grants = ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"].map { JSONValue.string($0) }
        let method = isProven ? "client_secret_post" : "none"
        let uris = JSONValue.array(returnURI.map { [.string($0)] } ?? [])
        let made: [String: JSONValue] = [
            "client_id": .string(id), "grant_types": .array(grants), "scope": .string("offline_access account"),
            "token_endpoint_auth_method": .string(method), "redirect_uris": uris,
        ]
        let answer: Data
        do { answer = try await admin("POST", "clients", made) } catch let error as AdminRefusal
            where error.status == 409
        {
            var change = ["redirect_uris": uris]
            if isProven { change["rotate_secret"] = .bool(true) }
            answer = try await admin("PATCH", "clients/" + id, change)
        }
        var form = ["client_id": id]
        form["client_secret"] = JSONValue(parsing: Array(answer))?.members?.text("client_secret")
        return form
    }

    private func post(_ path: String, _ parameters: [String: String]) async throws -> HTTPAnswer {
        var form = Form()
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { form.add(name, value) }
        return try await transport.send(try ServerAddress(url).post(path, form), within: .seconds(60))
    }

    private static func refusal(_ path: String, _ answer: HTTPAnswer) -> AdminRefusal {
        AdminRefusal(call: path, status: answer.status, answer: String(decoding: answer.body, as: UTF8.self))
    }

    private static func quote(_ text: String) -> String {
        String(decoding: JSONValue.object(["text": .string(text)]).bytes, as: UTF8.self)
    }
}
