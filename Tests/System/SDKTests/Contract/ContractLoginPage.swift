import Foundation
import SojournClient
import SojournTestKit
import Testing

extension ContractClient {
    fileprivate static let redirectURI = "com.example.app:/callback"

    /// An exchange of the code of a whole login on the page.
    fileprivate func exchange(
        _ code: String, _ login: PendingLogin, key: String? = nil, verifier: String? = nil
    ) async throws -> ContractAnswer {
        let form = [
            "grant_type": "authorization_code", "code": code, "client_id": "mobile", "device_id": "phone",
            "redirect_uri": login.redirectURI, "code_verifier": verifier ?? login.verifier,
        ]
        let fields = key.map { [HTTPMessageField("Idempotency-Key", $0)] } ?? []
        return try await send("POST", "/oauth/token", form: form, fields: fields)
    }

    /// A login on the page: what the app has stored of it, and the URL with which the browser came back.
    fileprivate func logInOnPage(
        _ user: String, _ password: String = "correct horse battery"
    ) async throws -> (login: PendingLogin, callback: URL) {
        let redirectURI = try #require(URL(string: Self.redirectURI))
        let login = PendingLogin(
            state: "a b&c", nonce: "n", verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            redirectURI: Self.redirectURI, mode: .no)
        let url = try AuthorizationURL.url(
            of: login, LoginPage(redirectURI: redirectURI), at: try ServerAddress(server.url),
            SojournConfiguration(server: server.url), keyThumbprint: nil)
        let browser = FormLoginPresenter(server, username: user, password: password)
        return (login, try await browser.present(url, redirectURI: redirectURI))
    }

    fileprivate func code(_ user: String) async throws -> (code: String, login: PendingLogin) {
        let (login, callback) = try await logInOnPage(user)
        let code = try AuthorizationAnswer(callback).code(for: login, of: try ServerAddress(server.url))
        return (code, login)
    }
}

extension ContractCase {
    private static let password = "correct horse battery"

    /// The cases share a server, on which the client may use the login page.
    static let loginPage = [
        ContractCase("the SDK logs in on the login page", .own("login page")) { (client, user) async throws in
            try await client.server.setRedirectURIs([ContractClient.redirectURI])
            try await client.server.createUser(user, password: password)
            let sojourn = Sojourn(
                SojournConfiguration(server: client.server.url), store: MemoryStore(),
                keys: SoftwareKeys.temporary(), transport: client.server.transport,
                clock: (client.server as? FakeServer)?.clock ?? SystemClock())
            let page = LoginPage(redirectURI: try #require(URL(string: ContractClient.redirectURI)), loginHint: user)
            let wrong = FormLoginPresenter(client.server, username: user, password: "wrong")
            await #expect(throws: SojournError.cancelled) { try await sojourn.signIn(through: wrong, page) }
            let browser = FormLoginPresenter(client.server, username: user, password: password)
            let account = try await sojourn.signIn(through: browser, page, mode: .password)
            #expect(account.username == user)
            #expect(try await sojourn.refreshProfile().username == user)
            #expect(await sojourn.authenticationMode == .password)
        },
        ContractCase("a code is good for one exchange, and its repetition with the same key", .own("login page")) {
            (client, user) async throws in
            try await client.server.setRedirectURIs([ContractClient.redirectURI])
            try await client.server.createUser(user, password: password)
            let (code, login) = try await client.code(user)
            let other = String(repeating: "x", count: 43)
            #expect(try await client.exchange(code, login, verifier: other).summary == "400 invalid_grant")
            let first = try await client.exchange(code, login, key: "one")
            #expect(first.status == 200 && first.text("device_id") == "phone")
            let again = try await client.exchange(code, login, key: "one")
            #expect(again.text("session_id") == first.text("session_id"))
            #expect(try await client.exchange(code, login, key: "two").summary == "400 invalid_grant")
            #expect(try await client.renew(again.refreshToken).summary == "400 code_reused log in again")
        },
        ContractCase("an unregistered redirect URI gets no redirect", .own("no login page")) {
            (client, user) async throws in
            try await client.server.createUser(user, password: password)
            await #expect(throws: LoginPresentationError.self) { _ = try await client.logInOnPage(user) }
        },
    ]
}
