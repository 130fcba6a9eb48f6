import FoundationEssentials
import HTTP
import SQLiteStore
import StoreConformance
import Testing

@testable import Endpoints
@testable import Sessions

/// A password is hashed for a while: what an admin has ended by then, and was answered so, changes nothing of the account.
@Suite struct EndedMeanwhileTests {
    enum Ending: CaseIterable {
        case revoked, sessionEnded, everybodyRevoked, disabled, passwordSet

        var code: String {
            switch self {
            case .revoked, .sessionEnded, .everybodyRevoked: "revoked_by_admin"
            case .disabled: "login_disabled_by_admin"
            case .passwordSet: "password_changed"
            }
        }

        fileprivate func bringAbout(_ server: EndpointsFixture, sessionID: String = "") async {
            let user = "/admin/v1/users/username:anna"
            let answer =
                switch self {
                case .revoked: await server.admin(.post, user + "/revoke")
                case .sessionEnded: await server.admin(.delete, "/admin/v1/sessions/\(sessionID)")
                case .everybodyRevoked: await server.admin(.post, "/admin/v1/revoke-all")
                case .disabled: await server.admin(.post, user + "/disable", #"{"effective":"immediate"}"#)
                case .passwordSet:
                    await server.admin(.put, user + "/password", #"{"new_password":"the horse of an admin"}"#)
                }
            #expect(answer.status < 300, "\(self): \(answer.text)")
        }
    }

    private static let password = #""password":"\#(EndpointsFixture.password)""#
    private static let calls: [(HTTP.Method, String, String)] = [
        (.put, "/v1/me/password", #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another horse"}"#),
        (.patch, "/v1/me", #"{"email":"eve@example.org",\#(password)}"#),
        (.put, "/v1/me/authentication-mode", #"{"authentication_mode":"PASSWORD",\#(password)}"#),
        (.post, "/v1/me/presence", "{\(password)}"),
    ]

    @Test(arguments: Ending.allCases, calls)
    func aSessionChangesNothingAnyMore(_ ending: Ending, _ call: (HTTP.Method, String, String)) async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let tokens = try await server.logIn()
            let id = try #require(Identifier<Session>(tokens.sessionID))
            var before: SessionRecord?
            let answer = try await hash.during {
                await node.call(call.0, call.1, call.2, bearer: tokens.access)
            } _: {
                await ending.bringAbout(server, sessionID: tokens.sessionID)
                before = try await server.store.session(id)
            }
            #expect(answer.status == 401, "\(answer.text)")
            #expect(answer.string("code") == ending.code)
            let after = try await server.store.session(id)
            #expect(before != nil && after == before)
        }
    }

    /// A change of the password spares the session that asks for it: there the password alone is the old one.
    enum PasswordCall: CaseIterable {
        case refresh, refreshWithJSON, refreshInModeNo, resumption, password, email, mode, presence

        var isOfSession: Bool { [.refresh, .refreshWithJSON, .refreshInModeNo, .resumption].contains(self) }

        fileprivate func make(_ phone: GuardedPhone, _ password: String) async -> Answer {
            let json = #""password":"\#(password)""#
            let form = "&password=" + password.replacing(" ", with: "+")
            return switch self {
            case .refresh, .refreshInModeNo: await phone.refresh(form)
            case .refreshWithJSON:
                await phone.server.call(
                    .post, "/v1/refresh", #"{"refresh_token":"\#(phone.tokens.refresh)",\#(json)}"#)
            case .resumption: await phone.resume(form)
            case .password:
                await phone.server.call(
                    .put, "/v1/me/password", #"{"old_password":"\#(password)","new_password":"another horse"}"#,
                    bearer: phone.tokens.access)
            case .email:
                await phone.server.call(
                    .patch, "/v1/me", #"{"email":"eve@example.org",\#(json)}"#, bearer: phone.tokens.access)
            case .mode: await phone.setMode("NO", "," + json)
            case .presence: await phone.show("{\(json)}")
            }
        }
    }

    @Test(arguments: PasswordCall.allCases)
    func aPasswordThatItsOwnSessionReplacesIsAWrongOne(_ call: PasswordCall) async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let phone = try await GuardedPhone(node, call == .refreshInModeNo ? .no : .password)
            let id = try #require(Identifier<Session>(phone.tokens.sessionID))
            // Long after the login; but no token is good for a change when the session is due.
            server.moveClock(to: call.isOfSession ? 4000 : 400)
            let wrong = await call.make(phone, "wrong")
            var before: SessionRecord?
            let answer = try await hash.during {
                await call.make(phone, EndpointsFixture.password)
            } _: {
                let presence = #"{"password":"\#(EndpointsFixture.password)"}"#
                let shown = await server.call(.post, "/v1/me/presence", presence, bearer: phone.tokens.access)
                #expect(shown.status == 200, "\(shown.text)")
                let replaced = await server.call(
                    .put, "/v1/me/password",
                    #"{"old_password":"\#(EndpointsFixture.password)","new_password":"battery staple"}"#,
                    bearer: phone.tokens.access)
                #expect(replaced.status == 204, "\(replaced.text)")
                before = try await server.store.session(id)
            }
            #expect(answer.status == wrong.status, "\(answer.text)")
            #expect(answer.string("code") == wrong.string("code") && answer.string("error") == wrong.string("error"))
            let after = try await server.store.session(id)
            #expect(before != nil && after == before)
            let right = await call.make(phone, "battery staple")
            #expect(right.status < 300, "\(right.text)")
        }
    }

    /// What was stolen is found out all the same, and what has ended says so.
    @Test func aTokenThatWasReplacedEndsTheSession_whateverComesOfThePassword() async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let phone = try await GuardedPhone(node, .password)
            server.moveClock(to: 4000)
            let answer = try await hash.during {
                await phone.refresh("&password=correct+horse")
            } _: {
                var token = phone.tokens.refresh
                for hours in 1...2 as ClosedRange<Int64> {
                    server.moveClock(to: 4000 * hours)
                    let next = await server.refresh(token, more: "&password=correct+horse")
                    token = try #require(next.string("refresh_token"), "\(next.text)")
                }
                let replaced = await server.call(
                    .put, "/v1/me/password",
                    #"{"old_password":"\#(EndpointsFixture.password)","new_password":"battery staple"}"#,
                    bearer: phone.tokens.access)
                #expect(replaced.status == 204, "\(replaced.text)")
            }
            #expect(answer.string("reason") == "refresh_token_reused", "\(answer.text)")
            let id = try #require(Identifier<Session>(phone.tokens.sessionID))
            #expect(try await server.store.session(id)?.session.ending?.reason == .refreshTokenReused)
        }
    }

    @Test(arguments: [true, false])
    func theOldPasswordTurnsNoLoginsOnOrOff(_ isDisabled: Bool) async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let basic = "Basic " + Data("anna:\(EndpointsFixture.password)".utf8).base64EncodedString()
            var before: User?
            let answer = try await hash.during {
                await node.call(
                    .put, "/v1/me/login-settings", #"{"logins_disabled":\#(isDisabled)}"#,
                    fields: ["Authorization": basic])
            } _: {
                _ = try await server.store.updateUser(.username("anna")) { change in
                    let now = change.user.createdAt
                    change.user.disabledByUser =
                        isDisabled ? nil : User.LoginDisabling(effective: .immediate, since: now)
                }
                await Ending.passwordSet.bringAbout(server)
                before = try await server.store.user(.username("anna"))
            }
            #expect(answer.status == 401 && answer.string("code") == "invalid_credentials", "\(answer.text)")
            #expect(try await server.store.user(.username("anna")) == before)
        }
    }

    @Test func theOldPasswordBeginsNoSession() async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let wrong = await server.call(
                .post, "/v1/login", EndpointsFixture.loginBody().replacing(EndpointsFixture.password, with: "wrong"))
            let answer = try await hash.during {
                await node.call(.post, "/v1/login", EndpointsFixture.loginBody())
            } _: {
                await Ending.passwordSet.bringAbout(server)
            }
            #expect(answer.status == 401 && answer.text == wrong.text, "\(answer.text)")
            #expect(try await server.store.exportSessions(after: nil, limit: 9).isEmpty)
        }
    }

    /// After a right login, when the parameters have risen.
    @Test func aPasswordThatIsHashedAgainReplacesNoOther() async throws {
        try await EndpointsFixture.with { server in
            let old = try #require(try await server.store.user(.username("anna")))
            await Ending.passwordSet.bringAbout(server)
            let new = try await server.store.user(.username("anna"))
            // What it stands for is not what is the user's now.
            #expect(
                try await PasswordVerifier(server.context).rehash(
                    EndpointsFixture.password, of: old, for: PasswordHasher.Requester(.system, clientID: nil))
                    == old.passwordHash
            )
            #expect(try await server.store.user(.username("anna")) == new)
        }
    }

    @Test(arguments: [true, false]) func aResetTokenThatIsSpentOrReplacedSetsNoPassword(_ isSpent: Bool) async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let path = "/admin/v1/users/username:anna/password-reset"
            let token = try #require(await server.admin(.post, path).string("reset_token"))
            let answer = try await hash.during {
                await node.call(
                    .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"another horse"}"#)
            } _: {
                let spent = #"{"reset_token":"\#(token)","new_password":"battery staple"}"#
                let first =
                    isSpent ? await server.call(.post, "/v1/password-reset", spent) : await server.admin(.post, path)
                #expect(first.status < 300, "\(first.text)")
            }
            #expect(answer.status == 400 && answer.string("member") == "reset_token", "\(answer.text)")
            let now = isSpent ? "battery staple" : EndpointsFixture.password
            let login = EndpointsFixture.loginBody().replacing(EndpointsFixture.password, with: now)
            #expect(await server.call(.post, "/v1/login", login).status == 200)
        }
    }
}
