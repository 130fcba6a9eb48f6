/// The requests of one connection, and the check of their responses.
protocol Conversation {
    /// The next complete request.
    var request: [UInt8] { get }

    /// Takes the response to the request. Returns false if it is wrong, which ends the conversation.
    mutating func accepts(_ answer: Answer, in bytes: [UInt8]) -> Bool
}

/// Requests `GET /healthz`.
struct HealthCheck: Conversation {
    let request = Array("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)

    func accepts(_ answer: Answer, in bytes: [UInt8]) -> Bool { answer.status == 200 }
}

/// Requests the preflight of a renewal by a page of a registered origin.
struct Preflight: Conversation {
    static let origin = "https://bench.example"

    let request = Array(
        """
        OPTIONS /v1/refresh HTTP/1.1\r
        Host: 127.0.0.1\r
        Origin: \(Self.origin)\r
        Access-Control-Request-Method: POST\r
        Access-Control-Request-Headers: dpop,idempotency-key\r
        \r

        """.utf8)

    private static let granted = Array("Access-Control-Max-Age".utf8)

    func accepts(_ answer: Answer, in bytes: [UInt8]) -> Bool {
        answer.status == 204 && bytes.span.firstIndex(of: Self.granted, in: 0..<answer.body.lowerBound) != nil
    }
}

/// Chains of refresh-token grants (RFC 6749 §6), used in turn. Each chain sends the refresh token of its last response.
struct RefreshChains: Conversation {
    private var tokens: [[UInt8]]
    private var turn = 0
    private(set) var request: [UInt8]
    /// The length of the token, which stands at the end of the request.
    private var presentedCount: Int

    /// Creates chains that begin with these tokens; there is at least one.
    init(_ tokens: [[UInt8]]) {
        self.tokens = tokens
        request = Self.request(for: tokens[0])
        presentedCount = tokens[0].count
    }

    mutating func accepts(_ answer: Answer, in bytes: [UInt8]) -> Bool {
        guard answer.status == 200, bytes.span.text(of: Self.accessToken, in: answer.body) != nil,
            let place = bytes.span.text(of: Self.refreshToken, in: answer.body),
            !bytes[place].elementsEqual(tokens[turn])
        else { return false }
        tokens[turn] = Array(bytes[place])
        turn = (turn + 1) % tokens.count
        let next = tokens[turn]
        if next.count == presentedCount {
            request.replaceSubrange(request.count - next.count..<request.count, with: next)
        } else {
            request = Self.request(for: next)
            presentedCount = next.count
        }
        return true
    }

    /// Builds the request. Refresh tokens consist of characters that need no escaping in a form.
    private static func request(for token: [UInt8]) -> [UInt8] {
        let start = "grant_type=refresh_token&client_id=mobile&refresh_token="
        let head = """
            POST /oauth/token HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/x-www-form-urlencoded\r
            Content-Length: \(start.utf8.count + token.count)\r
            \r

            """
        return Array((head + start).utf8) + token
    }

    private static let accessToken = Array("\"access_token\"".utf8)
    private static let refreshToken = Array("\"refresh_token\"".utf8)
}

/// Calls of the admin interface that begin sessions or change users, each of a user in turn.
struct AdminConversation: Conversation {
    private let users: [String]
    private let compose: @Sendable (String, Int) -> [UInt8]
    private var turn: Int
    private(set) var request: [UInt8]

    private init(_ users: [String], from turn: Int, _ compose: @escaping @Sendable (String, Int) -> [UInt8]) {
        (self.users, self.turn, self.compose) = (users, turn, compose)
        request = compose(users[turn % users.count], turn)
    }

    /// Begins a session on a new device with each request. No two conversations have the same `number`.
    static func logins(of users: [String], number: Int, _ calls: AdminCalls) -> AdminConversation {
        AdminConversation(users, from: number * 10_000_000) { user, turn in
            calls.request(
                "POST", "/admin/v1/users/username:\(user)/sessions", #"{"device": {"id": "device-\#(turn)"}}"#)
        }
    }

    /// Gives a user another telephone number with each request.
    static func changes(of users: [String], number: Int, _ calls: AdminCalls) -> AdminConversation {
        AdminConversation(users, from: number * 7) { user, turn in
            calls.request(
                "PATCH", "/admin/v1/users/username:\(user)",
                #"{"phone_number": "+49301\#(1_000_000 + turn % 1_000_000)"}"#)
        }
    }

    mutating func accepts(_ answer: Answer, in bytes: [UInt8]) -> Bool {
        turn += 1
        request = compose(users[turn % users.count], turn)
        return (200..<300).contains(answer.status)
    }
}
