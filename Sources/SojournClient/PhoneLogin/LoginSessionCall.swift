internal import Foundation

/// The calls of login sessions on the wire. Each needs an access token of the account that acts, or the secret of an enrolment.
package enum LoginSessionCall: Hashable, Sendable {
    case claim(code: String, source: String, LoginSessionWishes)
    /// An AppLogin begins, at the backend of that client. The number tells one from the next, because nothing else does.
    case appLogin(client: String, UInt64)
    /// The second factor of an AppLogin.
    case proveAppLogin(String, LoginProof)
    case look(String)
    /// Waits until the login has another version than that, or for so many seconds.
    case wait(String, version: String?, seconds: Int64)
    case list
    /// A page of all logins, those that are over as well.
    case history(after: String?)
    case start(String)
    case confirm(String, number: Int?)
    case prove(String, LoginProof, number: Int?)
    case stop(String, isReport: Bool)
    case adopt(String, LoginProof)
    case ping
    /// A phone without an account presents the code of an invitation.
    case claimInvitation(code: String, source: String, deviceID: String, startsByHand: Bool)
    /// The last act of an enrolment, with the members of its body.
    case enrol(String, [String: JSONValue])

    package static let path = "/v1/me/logins"
    package static let appLoginPath = "/v1/me/app-login"
    package static let enrolmentPath = "/v1/enrolments"

    /// The request, without its access token.
    package func message(to server: ServerAddress) throws(SojournError) -> HTTPMessage {
        switch self {
        case .claim(let code, let source, let wishes):
            var members: [String: JSONValue] = ["code": .string(code), "source": .string(source)]
            if wishes.startsByHand { members["manual_start"] = .bool(true) }
            if wishes.skipsConfirmation { members["skip_confirmation"] = .bool(true) }
            if wishes.demandsSecondFactor { members["second_factor"] = .bool(true) }
            return try server.request("POST", Self.path, members)
        case .appLogin(let client, _):
            return try server.request("POST", Self.appLoginPath, ["client_id": .string(client)])
        case .proveAppLogin(let id, let proof):
            return try server.request(
                "POST", Self.appLoginPath, proof.members.merging(["login_id": .string(id)]) { $1 })
        case .look(let id): return try server.request("GET", Self.path(id))
        case .wait(let id, let version, let seconds):
            var query = "?wait=\(seconds)"
            if let version { query += "&version=" + Form.escaped(version) }
            return try server.request("GET", Self.path(id) + query)
        case .list: return try server.request("GET", Self.path)
        case .history(let cursor):
            // A page with the longest infos of clients is shorter than the longest answer.
            let query = "?history=true&limit=10" + (cursor.map { "&cursor=" + Form.escaped($0) } ?? "")
            return try server.request("GET", Self.path + query)
        case .start(let id): return try server.request("POST", Self.path(id, "start"), [:])
        case .confirm(let id, let number):
            var members: [String: JSONValue] = [:]
            members.set("number", number.map(Int64.init))
            return try server.request("POST", Self.path(id, "confirm"), members)
        case .prove(let id, let proof, let number):
            var members = proof.members
            members.set("number", number.map(Int64.init))
            return try server.request("POST", Self.path(id, "second-factor"), members)
        case .stop(let id, let isReport):
            return try server.request("POST", Self.path(id, "stop"), isReport ? ["not_me": .bool(true)] : [:])
        case .adopt(let id, let proof): return try server.request("POST", Self.path(id, "adopt"), proof.members)
        case .ping: return try server.request("POST", Self.path("ping"), [:])
        case .claimInvitation, .enrol: return try enrolmentMessage(to: server)
        }
    }

    /// The request of a phone that enrols, without its secret.
    package func enrolmentMessage(to server: ServerAddress) throws(SojournError) -> HTTPMessage {
        let base = Self.enrolmentPath + "/"
        switch self {
        case .claimInvitation(let code, let source, let deviceID, let startsByHand):
            var members: [String: JSONValue] = [
                "code": .string(code), "source": .string(source), "device_id": .string(deviceID),
            ]
            if startsByHand { members["manual_start"] = .bool(true) }
            return try server.request("POST", Self.enrolmentPath, members)
        case .look(let id): return try server.request("GET", base + Form.escaped(id))
        case .wait(let id, let version, let seconds):
            let query = "?wait=\(seconds)" + (version.map { "&version=" + Form.escaped($0) } ?? "")
            return try server.request("GET", base + Form.escaped(id) + query)
        case .start(let id): return try server.request("POST", base + Form.escaped(id) + "/start", [:])
        case .confirm(let id, _): return try server.request("POST", base + Form.escaped(id) + "/confirm", [:])
        case .stop(let id, _): return try server.request("POST", base + Form.escaped(id) + "/stop", [:])
        case .enrol(let id, let members):
            return try server.request("POST", base + Form.escaped(id) + "/second-factor", members)
        default: throw .misconfigured("not a call of an enrolment")
        }
    }

    private static func path(_ id: String, _ act: String? = nil) -> String {
        path + "/" + Form.escaped(id) + (act.map { "/" + $0 } ?? "")
    }
}

/// What the app wants of a login that it claims.
package struct LoginSessionWishes: Hashable, Sendable {
    package var startsByHand = false
    package var skipsConfirmation = false
    package var demandsSecondFactor = false
    package init() {}
}

/// A second factor of one attempt, as it is sent.
package enum LoginProof: Hashable, Sendable {
    /// An assertion of the presence key over the login and the number.
    case assertion(String)
    case password(String)
    /// The MAC of the PIN.
    case pin(String)

    var members: [String: JSONValue] {
        switch self {
        case .assertion(let text): ["user_assertion": .string(text)]
        case .password(let password): ["password": .string(password)]
        case .pin(let mac): ["pin": .string(mac)]
        }
    }
}

extension LoginSessionCall {
    /// Whether a retry is told by an `Idempotency-Key`.
    var isAct: Bool {
        switch self {
        case .look, .wait, .list, .history, .ping: false
        default: true
        }
    }

    /// What tells an act from another one with the same words.
    var salt: UInt64 {
        if case .appLogin(_, let number) = self { number } else { 0 }
    }
}

extension IdempotencyKey {
    /// The key of an act on a login: over everything that it says, and the number of attempts at a second factor before it.
    package static func ofAct(_ message: HTTPMessage, attempt: UInt64, secret: [UInt8]) -> String {
        let text = "act:\(message.url.path)\n\(attempt)\n"
        return ofLogin(Array(text.utf8) + message.body, secret: secret)
    }
}

extension LoginDetails {
    /// The login in an answer; nil if it has no ID, or a status that this version does not know.
    package init?(_ value: JSONValue) {
        guard let members = value.members, let id = members.text("login_id"), id.utf8.count <= 128,
            let status = LoginStatus(members)
        else { return nil }
        (self.id, self.status, kind) = (id, status, members.short("kind") ?? "")
        let client = members["client"]?.members ?? [:]
        (clientID, clientName) = (client.short("client_id"), client.short("name"))
        bindingMessage = members.short("binding_message")
        announceInfo = members.info("announce_info")
        let isLoggedIn = [.loggedIn, .loggedInOneShot, .loggedOut].contains(status.history)
        sessionInfo = isLoggedIn ? members.info("session_info") : nil
        announceQuote = members.quote("announce_quote")
        sessionQuote = isLoggedIn ? members.quote("session_quote") : nil
        isRegistration = members["is_registration"]?.bool ?? false
        username = members.short("username")
        setsSecondFactor = members.text("second_factor") == "set"
        isAppLogin = members["is_app_login"]?.bool ?? false
        needsNumber = members["number_required"]?.bool ?? false
        attemptsLeft = members.integer("attempts_left").map { Int(clamping: $0) }
        requester = Requester(
            userAgent: members.short("user_agent"), remoteAddress: members.short("remote_address"),
            place: members.short("place"), isKnown: members["browser_known"]?.bool ?? false)
        ownPlace = members.short("own_place")
        isInAnotherCountry = members["other_country"]?.bool ?? false
        returnURL = members.text("return_url").flatMap { $0.utf8.count <= 4096 ? URL(string: $0) : nil }
        accountID = members.short("user_id")
        pingSeconds = members.integer("ping_seconds")
        startedAt = members.integer("started_at")
        inputUntil = members.integer("expires_at")
        endedAt = members.integer("ended_at")
    }
}

extension BackendAccess {
    /// What opens the backend, in an answer; nil if there is none.
    init?(_ members: [String: JSONValue], issuedAt now: Int64) {
        guard let nonce = members.text("web_nonce"), nonce.utf8.count <= 1024 else { return nil }
        let lifetime = members.integer("expires_in").map { min(max($0, 0), 3600) }
        self.init(webNonce: nonce, url: members.text("url"), expiresAt: lifetime.map { now + $0 })
    }
}

extension [String: JSONValue] {
    /// A text that is shown to people, cut to what fits on a screen.
    fileprivate func short(_ name: String) -> String? { text(name).map { String($0.prefix(500)) } }

    /// The words of a stranger: one line of plain text, without what turns the direction of writing; nil if they are more.
    fileprivate func quote(_ name: String) -> String? {
        guard let text = text(name), (1...200).contains(text.unicodeScalars.count) else { return nil }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
            // The zero-width joiner and non-joiner.
            case .format: scalar.value == 0x200C || scalar.value == 0x200D
            default: true
            }
        }
        return isPlain ? text : nil
    }

    /// Information of the client: a text as it is, and everything else as JSON. Too much of it is left out.
    fileprivate func info(_ name: String) -> String? {
        guard let value = self[name], value != .null else { return nil }
        let text = value.text ?? String(decoding: value.bytes, as: UTF8.self)
        return text.utf8.count <= 4096 ? text : nil
    }
}
