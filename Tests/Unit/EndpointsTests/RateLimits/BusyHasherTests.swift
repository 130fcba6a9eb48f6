import HTTP
import Locks
import Sessions
import StoreConformance
import Testing

@testable import Endpoints

/// Passwords that come faster than they can be hashed.
@Suite(.timeLimit(.minutes(1))) struct BusyHasherTests {
    enum SessionCall: CaseIterable {
        case refresh, presence, password, mode, reset

        fileprivate func make(_ phone: GuardedPhone, _ resetToken: String) async -> Answer {
            let json = #""password":"\#(EndpointsFixture.password)""#
            return switch self {
            case .refresh: await phone.refresh("&password=correct+horse")
            case .presence: await phone.show("{\(json)}")
            case .password:
                await phone.stage.call(
                    .put, "/v1/me/password",
                    #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another horse"}"#,
                    bearer: phone.tokens.access)
            case .mode: await phone.setMode("NO", "," + json)
            case .reset:
                await phone.stage.call(
                    .post, "/v1/password-reset",
                    #"{"reset_token":"\#(resetToken)","new_password":"another horse"}"#)
            }
        }
    }

    private func logIn(_ stage: EndpointsFixture, _ number: Int) async -> Answer {
        await stage.call(
            .post, "/v1/login",
            #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"tablet-\#(number)"}}"#)
    }

    /// Who logs in on and on, rightly or not, stops nobody who is signed in.
    @Test(arguments: SessionCall.allCases)
    func aFloodOfLoginsKeepsNoSessionFromItsPassword(_ call: SessionCall) async throws {
        try await EndpointsFixture.with { stage in
            let hash = try HeldHash(width: 1, pendingMax: 3)
            let node = try await stage.anotherNode(passwords: hash.passwords)
            let phone = try await GuardedPhone(node, .password)
            if call == .refresh { stage.moveClock(to: 4000) }
            let mailed = await stage.admin(.post, "/admin/v1/users/username:anna/password-reset")
            let resetToken = try #require(mailed.string("reset_token"))
            let isAnswered = Locked(false)
            var answer: Task<Answer, Never>?
            var flood: [Task<Answer, Never>] = []
            let first = try await hash.during {
                await logIn(node, 1)
            } _: {
                flood = (2...3).map { number in Task { await logIn(node, number) } }
                await hash.pending(3, .anonymous)
                #expect(await logIn(node, 4).status == 503)
                answer = Task {
                    defer { isAnswered.withLock { $0 = true } }
                    return await call.make(phone, resetToken)
                }
                // As soon as the one that is held has gone, however many logins wait.
                await hash.pending(1, .users) { isAnswered.withLock { $0 } }
            }
            let status = await answer?.value.status ?? 0
            #expect(status == 200 || status == 204, "\(status)")
            // What is set meanwhile stops the logins with the old one.
            let hasNewPassword = call == .password || call == .reset
            #expect(first.status == 200 || hasNewPassword)
            for login in flood { _ = await login.value }
            #expect(await logIn(node, 5).status == (hasNewPassword ? 401 : 200))
        }
    }

    /// Nor does a user who sends the right password again and again keep the others from theirs.
    @Test func oneUserFillsNoRoomOfTheOthers() async throws {
        try await EndpointsFixture.with { stage in
            let hash = try HeldHash(width: 1, pendingMax: 8)
            let node = try await stage.anotherNode(passwords: hash.passwords)
            let phone = try await GuardedPhone(node, .password)
            let made = await stage.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"\#(EndpointsFixture.password)"}"#)
            #expect(made.status == 201)
            let login = await node.call(
                .post, "/v1/login",
                #"{"username":"bert","password":"\#(EndpointsFixture.password)","device":{"id":"phone-2"}}"#)
            let bert = try Tokens(login)
            let password = #"{"password":"\#(EndpointsFixture.password)"}"#
            var flood: [Task<Answer, Never>] = []
            var other: Task<Answer, Never>?
            let first = try await hash.during {
                await phone.show(password)
            } _: {
                flood = (2...4).map { _ in Task { await phone.show(password) } }
                await hash.pending(4, .users)
                #expect(await phone.show(password).status == 503)
                other = Task { await node.call(.post, "/v1/me/presence", password, bearer: bert.access) }
                await hash.pending(5, .users)
            }
            #expect(first.status == 200)
            for show in flood { #expect(await show.value.status == 200) }
            #expect(await other?.value.status == 200)
        }
    }
}
