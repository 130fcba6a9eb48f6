import FoundationEssentials

/// The calls of the admin interface that prepare a measurement.
struct AdminCalls {
    private let port: UInt16
    private let key: String

    /// Creates the calls to a server that was started with `launch`.
    init(_ server: ServerProcess, _ launch: ServerProcess.Launch) {
        port = server.adminPort
        key = launch.adminKey
    }

    /// Makes every refresh rotate, so that no response is a repeated one.
    func rotateAtEveryRefresh() throws { try rotate(after: 0) }

    /// Lets a refresh rotate when the one before is so many seconds old.
    func rotate(after seconds: Int) throws {
        _ = try call("PUT", "/admin/v1/settings/sessions", #"{"rotation_interval": \#(seconds)}"#)
    }

    /// Creates the user of the sessions.
    func makeUser() throws { _ = try call("POST", "/admin/v1/users", #"{"username": "bench"}"#) }

    /// Creates a user with that name.
    func makeUser(_ name: String) throws { _ = try call("POST", "/admin/v1/users", #"{"username": "\#(name)"}"#) }

    /// Creates a user with a password.
    func makeUser(_ name: String = "bench", password: String) throws {
        _ = try call("POST", "/admin/v1/users", #"{"username": "\#(name)", "password": "\#(password)"}"#)
    }

    /// Creates the client of the login page, with a session in the browser.
    func makePageClient(redirectURI: String) throws {
        let body = #"""
            {"client_id": "bench-pages", "client_name": "Bench", "grant_types": ["authorization_code"], "scope": "openid",
             "redirect_uris": ["\#(redirectURI)"], "login_methods": ["password"], "stay_logged_in": false,
             "browser_session": "client"}
            """#
        _ = try call("POST", "/admin/v1/clients", body)
    }

    /// Creates a client with an origin.
    func makeClient(origin: String) throws {
        _ = try call(
            "POST", "/admin/v1/clients", #"{"client_id": "bench-web", "allowed_origins": ["\#(origin)"]}"#)
    }

    /// Creates a client for devices that phones let in. Returns its secret, which has no limit of logins a minute.
    func makeDeviceClient() throws -> String {
        let body = #"""
            {"client_id": "bench-tv", "token_endpoint_auth_method": "client_secret_post",
             "grant_types": ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]}
            """#
        struct Made: Decodable { let client_secret: String }
        return try JSONDecoder().decode(Made.self, from: Data(try call("POST", "/admin/v1/clients", body)))
            .client_secret
    }

    /// Creates a session of that user and returns its access token.
    func mintAccessToken(device: Int) throws -> String { try mint(device: device).access_token }

    /// Creates a session of that user and returns its refresh token.
    func mintSession(of user: String = "bench", device: Int) throws -> [UInt8] {
        Array(try mint(of: user, device: device).refresh_token.utf8)
    }

    /// Creates a session of that user and returns its ID.
    func mintSessionID(device: Int) throws -> String { try mint(device: device).session_id }

    func endSession(_ id: String) throws { _ = try call("DELETE", "/admin/v1/sessions/\(id)", "") }

    private struct Tokens: Decodable {
        let access_token: String
        let refresh_token: String
        let session_id: String
    }

    private func mint(of user: String = "bench", device: Int) throws -> Tokens {
        let body = #"{"device": {"id": "bench-device-\#(device)"}}"#
        let answer = try call("POST", "/admin/v1/users/username:\(user)/sessions", body)
        return try JSONDecoder().decode(Tokens.self, from: Data(answer))
    }

    /// Returns the metrics of the server by name, summed over their labels.
    func metrics() throws -> [String: Double] {
        var values: [String: Double] = [:]
        for line in String(decoding: try call("GET", "/metrics", ""), as: UTF8.self).split(separator: "\n") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                continue
            }
            values[String(line[..<space].prefix { $0 != "{" }), default: 0] += value
        }
        return values
    }

    /// A request for a connection that is kept.
    func request(_ method: String, _ path: String, _ body: String) -> [UInt8] {
        let head = """
            \(method) \(path) HTTP/1.1\r
            Host: 127.0.0.1\r
            Authorization: Bearer \(key)\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            \r

            """
        return Array((head + body).utf8)
    }

    private func call(_ method: String, _ path: String, _ body: String) throws -> [UInt8] {
        try PlainCall(port: port, method: method, path: path, token: key, body: body).send()
    }
}
