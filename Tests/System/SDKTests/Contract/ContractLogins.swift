import SojournClient
import SojournTestKit
import Testing

extension ContractCase {
    private static let password = "correct horse battery"

    static let logins = [
        ContractCase("a login answers every member that the SDK stores") { (client, user) async throws in
            try await client.server.createUser(user, password: password)
            let answer = try await client.logIn(user, password)
            #expect(answer.status == 200)
            let expected: Set = [
                "access_token", "token_type", "expires_in", "issued_at", "expires_at", "refresh_after", "refresh_token",
                "session_id", "device_id", "session_idle_expires_at", "session_expires_at", "authentication_mode",
                "user",
                "rotation_interval",
            ]
            #expect(expected.subtracting(answer.json.keys) == [])
            #expect(answer.text("token_type") == "Bearer")
            #expect(answer.text("device_id") == "phone")
            #expect(answer.text("authentication_mode") == "NO")
            #expect(answer.json["user"]?.members?.text("username") == user)
            #expect(answer.json["user"]?.members?.text("user_id") != nil)
            #expect(answer.fields["Cache-Control"] == "no-store")
        },
        ContractCase("a wrong password is refused without a word about a session") { (client, user) async throws in
            try await client.server.createUser(user, password: password)
            #expect(try await client.logIn(user, "wrong").summary == "401 invalid_credentials")
        },
        ContractCase("a login that is repeated with its key gets the session of the first") {
            (client, user) async throws in
            try await client.server.createUser(user, password: password)
            let first = try await client.logIn(user, password, key: "one")
            let second = try await client.logIn(user, password, key: "one")
            #expect(first.text("session_id") == second.text("session_id"))
            #expect(try await client.renew(second.refreshToken).status == 200)
            let third = try await client.logIn(user, password, key: "another")
            #expect(third.text("session_id") != first.text("session_id"))
            #expect(try await client.renew(second.refreshToken).summary == "400 replaced log in again")
        },
        ContractCase("an unknown user is refused as a wrong password is") { (client, user) async throws in
            #expect(try await client.logIn(user, "wrong").summary == "401 invalid_credentials")
        },
        ContractCase("a login needs a device") { (client, user) async throws in
            #expect(try await client.logIn(user, "wrong", device: nil).summary == "400 invalid_request")
        },
        ContractCase("a login of a disabled user") { (client, user) async throws in
            try await client.server.createUser(user, password: password)
            try await client.server.disable(user)
            #expect(try await client.logIn(user, password).summary == "403 login_disabled_by_admin kept")
            try await client.server.enable(user)
            #expect(try await client.logIn(user, password).status == 200)
        },
        ContractCase("a login by the names that the client takes", .own("login names")) { (client, user) async throws in
            let (server, address) = (client.server, "\(user)@example.org")
            try await server.createUser(user, password: password)
            try await server.createUser("other-\(user)", password: password)
            #expect(try await client.logIn(address, password).summary == "401 invalid_credentials")
            try await server.setVerifiedEmail(address, of: user)
            for (names, isName, isAddress) in [
                (.both, true, true), (.username, true, false), (.email, false, true),
            ] as [(ClientSettings.LoginNames, Bool, Bool)] {
                try await server.change(ClientSettings(loginNames: names))
                for (name, isTaken) in [(user, isName), (address, isAddress), (" \(address.uppercased()) ", isAddress)]
                {
                    let answer = try await client.logIn(name, password)
                    #expect(answer.summary == (isTaken ? "200" : "401 invalid_credentials"), "\(names) \(name)")
                }
            }
            try await server.change(ClientSettings(loginNames: .both))
            let profile = try await client.logIn(address, password).json["user"]?.members
            #expect(profile?.text("email") == address && profile?.text("username") == user)
            // A username wins.
            try await server.createUser(address, password: "another horse battery")
            #expect(try await client.logIn(address, "another horse battery").status == 200)
        },
        ContractCase("a login by a method that the client does not take", .own("login methods")) {
            (client, user) async throws in
            try await client.server.createUser(user, password: password)
            try await client.server.setAnonymousUsers(true)
            try await client.server.setLoginMethods(["passkey"])
            #expect(try await client.logIn(user, password).summary == "403 login_method_not_allowed")
            #expect(try await client.logIn(user, "wrong").summary == "403 login_method_not_allowed")
            let anonymous = try await client.send(
                "POST", "/v1/login", json: ["anonymous": .bool(true), "device": .object(["id": .string("phone")])])
            #expect(anonymous.summary == "403 login_method_not_allowed")
            let sojourn = Sojourn(
                SojournConfiguration(server: client.server.url), store: MemoryStore(),
                keys: SoftwareKeys.temporary(), transport: client.server.transport,
                clock: (client.server as? FakeServer)?.clock ?? SystemClock())
            let refused = await #expect(throws: SojournError.self) {
                _ = try await sojourn.signIn(username: user, password: password)
            }
            guard case .misconfigured("login_method_not_allowed", let detail?) = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(!detail.isEmpty)
            try await client.server.setLoginMethods(nil)
            #expect(try await client.logIn(user, password).status == 200)
        },
        ContractCase("a second login on a device replaces the first") { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let first = try await client.open(user)
            let second = try await client.open(user)
            #expect(first.text("session_id") != second.text("session_id"))
            #expect(try await client.renew(first.refreshToken).summary == "400 replaced log in again")
            #expect(try await client.renew(second.refreshToken).status == 200)
        },
        ContractCase("a login on another device leaves the first") { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            let (first, second) = (try await client.open(user), try await client.open(user, device: "tablet"))
            #expect(try await client.renew(first.refreshToken).status == 200)
            #expect(try await client.renew(second.refreshToken).status == 200)
        },
        ContractCase("a name is taken once") { (client, user) async throws in
            try await client.server.createUser(user, password: nil)
            await #expect(throws: AdminRefusal.self) { try await client.server.createUser(user, password: nil) }
        },
        ContractCase("a device is let in by the phone", .own("device logins")) { (client, user) async throws in
            try await client.server.createUser(user, password: password)
            let phone = Sojourn(
                SojournConfiguration(server: client.server.url), store: MemoryStore(),
                keys: SoftwareKeys.temporary(), transport: client.server.transport,
                clock: (client.server as? FakeServer)?.clock ?? SystemClock())
            try await phone.signIn(username: user, password: password)
            var request = TestLoginRequest()
            request.announceQuote = "The till at the door"
            let login = try await client.server.requestLogin(request)
            #expect(try await client.server.collect(login, device: "till", returnURL: nil) == nil)
            let session = try await phone.startSession(scanned: login.picture)
            events: for await event in session.events {
                switch event {
                case .confirmLogin(let details):
                    #expect(details.needsNumber)
                    let number = try await client.server.number(of: login)
                    #expect(number != nil)
                    try await session.confirm(number: number)
                case .secondFactor(let factor) where factor.result == .requested:
                    try await session.enterSecondFactor(password: password)
                case .state(let status) where status.state == .active: break events
                default: break
                }
            }
            let data = try #require(try await client.server.collect(login, device: "till", returnURL: nil))
            let answer = ContractAnswer(HTTPAnswer(status: 200, body: Array(data)))
            #expect(answer.text("device_id") == "till" && !answer.accessToken.isEmpty)
            #expect(answer.json["user"]?.members?.text("username") == user)
            #expect(try await client.server.collect(login, device: "till", returnURL: nil) == nil)
        },
    ]
}
