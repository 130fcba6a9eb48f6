import FoundationEssentials
import HTTP
import Sessions
import StoreConformance
import Testing

@testable import Endpoints

/// Which queue each way of sending a password waits in.
@Suite(.timeLimit(.minutes(1))) struct PasswordRoomTests {
    /// Every call that hashes a password.
    enum Way: CaseIterable {
        case login, grant, loginPage, loginSettings, enrolment, newAccount
        case provenGrant, newUser, setPassword
        case refresh, presence, mode, password, accountPage, naming, namedAgain, reset, resetPage

        /// The room of a caller in a network with or without a wrong password.
        func room(afterWrong isAfterWrong: Bool) -> PasswordHasher.Priority {
            switch self {
            case .login, .grant, .loginPage, .loginSettings, .enrolment, .newAccount:
                isAfterWrong ? .otherNetworks : .cleanNetworks
            case .provenGrant, .newUser, .setPassword: .cleanNetworks
            case .refresh, .presence, .mode, .password, .accountPage, .naming, .namedAgain, .reset, .resetPage: .users
            }
        }

        private typealias Ask = @Sendable () async throws -> Answer

        /// Prepares the call at a node. The network of all calls is 192.0.2.0/24.
        fileprivate func prepare(_ node: EndpointsFixture) async throws -> @Sendable () async throws -> Answer {
            let (right, form) = (EndpointsFixture.password, "username=anna&password=correct+horse")
            switch self {
            case .login, .grant, .provenGrant, .loginSettings, .loginPage: return try await prepareLogin(node, form)
            case .newUser:
                return { await node.admin(.post, "/admin/v1/users", #"{"username":"bert","password":"\#(right)"}"#) }
            case .setPassword:
                return {
                    await node.admin(
                        .put, "/admin/v1/users/username:anna/password", #"{"new_password":"another horse"}"#)
                }
            case .enrolment, .newAccount:
                let user = self == .enrolment ? #"{"user":"username:anna"}"# : #"{"username":"ada"}"#
                let phone = try await InvitedPhone(node, await node.admin(.post, "/admin/v1/invitations", user))
                _ = await phone.act("confirm")
                let password = self == .enrolment ? right : "a brand new horse"
                return { await phone.finish(#""password":"\#(password)""#) }
            case .refresh, .presence, .mode, .password:
                let phone = try await GuardedPhone(node, .password)
                if self == .refresh { node.moveClock(to: 4000) }
                let json = #""password":"\#(right)""#
                return {
                    switch self {
                    case .refresh: await phone.refresh("&password=correct+horse")
                    case .presence: await phone.show("{\(json)}")
                    case .mode: await phone.setMode("NO", "," + json)
                    default:
                        await node.call(
                            .put, "/v1/me/password", #"{"old_password":"\#(right)","new_password":"another horse"}"#,
                            bearer: phone.tokens.access)
                    }
                }
            case .accountPage:
                let account = AccountPages(node)
                let page = try await account.open("/account/security")
                nonisolated(unsafe) let pages = account
                return {
                    try await pages.send(
                        "/account/password", of: page, ["password": right, "new_password": "a longer battery staple"])
                }
            case .naming, .namedAgain:
                let tokens = try Tokens(await node.anonymous())
                if self == .namedAgain { #expect(await node.name(tokens).status == 200) }
                return { await node.name(tokens) }
            case .reset, .resetPage: return try await prepareReset(node)
            }
        }

        private func prepareLogin(_ node: EndpointsFixture, _ form: String) async throws -> Ask {
            let more = #""grant_types":["password","refresh_token"]"#
            let secret = try await node.makeClient(
                self == .provenGrant
                    ? #"{"client_id":"shop","token_endpoint_auth_method":"client_secret_basic",\#(more)}"#
                    : #"{"client_id":"shop","token_endpoint_auth_method":"none",\#(more)}"#)
            switch self {
            case .grant:
                return { await node.form("/oauth/token", "grant_type=password&client_id=shop&\(form)") }
            case .provenGrant:
                let basic = "shop:\(try #require(secret))"
                return { await node.form("/oauth/token", "grant_type=password&\(form)", basic: basic) }
            case .loginSettings:
                let basic = "Basic " + Data("anna:\(EndpointsFixture.password)".utf8).base64EncodedString()
                return { await node.call(.get, "/v1/me/login-settings", fields: ["Authorization": basic]) }
            case .loginPage:
                _ = try await node.makeClient(
                    #"""
                    {"client_id":"pages","grant_types":["authorization_code","refresh_token"],"scope":"openid profile email read",
                     "redirect_uris":["\#(PageLoginFixture.redirectURI)"]}
                    """#)
                let login = PageLoginFixture(server: node)
                let browser = Browser(node)
                let page = try await login.page(browser, ["client_id": "pages"])
                nonisolated(unsafe) let sender = browser
                return { await login.submit(sender, page) }
            default:
                return {
                    await node.call(
                        .post, "/v1/login",
                        #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"phone-9"}}"#)
                }
            }
        }

        private func prepareReset(_ node: EndpointsFixture) async throws -> Ask {
            let mailed = await node.admin(.post, "/admin/v1/users/username:anna/password-reset")
            let token = try #require(mailed.string("reset_token"))
            guard self == .resetPage else {
                return {
                    await node.call(
                        .post, "/v1/password-reset",
                        #"{"reset_token":"\#(token)","new_password":"another horse"}"#)
                }
            }
            let account = AccountPages(node)
            let page = AccountPage(await account.browser.get("/reset"))
            nonisolated(unsafe) let pages = account
            return {
                try await pages.send("/reset", of: page, ["token": token, "new_password": "a longer battery staple"])
            }
        }
    }

    private static func wrongLogin(_ node: EndpointsFixture) async {
        let request = Request(
            .post, "/v1/login", fields: ["Content-Type": "application/json"],
            body: Array(#"{"username":"nobody","password":"wrong","device":{"id":"d"}}"#.utf8))
        #expect(await node.send(request, address: "192.0.2.200").status == 401)
    }

    @Test("Every way waits in the queue of its evidence and its network", arguments: Way.allCases, [false, true])
    func rooms(_ way: Way, isAfterWrong: Bool) async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let hash = try HeldHash()
            let node = try await server.anotherNode(passwords: hash.passwords)
            let ask = try await way.prepare(node)
            if isAfterWrong { await Self.wrongLogin(node) }
            let answer = try await hash.during {
                do { return try await ask().status } catch { return 0 }
            } _: {
                let pending = PasswordHasher.Priority.allCases.filter { hash.passwords.pending($0) == 1 }
                #expect(pending == [way.room(afterWrong: isAfterWrong)])
            }
            #expect((200..<400).contains(answer), "\(answer)")
            #expect(PasswordHasher.Priority.allCases.allSatisfy { hash.passwords.pending($0) == 0 })
        }
    }

    /// The logins of `name` on a device while another password is hashed.
    private static func room(
        of name: String, on device: String, at node: EndpointsFixture, _ hash: HeldHash
    ) async throws -> PasswordHasher.Priority? {
        let json = #"{"username":"\#(name)","password":"\#(EndpointsFixture.password)","device":{"id":"\#(device)"}}"#
        var login: Task<Answer, Never>?
        var room: PasswordHasher.Priority?
        _ = try await hash.during {
            await node.admin(.put, "/admin/v1/users/username:anna/password", #"{"new_password":"correct horse"}"#)
        } _: {
            let before = PasswordHasher.Priority.allCases.map { hash.passwords.pending($0) }
            login = Task { await node.call(.post, "/v1/login", json) }
            while room == nil {
                let now = PasswordHasher.Priority.allCases.map { hash.passwords.pending($0) }
                room = zip(PasswordHasher.Priority.allCases, zip(before, now)).first { $0.1.0 < $0.1.1 }?.0
                await Task.yield()
            }
        }
        _ = await login?.value
        return room
    }

    @Test("A device is known by an active session of the user that the login names")
    func knownDevice() async throws {
        try await EndpointsFixture.with { server in
            let hash = try HeldHash(width: 1)
            let node = try await server.anotherNode(passwords: hash.passwords)
            let made = await server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"\#(EndpointsFixture.password)"}"#)
            #expect(made.status == 201)
            let bert = try Tokens(
                await node.call(
                    .post, "/v1/login",
                    #"{"username":"bert","password":"\#(EndpointsFixture.password)","device":{"id":"phone-1"}}"#))
            #expect(try await Self.room(of: "bert", on: "phone-1", at: node, hash) == .knownDevices)
            #expect(try await Self.room(of: "anna", on: "phone-1", at: node, hash) == .cleanNetworks)
            #expect(try await Self.room(of: "bert", on: "phone-2", at: node, hash) == .cleanNetworks)
            let out = await server.admin(.post, "/admin/v1/users/\(bert.userID)/revoke", "{}")
            #expect(out.status < 300, "\(out.text)")
            #expect(try await Self.room(of: "bert", on: "phone-1", at: node, hash) == .cleanNetworks)
            #expect(try await Self.room(of: "nobody", on: "phone-1", at: node, hash) == .cleanNetworks)
        }
    }
}
