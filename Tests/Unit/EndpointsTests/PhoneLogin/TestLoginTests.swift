import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The calls for tests of apps, which only a server with a test clock has.
struct TestLoginTests {
    /// A state, with the members of the request and what the login is then.
    struct Target: Sendable, CustomTestStringConvertible {
        let state: String
        var input: String?
        let history: String
        var cause: String?
        var isDefault = false

        var testDescription: String { [state, input, history, cause].compactMap(\.self).joined(separator: " ") }

        func json(_ phone: Tokens) -> String {
            var members = ["state": state, "phone_session_id": phone.sessionID, "client_id": "tv"]
            members["input"] = input
            if !isDefault { (members["history"], members["cause"]) = (history, cause) }
            return "{" + members.map { #""\#($0.key)":"\#($0.value)""# }.joined(separator: ",") + "}"
        }
    }

    static let targets =
        [
            Target(state: "STARTING", history: "FAIL"),
            Target(state: "READY_FOR_USER_INTERACTION", history: "FAIL"),
            Target(state: "WAITING_FOR_USER_INPUT", input: "WAIT_FOR_CONFIRMATION", history: "FAIL", isDefault: true),
            Target(state: "WAITING_FOR_USER_INPUT", input: "WAIT_FOR_SECOND_FACTOR", history: "FAIL"),
            Target(state: "ACTIVE", history: "FAIL", isDefault: true), Target(state: "ACTIVE", history: "LOGGED_IN"),
            Target(state: "DONE", history: "LOGGED_IN_ONE_SHOT"), Target(state: "DONE", history: "DELETED"),
            Target(state: "DONE", history: "ABORTED", cause: "denied", isDefault: true),
            Target(state: "ERROR", history: "ERROR", cause: "wrong_number", isDefault: true),
        ]
        + ["denied", "canceled", "timed_out", "not_collected", "parent_ended"].map {
            Target(state: "DONE", history: "ABORTED", cause: $0)
        }
        + ["logged_out", "revoked_by_user", "revoked_by_admin", "parent_ended", "presence_lost"].map {
            Target(state: "DONE", history: "LOGGED_OUT", cause: $0)
        }
        + ["wrong_number", "contested", "second_factor_failed", "fault"].map {
            Target(state: "ERROR", history: "ERROR", cause: $0)
        }

    private static func with(_ body: (EndpointsFixture, Tokens) async throws -> Void) async throws {
        try await EndpointsFixture.with(testClock: TestClock()) { server in
            try await DeviceLogin.makeClient(server)
            try await body(server, try await server.logIn())
        }
    }

    @Test("a login is driven into every state, and the app sees it so", arguments: targets)
    func everyState(target: Target) async throws {
        try await Self.with { server, phone in
            let made = await server.admin(.post, "/admin/v1/test/logins", target.json(phone))
            #expect(made.status == 201, "\(made.text)")
            let id = try #require(made.string("login", "login_id"))
            #expect(made.field("Location") == "/admin/v1/logins/\(id)")
            let isOver = target.state == "DONE" || target.state == "ERROR"
            #expect((made.string("qr") == nil) == isOver)
            let isPhoneGone = target.history == "DELETED" || target.cause == "parent_ended"
            let isVisible = !isPhoneGone && target.state != "STARTING"
            let seen =
                isVisible
                ? await server.call(.get, "/v1/me/logins/\(id)", bearer: phone.access)
                : await server.admin(.get, "/admin/v1/logins/\(id)")
            #expect(seen.string("state") == target.state && seen.string("input") == target.input, "\(seen.text)")
            #expect(seen.string("history") == target.history)
            #expect(target.history == "DELETED" || seen.string("cause") == target.cause)
        }
    }

    @Test("an app goes on from where the login was driven to, with the number of the answer")
    func goesOn() async throws {
        try await Self.with { server, phone in
            let made = await server.admin(
                .post, "/admin/v1/test/logins",
                #"{"state":"WAITING_FOR_USER_INPUT","input":"WAIT_FOR_CONFIRMATION","phone_session_id":"\#(phone.sessionID)"}"#
            )
            let (id, number) = (try #require(made.string("login", "login_id")), try #require(made.integer("number")))
            let confirmed = await server.call(
                .post, "/v1/me/logins/\(id)/confirm", #"{"number":\#(number)}"#, bearer: phone.access)
            #expect(confirmed.string("input") == "WAIT_FOR_SECOND_FACTOR", "\(confirmed.text)")
            // What no phone has claimed is claimed by its picture.
            let open = await server.admin(.post, "/admin/v1/test/logins", #"{"state":"STARTING","client_id":"tv"}"#)
            let code = try #require(open.string("qr"))
            let claimed = await server.call(
                .post, "/v1/me/logins", #"{"code":"\#(code)","source":"qr"}"#, bearer: phone.access)
            #expect(claimed.string("input") == "WAIT_FOR_CONFIRMATION", "\(claimed.text)")
        }
    }

    @Test("the test clock moves forward, and logins time out by it")
    func clock() async throws {
        try await Self.with { server, phone in
            let made = await server.admin(
                .post, "/admin/v1/test/logins",
                #"{"state":"ACTIVE","history":"LOGGED_IN","client_id":"tv","phone_session_id":"\#(phone.sessionID)"}"#)
            let id = try #require(made.string("login", "login_id"))
            for (step, ahead) in [(1_000_000, 1_000_000), (0, 1_000_000), (209_600, 1_209_600)] as [(Int, Int64)] {
                let moved = await server.admin(.post, "/admin/v1/test/clock", #"{"advance_seconds":\#(step)}"#)
                #expect(moved.integer("ahead_seconds") == ahead)
                #expect(moved.integer("now") == EndpointsFixture.start + ahead)
            }
            // Two weeks: the phone is idle, and takes the device with it.
            let row = await server.admin(.get, "/admin/v1/logins/\(id)")
            #expect(row.string("history") == "LOGGED_OUT" && row.string("cause") == "parent_ended", "\(row.text)")
            #expect(await server.refresh(phone.refresh).string("reason") == "idle_expired")
            for bad in ["{}", #"{"advance_seconds":-1}"#, #"{"advance_seconds":31536001}"#] {
                #expect(await server.admin(.post, "/admin/v1/test/clock", bad).status == 400, "\(bad)")
            }
        }
    }

    @Test("a state that no login ever has is refused, and so is an unknown phone")
    func refused() async throws {
        try await Self.with { server, phone in
            let session = #""phone_session_id":"\#(phone.sessionID)""#
            for bad in [
                #"{\#(session)}"#, #"{"state":"OPEN",\#(session)}"#, #"{"state":"WAITING_FOR_USER_INPUT",\#(session)}"#,
                #"{"state":"ACTIVE","input":"WAIT_FOR_CONFIRMATION",\#(session)}"#,
                #"{"state":"DONE","history":"FAIL",\#(session)}"#, #"{"state":"ERROR","cause":"denied",\#(session)}"#,
                #"{"state":"ACTIVE","cause":"denied",\#(session)}"#, #"{"state":"STARTING"}"#, #"{"state":"ACTIVE"}"#,
                #"{"state":"ACTIVE","phone_session_id":"00000000000000000000000000000000"}"#,
            ] {
                let answer = await server.admin(.post, "/admin/v1/test/logins", bad)
                #expect(answer.status == 400, "\(bad): \(answer.text)")
            }
        }
    }

    @Test("a server without a test clock has neither call")
    func absent() async throws {
        try await DeviceLogin.with { server, _ in
            for (path, json) in [("clock", #"{"advance_seconds":1}"#), ("logins", #"{"state":"STARTING"}"#)] {
                #expect(await server.admin(.post, "/admin/v1/test/\(path)", json).status == 404)
            }
            #expect(server.context.clock.now.secondsSinceEpoch == EndpointsFixture.start)
        }
    }
}
