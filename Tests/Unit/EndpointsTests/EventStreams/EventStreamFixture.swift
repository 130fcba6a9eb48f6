import Cryptography
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// A receiver of security events: a confidential client with the scope of streams.
struct EventStreamFixture {
    static let revoked = SecurityEvent.Kind.sessionRevoked.rawValue
    static let all = SecurityEvent.Kind.allCases.map(\.rawValue)

    let server: EndpointsFixture
    /// An access token of the receiver with the scope `ssf.manage`.
    let token: String
    private let secret: String

    static func with(_ body: (EventStreamFixture) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in try await body(try await EventStreamFixture(server)) }
    }

    private init(_ server: EndpointsFixture) async throws {
        self.server = server
        secret = try #require(
            await server.makeClient(
                #"""
                {"client_id":"siem","grant_types":["client_credentials"],"scope":"ssf.manage ssf.read read",
                 "token_endpoint_auth_method":"client_secret_basic"}
                """#))
        token = try await Self.token(server, "siem", secret, "ssf.manage")
    }

    private static func token(
        _ server: EndpointsFixture, _ id: String, _ secret: String, _ scope: String
    ) async throws -> String {
        try #require(
            await server.form("/oauth/token", "grant_type=client_credentials&scope=\(scope)", basic: "\(id):\(secret)")
                .string("access_token"))
    }

    /// An access token of the receiver with this scope.
    func token(_ scope: String) async throws -> String { try await Self.token(server, "siem", secret, scope) }

    func call(_ method: Method, _ target: String, _ json: String? = nil, bearer: String? = nil) async -> Answer {
        await server.call(method, target, json, bearer: bearer ?? token)
    }

    /// Makes a stream of these events that the receiver polls. Returns its id.
    func make(_ events: [String] = all) async throws -> String {
        let list = events.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = await call(
            .post, "/ssf/stream",
            #"{"delivery":{"method":"urn:ietf:rfc:8936"},"events_requested":[\#(list)],"description":"the SIEM"}"#)
        #expect(answer.status == 201, "\(answer.text)")
        return try #require(answer.string("stream_id"))
    }

    /// The events that a poll answers at once, in their order; `members` are those of the poll.
    func poll(_ members: String = "") async throws -> [ReceivedEvent] {
        let body = #"{"returnImmediately":true\#(members.isEmpty ? "" : ",")\#(members)}"#
        let answer = await call(.post, "/ssf/poll", body)
        #expect(answer.status == 200, "\(answer.text)")
        guard case .object(let sets)? = answer.value(["sets"]) else { return [] }
        return try sets.map { id, token in try ReceivedEvent(id, #require(token.string)) }.sorted {
            $0.place < $1.place
        }
    }

    /// The member of a poll that acknowledges these events.
    func acknowledge(_ events: [ReceivedEvent]) -> String {
        #""ack":[\#(events.map { "\"\($0.id)\"" }.joined(separator: ","))]"#
    }
}

/// A token that a receiver got, read but not verified.
struct ReceivedEvent {
    let id: String
    let text: String
    let header: Answer
    let claims: Answer

    init(_ id: String, _ text: String) throws {
        (self.id, self.text) = (id, text)
        let parts = text.split(separator: ".")
        func part(_ place: Int) throws -> Answer {
            Answer(Response(.ok, "application/json", try #require(Base64URL.decode(String(parts[place])))))
        }
        (header, claims) = (try part(0), try part(1))
        #expect(claims.string("jti") == id)
    }

    /// The number of the event in the audit trail; 0 for a verification event.
    var place: Int64 { id.split(separator: ".").dropFirst().first.flatMap { Int64($0) } ?? 0 }

    /// The URI of its kind.
    var kind: String? {
        guard case .object(let events)? = claims.value(["events"]), events.count == 1 else { return nil }
        return events.keys.first
    }

    func member(_ name: String) -> JSONValue? { claims.value(["events", kind ?? "", name]) }
}
