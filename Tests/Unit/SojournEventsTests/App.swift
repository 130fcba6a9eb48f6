import Foundation
import SojournClient
import SojournEvents
import SojournTestKit
import Testing

/// An app on a phone, and the server, in virtual time. The server knows `anna` with the password `pw`, and takes the name as ID
/// token.
struct App {
    let server: FakeServer
    let store: MemoryStore
    let gate: FakeGate
    let keys: SoftwareKeys
    let sojourn: Sojourn

    static let anna = UserIdentifier(tenantId: "shop", userId: "anna")

    static func new(platform: BiometryPlatform = .apple) async throws -> App {
        let server = FakeServer()
        try await server.createUser("anna", password: "pw")
        return App(server, MemoryStore(), FakeGate(platform))
    }

    /// An app in which `anna` is signed in, after a new start.
    static func signedIn(_ mode: AuthenticationMode, platform: BiometryPlatform = .apple) async throws -> App {
        let app = try await new(platform: platform)
        try await app.sojourn.signIn(username: "anna", password: "pw", mode: mode)
        return app.restarted()
    }

    init(
        _ server: FakeServer, _ store: MemoryStore, _ gate: FakeGate, keys: SoftwareKeys = SoftwareKeys.temporary()
    ) {
        (self.server, self.store, self.gate, self.keys) = (server, store, gate, keys)
        sojourn = Sojourn(
            SojournConfiguration(server: server.url), store: store, keys: keys, gate: gate,
            transport: server, clock: server.clock)
    }

    func restarted() -> App { App(server, store, gate, keys: keys) }

    /// The code of a login of `anna` on the login page.
    func code() async throws -> String {
        try await server.setRedirectURIs(["com.example.app:/callback"])
        let redirectURI = try #require(URL(string: "com.example.app:/callback"))
        let url = try await sojourn.beginSignIn(LoginPage(redirectURI: redirectURI))
        let browser = FormLoginPresenter(server, username: "anna", password: "pw")
        let callback = try await browser.present(url, redirectURI: redirectURI)
        let items = URLComponents(url: callback, resolvingAgainstBaseURL: false)?.queryItems
        return try #require(items?.first { $0.name == "code" }?.value)
    }

    func text() async throws -> String { String(decoding: try await store.load()?.bytes ?? [], as: UTF8.self) }
}
