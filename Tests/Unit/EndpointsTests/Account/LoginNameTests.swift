import HTTP
import JSON
import Locks
import Sessions
import Synchronization
import Testing

@testable import Endpoints
@testable import StoreConformance

/// Which names log in beside a password: the username, and the verified address of one user.
struct LoginNameTests {
    private static let clients = ["username": "by-username", "email": "by-email", "both": "by-both"]

    /// Gives `body` a server with anna with a verified address, bert with an unverified one, and a client for each rule.
    private static func with(_ body: (EndpointsFixture) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in
            for (names, id) in clients {
                _ = try await server.makeClient(
                    #"""
                    {"client_id":"\#(id)","scope":"openid read","login_names":"\#(names)",
                     "grant_types":["authorization_code","refresh_token","login","password"],
                     "redirect_uris":["com.example.app:/callback"]}
                    """#)
            }
            try await makeUser(server, "bert", "Bert@Example.org", isVerified: false)
            let answer = await server.admin(
                .patch, "/admin/v1/users/username:anna", #"{"email":"Anna@Example.org","email_verified":true}"#)
            #expect(answer.status == 200, "\(answer.text)")
            try await body(server)
        }
    }

    private static func makeUser(
        _ server: EndpointsFixture, _ name: String, _ email: String?, isVerified: Bool,
        password: String = EndpointsFixture.password
    ) async throws {
        var members: [String: JSONValue] = ["username": .string(name), "password": .string(password)]
        if let email { (members["email"], members["email_verified"]) = (.string(email), .bool(isVerified)) }
        let body = try #require(JSONValue.object(members).compactText)
        let answer = await server.admin(.post, "/admin/v1/users", body)
        #expect(answer.status == 201, "\(answer.text)")
        server.environment.secrets.withLock { _ = $0.insert(password) }
    }

    /// Logs in, and returns the user's id; nil: the name or the password is wrong.
    private static func logIn(
        _ server: EndpointsFixture, _ way: PasswordWay, _ client: String, _ name: String,
        password: String = EndpointsFixture.password
    ) async throws -> String? {
        let answer = try await way.send(name, password, for: client, to: server)
        if way.isWrong(answer) { return nil }
        guard way == .page else { return try Tokens(answer).userID }
        let code = try #require(Redirect(answer)["code"])
        return try Tokens(await PageLoginFixture(server: server).exchange(code, ["client_id": client])).userID
    }

    @Test(
        "a client takes usernames, verified addresses, or both, in every way a password comes",
        arguments: PasswordWay.ofClients)
    func rules(way: PasswordWay) async throws {
        try await Self.with { server in
            let anna = try #require(await server.admin(.get, "/admin/v1/users/username:anna").string("user_id"))
            let rows: [(client: String, name: String, isAnna: Bool)] = [
                ("by-both", "anna", true), ("by-both", "anna@example.org", true),
                ("by-both", " ANNA@example.ORG ", true),
                ("by-both", "bert@example.org", false), ("by-both", "cora@example.org", false),
                ("by-username", "Anna", true), ("by-username", "anna@example.org", false),
                ("by-email", "anna@example.org", true), ("by-email", "anna", false),
            ]
            for (client, name, isAnna) in rows {
                let id = try await Self.logIn(server, way, client, name)
                #expect(id == (isAnna ? anna : nil), "\(client) \(name)")
                if !isAnna { server.environment.now.add(700, ordering: .relaxed) }
            }
        }
    }

    @Test("an address has one user, a username wins over an address, and an unverified one stays bare")
    func ambiguity() async throws {
        try await Self.with { server in
            let other = "another horse battery"
            let second = await server.admin(
                .post, "/admin/v1/users", #"{"username":"dora","email":"anna@example.org","email_verified":true}"#)
            #expect(second.status == 409 && second.string("code") == "email_taken")
            // A user is called like the address of another one.
            let named = "emil@example.org"
            try await Self.makeUser(server, "emil", named, isVerified: true)
            let emil = try #require(await server.admin(.get, "/admin/v1/users/username:emil").string("user_id"))
            #expect(try await Self.logIn(server, .call, "by-both", named) == emil)
            try await Self.makeUser(server, named, nil, isVerified: false, password: other)
            let squatter = try #require(
                await server.admin(.get, "/admin/v1/users?query=emil@").items.first { $0.string("username") == named }?
                    .string("user_id"))
            #expect(try await Self.logIn(server, .call, "by-both", named, password: other) == squatter)
            #expect(try await Self.logIn(server, .call, "by-both", named) == nil)
            #expect(try await Self.logIn(server, .call, "by-email", named) == emil)
            // A new address is not verified.
            _ = await server.admin(.patch, "/admin/v1/users/username:emil", #"{"email":"e@example.org"}"#)
            #expect(try await Self.logIn(server, .call, "by-both", "e@example.org") == nil)
        }
    }

    @Test("each name costs one look-up of a user and one hash, whether it is known or not")
    func oneLookUp() async throws {
        try await Self.with { server in
            let store = ObservedStore(server.store)
            for name in ["anna", "anna@example.org", "bert@example.org", "nobody", "nobody@example.org", "Ä@ä.example"]
            {
                store.forget()
                _ = try await store.user(name, loggingInBy: .both)
                #expect(store.calls == [.read], "\(name)")
                let hashes = server.environment.hashes.withLock { $0.count }
                _ = try await Self.logIn(server, .call, "by-both", name, password: "wrong horse")
                #expect(server.environment.hashes.withLock { $0.count } == hashes + 1, "\(name)")
            }
        }
    }

    @Test("a mailbox of 254 bytes logs in, in every way a password comes", arguments: PasswordWay.ofClients)
    func longAddress(way: PasswordWay) async throws {
        try await Self.with { server in
            let label = String(repeating: "b", count: 62)
            let address = String(repeating: "a", count: 64) + "@b\(label).\(label).\(label)"
            try #require(address.utf8.count == 254 && Mailbox.isValid(address))
            try await Self.makeUser(server, "long", address, isVerified: true)
            #expect(try await Self.logIn(server, way, "by-both", "  \(address) ") != nil)
            // A page that an application opens for the address begins with it.
            let page = try await PageLoginFixture(server: server).page(
                Browser(server), ["client_id": "by-both", "scope": "openid", "login_hint": address])
            #expect(page.answer.text.contains("value=\"\(address)\""))
            // A text longer than every name finds no user.
            let tooLong = String(repeating: "a", count: 400)
            #expect(try await way.send(tooLong, "x", for: "by-both", to: server).status == (way == .page ? 422 : 400))
        }
    }

    @Test("the label of the page promises what the client takes, and confirmed addresses alone")
    func labels() async throws {
        try await Self.with { server in
            for (client, label) in [
                ("by-username", ">Username<"), ("by-email", ">Confirmed e-mail address<"),
                ("by-both", ">Username or confirmed e-mail address<"),
            ] {
                let page = try await PageLoginFixture(server: server).page(
                    Browser(server), ["client_id": client, "scope": "openid"])
                #expect(page.answer.text.contains(label), "\(client)")
            }
        }
    }

    @Test("login_names is both at first, is one of three words, and never null")
    func member() async throws {
        try await Self.with { server in
            #expect(await server.admin(.get, "/admin/v1/clients/mobile").string("login_names") == "both")
            #expect(await server.admin(.get, "/admin/v1/clients/by-email").string("login_names") == "email")
            for value in ["\"telephone\"", "null", "[]"] {
                let answer = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"login_names":\#(value)}"#)
                #expect(answer.status == 400 && answer.text.contains("login_names"), "\(answer.text)")
            }
        }
    }
}
