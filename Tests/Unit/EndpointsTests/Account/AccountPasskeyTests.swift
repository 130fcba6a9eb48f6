import Cryptography
import HTTP
import JSON
import Testing
import WebAuthnFixture

@testable import Endpoints

/// The registration of a passkey on the page of the account.
@Suite struct AccountPasskeyTests {
    private static let path = "/account/security"

    /// Sends what an authenticator has made for the options of a page.
    private static func add(
        _ credential: [String: JSONValue], _ account: AccountPages, _ page: AccountPage
    ) async throws -> Answer {
        let text = try #require(JSONValue.object(credential).compactText)
        return try await account.send("/account/passkeys", of: page, ["act": "add", "credential": text])
    }

    /// Gives `body` anna's page with the button, and an authenticator for her.
    private static func with(
        limit: Int = 20, _ body: (AccountPages, AccountPage, SoftAuthenticator, Tokens) async throws -> Void
    ) async throws {
        try await EndpointsFixture.withPasskeys(limit: limit) { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            let page = try await account.open(path)
            let authenticator = SoftAuthenticator(credentialID: [9, 9], userHandle: Hex.decode(phone.userID))
            try await body(account, page, authenticator, phone)
        }
    }

    @Test("the button's passkey logs in, and a repeated form finds it added") func button() async throws {
        try await Self.with { account, page, authenticator, phone in
            #expect(page.text.contains("Add a passkey"))
            let credential = authenticator.register(try page.challenge())
            for _ in 1...2 {
                let answer = try await Self.add(credential, account, page)
                #expect(answer.status == 303, "\(answer.text)")
                let after = await account.browser.get(try #require(answer.field("Location")))
                #expect(after.text.contains("The passkey is added"))
            }
            #expect(await account.server.call(.get, "/v1/me/passkeys", bearer: phone.access).items.count == 1)
            #expect(await account.server.passkeyEvents(of: phone.userID).count == 1)
            #expect(try await account.server.logIn(by: authenticator).status == 200)
        }
    }

    @Test("the options name what the account has, so that no device makes a second one") func excluded() async throws {
        try await Self.with { account, _, _, phone in
            _ = try await account.server.passkey(of: phone, id: [1, 2, 3])
            let options = try AccountPage(await account.browser.get(Self.path)).passkeyOptions()
            guard case .array(let list) = options["excludeCredentials"] else {
                Issue.record("no list")
                return
            }
            #expect(list.map { $0["id"]?.string } == ["AQID"])
            #expect(options["rp"]?["id"]?.string == "example.org")
        }
    }

    @Test("a challenge of another ceremony, session or user adds nothing") func otherChallenges() async throws {
        try await Self.with { account, page, authenticator, phone in
            let server = account.server
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            let bert = AccountPages(server)
            let bertsPage = try await bert.open(Self.path, username: "bert", password: "another long horse")
            let elsewhere = AccountPages(server)
            for challenge in [
                try await server.challenge(for: phone.access), try await server.challenge(), try bertsPage.challenge(),
                try await elsewhere.open(Self.path).challenge(), [UInt8](repeating: 1, count: 41),
            ] {
                let answer = try await Self.add(authenticator.register(challenge), account, page)
                #expect(answer.status == 422 && answer.text.contains("could not be added"))
            }
            // The page's own challenge serves one passkey, in this browser alone.
            let challenge = try page.challenge()
            let bertsAnswer = try await Self.add(authenticator.register(challenge), bert, bertsPage)
            #expect(bertsAnswer.status == 422)
            let added = try await Self.add(authenticator.register(challenge), account, page)
            #expect(added.status == 303)
            let second = SoftAuthenticator(credentialID: [8], userHandle: authenticator.userHandle)
            let reused = try await Self.add(second.register(challenge), account, page)
            #expect(reused.status == 422)
            #expect(await server.call(.get, "/v1/me/passkeys", bearer: phone.access).items.count == 1)
            // Bert does not take it over.
            let taken = try await Self.add(authenticator.register(try bertsPage.challenge()), bert, bertsPage)
            #expect(taken.status == 409 && taken.text.contains("already belongs to an account"))
        }
    }

    @Test("after five minutes the button leads to a login, and an older challenge adds nothing")
    func late() async throws {
        try await Self.with { account, page, authenticator, phone in
            let challenge = try page.challenge()
            account.server.moveClock(to: 300)
            let answer = try await Self.add(authenticator.register(challenge), account, page)
            #expect(answer.status == 303)
            #expect(answer.field("Location")?.contains("/login?r=") == true)
            let stale = AccountPage(await account.browser.get(Self.path))
            #expect(stale.text.contains("Add a passkey") && !stale.text.contains("data-options"))
            let again = try await account.logIn(
                try await account.send("/account/passkeys", of: stale, ["act": "add", "credential": ""]))
            let fresh = AccountPage(await account.browser.get(try #require(again.field("Location"))))
            #expect(fresh.text.contains("data-options"))
            let late = try await Self.add(authenticator.register(challenge), account, fresh)
            #expect(late.status == 422)
            let added = try await Self.add(authenticator.register(try fresh.challenge()), account, fresh)
            #expect(added.status == 303)
            #expect(await account.server.call(.get, "/v1/me/passkeys", bearer: phone.access).items.count == 1)
        }
    }

    @Test("with the last passkey that is allowed, the button goes") func limit() async throws {
        try await Self.with(limit: 1) { account, page, authenticator, _ in
            let added = try await Self.add(authenticator.register(try page.challenge()), account, page)
            #expect(added.status == 303)
            #expect(!(await account.browser.get(Self.path).text.contains("Add a passkey")))
        }
    }

    @Test(
        "a malformed registration is refused in words",
        arguments: [
            "x", "{}", "[]", "null", #"{"id":"AQ","rawId":"AQ","type":"public-key","response":{}}"#,
            #"{"id":"AQ","id":"AQ"}"#, String(repeating: "[", count: 5000),
        ])
    func hostile(_ text: String) async throws {
        try await Self.with { account, page, _, _ in
            let answer = try await account.send("/account/passkeys", of: page, ["act": "add", "credential": text])
            #expect(answer.status == 422 && answer.text.contains("could not be added"), "\(answer.status)")
            #expect(answer.text.contains("data-options"))
        }
    }
}

extension AccountPage {
    /// The options of the button.
    func passkeyOptions() throws -> [String: JSONValue] { try Page.passkeyOptions(in: text) }

    /// Their challenge.
    func challenge() throws -> [UInt8] {
        try #require(try passkeyOptions()["challenge"]?.string.flatMap { Base64URL.decode($0) })
    }
}
