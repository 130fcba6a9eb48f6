import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// Lifetimes that become shorter end sessions, and the feed has refused their tokens; no other change of them is in it.
@Suite(.timeLimit(.minutes(5))) struct RevocationLifetimeTests {
    /// A change of settings, client or user.
    private struct Call: Sendable {
        let method: Method
        let target: String
        let body: String

        func make(at server: EndpointsFixture) async { #expect(await server.admin(method, target, body).status == 200) }
    }

    private static func settings(_ body: String) -> Call {
        Call(method: .put, target: "/admin/v1/settings/sessions", body: body)
    }
    private static func client(_ body: String) -> Call {
        Call(method: .patch, target: "/admin/v1/clients/mobile", body: body)
    }
    private static func user(_ body: String) -> Call {
        Call(method: .patch, target: "/admin/v1/users/username:anna", body: body)
    }

    private struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// What was set before.
        var before: [Call] = []
        let change: Call
        /// What the tokens must have that are refused; nil: none are.
        let claims: [String]?
    }

    private static let rows = [
        Row(
            testDescription: "idle time of all", change: settings(#"{"offline_session_idle":1209599}"#), claims: []),
        Row(testDescription: "maximum of all", change: settings(#"{"offline_session_max":15551999}"#), claims: []),
        Row(
            testDescription: "maximum of all, switched on",
            before: [settings(#"{"offline_session_max_limited":false}"#)],
            change: settings(#"{"offline_session_max_limited":true}"#), claims: []),
        Row(
            testDescription: "idle time of a client", change: client(#"{"offline_session_idle":86400}"#),
            claims: ["client_id"]),
        Row(
            testDescription: "maximum of a client", change: client(#"{"offline_session_max":864000}"#),
            claims: ["client_id"]),
        Row(
            testDescription: "a client's idle time gives way to a shorter one of all",
            before: [client(#"{"offline_session_idle":2592000}"#)], change: client(#"{"offline_session_idle":0}"#),
            claims: ["client_id"]),
        Row(testDescription: "maximum of a user", change: user(#"{"offline_session_max":864000}"#), claims: ["sub"]),
        Row(
            testDescription: "maximum of a user where nothing else but the file bounds it",
            before: [settings(#"{"offline_session_max_limited":false}"#)],
            change: user(#"{"offline_session_max":20000000}"#), claims: ["sub"]),
        Row(testDescription: "longer", change: settings(#"{"offline_session_idle":2592000}"#), claims: nil),
        Row(testDescription: "a longer maximum", change: settings(#"{"offline_session_max":20000000}"#), claims: nil),
        Row(testDescription: "no maximum", change: settings(#"{"offline_session_max_limited":false}"#), claims: nil),
        Row(
            testDescription: "a shorter maximum that is switched off",
            before: [settings(#"{"offline_session_max_limited":false}"#)],
            change: settings(#"{"offline_session_max":1728000}"#), claims: nil),
        Row(
            testDescription: "a maximum that is switched on where every client's is shorter",
            before: [client(#"{"offline_session_max":864000}"#), settings(#"{"offline_session_max_limited":false}"#)],
            change: settings(#"{"offline_session_max_limited":true}"#), claims: nil),
        Row(
            testDescription: "a shorter idle time where every client has its own",
            before: [client(#"{"offline_session_idle":86400}"#)],
            change: settings(#"{"offline_session_idle":864000}"#), claims: nil),
        Row(testDescription: "equal", change: client(#"{"offline_session_idle":1209600}"#), claims: nil),
        Row(
            testDescription: "a client's maximum that is longer than that of all",
            change: client(#"{"offline_session_max":20000000}"#), claims: nil),
        Row(
            testDescription: "a client's maximum that is taken away",
            before: [client(#"{"offline_session_max":864000}"#)], change: client(#"{"offline_session_max":0}"#),
            claims: nil),
        Row(
            testDescription: "a user's maximum that is taken away",
            before: [user(#"{"offline_session_max":864000}"#)], change: user(#"{"offline_session_max":0}"#),
            claims: nil),
        Row(
            testDescription: "a user's maximum that is longer than that of all",
            change: user(#"{"offline_session_max":20000000}"#), claims: nil),
        Row(
            testDescription: "a user's maximum that is longer than that of every client",
            before: [client(#"{"offline_session_max":864000}"#)], change: user(#"{"offline_session_max":1728000}"#),
            claims: nil),
        Row(
            testDescription: "the life of tokens, not of sessions",
            change: client(#"{"access_token_lifetime":7200,"refresh_after":60}"#), claims: nil),
        Row(
            testDescription: "how often apps refresh", change: settings(#"{"refresh_after":60,"rotation_interval":0}"#),
            claims: nil),
        Row(testDescription: "what is no lifetime", change: user(#"{"email":"new@example.org"}"#), claims: nil),
    ]

    @Test(arguments: rows)
    private func onlyAnEarlierEndIsInTheFeed(_ row: Row) async throws {
        try await EndpointsFixture.with { server in
            for call in row.before { await call.make(at: server) }
            let login = try await server.logIn()
            let grant = await server.refresh(login.refresh)
            let known = await server.admin(.get, "/admin/v1/revocations").items.count
            await row.change.make(at: server)
            let items = await server.admin(.get, "/admin/v1/revocations").items.dropFirst(known)
            #expect(items.map { $0.string("type") } == (row.claims == nil ? [] : ["lifetimes_shortened"]))
            for item in items {
                // The token was issued in that second.
                #expect(item.integer("at") == EndpointsFixture.start + 1)
                #expect(try #require(item.integer("until")) > #require(grant.integer("expires_at")))
                let claims = ["sid", "sub", "client_id", "reason"].filter { item.string($0) != nil }
                #expect(claims == row.claims)
                #expect(item.string("sub") ?? login.userID == login.userID)
                #expect(item.string("client_id") ?? "mobile" == "mobile")
            }
        }
    }

    @Test func aLivingSessionGetsATokenThatIsTaken_andTheOthersAReason() async throws {
        try await EndpointsFixture.with { server in
            let (phone, tablet) = (try await server.logIn(), try await server.logIn(device: "tablet"))
            server.moveClock(to: 2 * EndpointsFixture.day)
            let later = try Tokens(await server.refresh(tablet.refresh))
            await Self.settings(#"{"offline_session_idle":86400}"#).make(at: server)
            let items = await server.admin(.get, "/admin/v1/revocations").items
            let at = try #require(items.last?.integer("at"))
            server.moveClock(to: 2 * EndpointsFixture.day + 2)
            let answer = await server.refresh(later.refresh)
            #expect(try #require(answer.integer("issued_at")) > at)
            #expect(answer.integer("expires_at") == EndpointsFixture.start + 3 * EndpointsFixture.day)
            #expect(await server.refresh(phone.refresh).string("reason") == "idle_expired")
            // The end itself has nothing to add.
            #expect(await server.admin(.get, "/admin/v1/revocations").items.count == items.count)
        }
    }
}
