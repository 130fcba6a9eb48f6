import Dispatch
import FoundationEssentials
import HTTP
import SQLiteStore
import Sessions
import StoreConformance
import Testing

@testable import Endpoints

/// The server answers 503 to what has taken too long, and cancels it: the next try must not find it done.
@Suite(.timeLimit(.minutes(1))) struct GivenUpTests {
    /// What hashes a password before it writes.
    enum Call: CaseIterable {
        case password, reset, setPassword, createUser, email, logins, mode, presence, refresh, resumption

        fileprivate func make(_ phone: GuardedPhone, _ resetToken: String) async -> Answer {
            let server = phone.server
            let password = #""password":"\#(EndpointsFixture.password)""#
            return switch self {
            case .password:
                await server.call(
                    .put, "/v1/me/password",
                    #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another horse"}"#,
                    bearer: phone.tokens.access)
            case .reset:
                await server.call(
                    .post, "/v1/password-reset", #"{"reset_token":"\#(resetToken)","new_password":"another horse"}"#)
            case .setPassword:
                await server.admin(
                    .put, "/admin/v1/users/username:anna/password", #"{"new_password":"another horse"}"#)
            case .createUser: await server.admin(.post, "/admin/v1/users", #"{"username":"bert",\#(password)}"#)
            case .email:
                await server.call(
                    .patch, "/v1/me", #"{"email":"eve@example.org",\#(password)}"#, bearer: phone.tokens.access)
            case .logins:
                await server.call(
                    .put, "/v1/me/login-settings", #"{"logins_disabled":true}"#,
                    fields: [
                        "Authorization": "Basic " + Data("anna:\(EndpointsFixture.password)".utf8).base64EncodedString()
                    ])
            case .mode: await phone.setMode("NO", "," + password)
            case .presence: await phone.show("{\(password)}")
            case .refresh: await phone.refresh("&password=correct+horse")
            case .resumption: await phone.resume("&password=correct+horse")
            }
        }
    }

    /// What must be as it was.
    private struct Account: Equatable {
        let anna, bert: User?
        let sessions: [SessionRecord?]

        init(_ store: SQLiteStore, _ tokens: Tokens...) async throws {
            anna = try await store.user(.username("anna"))
            bert = try await store.user(.username("bert"))
            var sessions: [SessionRecord?] = []
            for tokens in tokens {
                let id = try #require(Identifier<Session>(tokens.sessionID))
                sessions.append(try await store.session(id))
            }
            self.sessions = sessions
        }
    }

    @Test(arguments: Call.allCases)
    func whatWasGivenUpWhileAPasswordWasHashedIsNotDone(_ call: Call) async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let phone = try await GuardedPhone(node, .password)
            let other = try await server.logIn(device: "phone-2")
            let mailed = await server.admin(.post, "/admin/v1/users/username:anna/password-reset")
            let resetToken = try #require(mailed.string("reset_token"))
            server.moveClock(to: [.refresh, .resumption].contains(call) ? 4000 : 400)
            let before = try await Account(server.store, phone.tokens, other)
            let answer = await hash.givingUp { await call.make(phone, resetToken) }
            #expect(answer.status == 503, "\(answer.text)")
            #expect(try await Account(server.store, phone.tokens, other) == before)
            let again = await call.make(phone, resetToken)
            #expect(again.status < 300, "\(again.text)")
            #expect(try await Account(server.store, phone.tokens, other) != before)
        }
    }

    enum QuickCall: CaseIterable { case name, presence }

    /// Nor what waited for the database.
    @Test(arguments: QuickCall.allCases)
    func whatWasGivenUpBeforeItsTransactionIsNotDone(_ call: QuickCall) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .password)
            server.moveClock(to: 400)
            let before = try await Account(server.store, phone.tokens)
            let gate = DispatchSemaphore(value: 0)
            let (reached, continuation) = AsyncStream<Void>.makeStream()
            let holding = Task {
                try await server.store.updateSettings { _ in
                    continuation.finish()
                    gate.wait()
                }
            }
            for await _ in reached {}
            let asked = Task {
                switch call {
                case .name: await server.call(.patch, "/v1/me", #"{"display_name":"Eve"}"#, bearer: phone.tokens.access)
                case .presence: await phone.show(#"{"password":"\#(EndpointsFixture.password)"}"#)
                }
            }
            while server.store.waitingChanges < 1 { await Task.yield() }
            asked.cancel()
            gate.signal()
            try await holding.value
            #expect(await asked.value.status == 503)
            #expect(try await Account(server.store, phone.tokens) == before)
        }
    }
}
