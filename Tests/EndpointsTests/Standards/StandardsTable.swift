import FoundationEssentials
import HTTP
import Testing

@testable import Endpoints

/// A row of a table: what a clause demands of the answer to a request. In texts, `{name}` stands for what the scene has
/// under that name.
struct Demand: Sendable, CustomTestStringConvertible {
    let clause: String
    let says: String
    let request: Sent
    let status: Int
    /// The `error` of an OAuth answer, the `code` of a problem.
    var error: String?
    /// Fields of the answer: all of each name, in their order, as they have to stand; nil: not there.
    var fields: [(name: StaticString, value: String?)] = []
    /// Members that have to be there, with that value if one is given.
    var members: [String: String?] = [:]
    /// Members that must not be there.
    var without: Set<String> = []

    init(
        _ clause: String, _ says: String, _ request: Sent, _ status: Int, _ error: String? = nil,
        fields: [(name: StaticString, value: String?)] = [], members: [String: String?] = [:], without: Set<String> = []
    ) {
        self.clause = clause
        self.says = says
        self.request = request
        self.status = status
        self.error = error
        self.fields = fields
        self.members = members
        self.without = without
    }

    var testDescription: String { "\(clause): \(says)" }

    /// Plays the row on a stage of its own.
    func check() async throws {
        try await Stage.with { stage in
            let scene = try await Scene(stage)
            let answer = await scene.send(request)
            #expect(answer.status == status, "\(testDescription): \(answer.text)")
            if let error {
                #expect(answer.string("error") ?? answer.string("code") == error, "\(testDescription)")
                let isOAuth = answer.names.contains("error")
                #expect(answer.field("Content-Type") == (isOAuth ? "application/json" : "application/problem+json"))
            } else {
                #expect(!answer.names.contains("error"), "\(testDescription): \(answer.text)")
            }
            for (name, _) in fields {
                let demanded = fields.filter { $0.name.description == name.description }.compactMap(\.value)
                #expect(answer.response.fields.values(name) == demanded, "\(testDescription): \(name)")
            }
            for (name, value) in members {
                #expect(answer.names.contains(name), "\(testDescription): \(name) in \(answer.text)")
                if let value { #expect(answer.string(name) == scene.filled(value), "\(testDescription): \(name)") }
            }
            #expect(answer.names.isDisjoint(with: without), "\(testDescription): \(answer.text)")
        }
    }
}

/// A request of a row.
struct Sent: Sendable {
    var method = Method.post
    let target: String
    var content = ""
    var contentType: String? = "application/x-www-form-urlencoded"
    /// `id:secret`.
    var basic: String?
    var authorization: String?
    var fields: [(name: StaticString, value: String)] = []

    static func token(_ form: String, basic: String? = nil, authorization: String? = nil) -> Sent {
        Sent(target: "/oauth/token", content: form, basic: basic, authorization: authorization)
    }

    static func refresh(_ more: String) -> Sent { token("grant_type=refresh_token&refresh_token={refresh}" + more) }

    static func post(_ target: String, _ form: String, basic: String? = nil) -> Sent {
        Sent(target: target, content: form, basic: basic)
    }

    static func get(_ target: String, authorization: String? = nil) -> Sent {
        Sent(method: .get, target: target, contentType: nil, authorization: authorization)
    }
}

/// A server with clients of every kind and a session for two of them.
///
/// - `mobile`: public; anna is logged in: `{access}`, `{refresh}`.
/// - `backend`: `client_secret_basic`, all grants: `{secret}`; a session: `{backend.access}`, `{backend.refresh}`; a token
///   for itself: `{own}`.
/// - `web`: `client_secret_post`: `{post}`; client credentials alone.
struct Scene: Sendable {
    let stage: Stage
    private(set) var texts: [String: String]

    init(_ stage: Stage) async throws {
        self.stage = stage
        let tokens = try await stage.logIn()
        let secret = try await stage.makeClient(
            #"""
            {"client_id":"backend","token_endpoint_auth_method":"client_secret_basic","scope":"read write",
             "grant_types":["client_credentials","refresh_token","password"]}
            """#)
        let post = try await stage.makeClient(
            #"""
            {"client_id":"web","token_endpoint_auth_method":"client_secret_post","grant_types":["client_credentials"]}
            """#)
        texts = [
            "access": tokens.access, "refresh": tokens.refresh, "user": tokens.userID, "session": tokens.sessionID,
            "secret": try #require(secret), "post": try #require(post), "issuer": Stage.issuer,
            "audience": Stage.audience, "password": "correct+horse",
        ]
        texts["basic"] = Data(filled("backend:{secret}").utf8).base64EncodedString()
        let session = await send(
            .token("grant_type=password&username=anna&password={password}&device_id=b", basic: "backend:{secret}"))
        texts["backend.access"] = session.string("access_token")
        texts["backend.refresh"] = session.string("refresh_token")
        let own = await send(.token("grant_type=client_credentials", basic: "backend:{secret}"))
        texts["own"] = own.string("access_token")
        for name in ["backend.access", "backend.refresh", "own"] { try #require(texts[name] != nil) }
    }

    /// What stands for the names in `text`.
    subscript(_ name: String) -> String { texts[name] ?? "" }

    func filled(_ text: String) -> String {
        guard text.contains("{") else { return text }
        return texts.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    func send(_ sent: Sent) async -> Answer {
        var fields = Fields()
        if let type = sent.contentType { fields.append("Content-Type", type) }
        if let basic = sent.basic {
            fields.append("Authorization", "Basic " + Data(filled(basic).utf8).base64EncodedString())
        }
        if let authorization = sent.authorization { fields.append("Authorization", filled(authorization)) }
        for (name, value) in sent.fields { fields.append(name, filled(value)) }
        return await stage.send(
            Request(sent.method, filled(sent.target), fields: fields, body: Array(filled(sent.content).utf8)))
    }
}
