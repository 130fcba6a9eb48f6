import FoundationEssentials
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
                await phone.server.call(
                    .put, "/v1/me/password",
                    #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another horse"}"#,
                    bearer: phone.tokens.access)
            case .mode: await phone.setMode("NO", "," + json)
            case .reset:
                await phone.server.call(
                    .post, "/v1/password-reset",
                    #"{"reset_token":"\#(resetToken)","new_password":"another horse"}"#)
            }
        }
    }

    private func logIn(_ server: EndpointsFixture, _ number: Int) async -> Answer {
        await server.call(
            .post, "/v1/login",
            #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"tablet-\#(number)"}}"#)
    }

    /// Endless logins, rightly or not, stop no user that is signed in.
    @Test(arguments: SessionCall.allCases)
    func aFloodOfLoginsKeepsNoSessionFromItsPassword(_ call: SessionCall) async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash(width: 1, pendingMax: 3)
            let node = try await server.anotherNode(passwords: hash.passwords)
            let phone = try await GuardedPhone(node, .password)
            if call == .refresh { server.moveClock(to: 4000) }
            let mailed = await server.admin(.post, "/admin/v1/users/username:anna/password-reset")
            let resetToken = try #require(mailed.string("reset_token"))
            let isAnswered = Locked(false)
            var answer: Task<Answer, Never>?
            var flood: [Task<Answer, Never>] = []
            let first = try await hash.during {
                await logIn(node, 1)
            } _: {
                flood = (2...3).map { number in Task { await logIn(node, number) } }
                await hash.pending(3, .cleanNetworks)
                flood.append(Task { await logIn(node, 4) })
                while hash.passwords.refused(.cleanNetworks) < 1 { await Task.yield() }
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
            var statuses: [Int] = []
            for login in flood { statuses.append(await login.value.status) }
            #expect(statuses.count { $0 == 503 } == 1, "\(statuses)")
            #expect(await logIn(node, 5).status == (hasNewPassword ? 401 : 200))
        }
    }

    /// A user that sends the right password again and again does not keep the others from theirs either.
    @Test func oneUserFillsNoRoomOfTheOthers() async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash(width: 1, pendingMax: 8)
            let node = try await server.anotherNode(passwords: hash.passwords)
            let phone = try await GuardedPhone(node, .password)
            let made = await server.admin(
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

    @Test(
        "A page says that the queue of passwords is full, and loses neither the link nor the session",
        arguments: ["/reset", "/account/password"])
    func busyPages(_ path: String) async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash(width: 1, pendingMax: 1)
            let node = try await server.anotherNode(passwords: hash.passwords)
            let mailed = await server.admin(.post, "/admin/v1/users/username:anna/password-reset")
            let token = try #require(mailed.string("reset_token"))
            let phone = try await GuardedPhone(node, .password)
            let account = AccountPages(node)
            let page =
                path == "/reset"
                ? AccountPage(await account.browser.get(path)) : try await account.open("/account/security")
            let form = [
                "password": EndpointsFixture.password, "new_password": "a longer battery staple", "token": token,
            ]
            _ = try await hash.during {
                await SessionCall.reset.make(phone, token)
            } _: {
                let answer = try await account.send(path, of: page, form)
                #expect(answer.status == 503 && ["1", "2"].contains(answer.field("Retry-After")), "\(answer.text)")
                #expect(answer.text.contains("We are very busy") && AccountPage(answer).csrf(path) != nil)
                #expect(path != "/reset" || answer.text.contains(token))
            }
        }
    }

    /// A way to send a password without another secret.
    enum Way: CaseIterable {
        case login, grant, loginSettings

        fileprivate func send(_ limited: RateLimitFixture, from address: String) async -> Answer {
            switch self {
            case .login: await limited.logIn(device: "tablet-\(address)", from: address)
            case .grant:
                await limited.form(
                    "/oauth/token", "grant_type=password&client_id=old&username=anna&password=correct+horse",
                    from: address)
            case .loginSettings:
                await limited.json(
                    .put, "/v1/me/login-settings", #"{"logins_disabled":false}"#,
                    authorization: "Basic " + Data("anna:\(EndpointsFixture.password)".utf8).base64EncodedString(),
                    from: address)
            }
        }
    }

    @Test("A password that gets no place in the queue counts for its address", arguments: Way.allCases)
    func refusedPlaces(_ way: Way) async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(
                #"{"client_id":"old","token_endpoint_auth_method":"none","grant_types":["password","refresh_token"]}"#)
            let hash = try HeldHash(width: 1, pendingMax: 1)
            let node = try await server.anotherNode(passwords: hash.passwords)
            var limits = RateLimits()
            limits.wrongPasswordsPerAddress = 2
            let limited = RateLimitFixture(node, limits)
            let first = try await hash.during {
                await logIn(node, 1)
            } _: {
                for status in [503, 503, 429] {
                    #expect(await way.send(limited, from: "198.51.100.1").status == status)
                }
                #expect(await way.send(limited, from: "203.0.113.1").status == 503)
            }
            #expect(first.status == 200)
            #expect(await way.send(limited, from: "198.51.100.1").status == 429)
            #expect(await way.send(limited, from: "203.0.113.1").status == 200)
            #expect(hash.passwords.refused(.cleanNetworks) == 3)
        }
    }
}
