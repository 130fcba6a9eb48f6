import Foundation
import Glibc
import Repository
import SojournClient
import SojournTestKit
import Testing

/// A phone that is killed while it exchanges the code of a login on the server's page.
@Suite("A phone that is killed between the code and the session", .timeLimit(.minutes(20)))
struct KilledLoginTests {
    private static let redirectURI = "com.example.app:/callback"
    private static let password = "correct horse battery"
    private static let points = [
        "before-send", "sent", "received", "locked", "temp-written", "temp-synced", "renamed", "folder-synced",
    ]
    /// The points after which the record of the login is stored.
    private static let stored = ["renamed", "folder-synced"]

    private static func world() async throws -> (server: LocalServer, proxy: FaultProxy) {
        let proxy = try FaultProxy()
        var options = LocalServer.Options()
        options.issuer = proxy.url
        options.settings = ServerSettings(rotationInterval: 0, refreshAfter: 0)
        let server = try await LocalServer.start(options)
        proxy.target = server.directURL
        try await server.createUser("anna", password: password)
        try await server.setRedirectURIs([redirectURI])
        return (server, proxy)
    }

    /// Begins a login on a phone, and carries it out in the browser. Returns the URL with which the browser comes back.
    private static func callback(_ phone: PhoneProcess, _ server: LocalServer) async throws -> String {
        let text = try await phone.ask("begin-login", ["redirect": .string(redirectURI)]).text("url")
        let url = try #require(text.flatMap { URL(string: $0) })
        let browser = FormLoginPresenter(server, username: "anna", password: password)
        return try await browser.present(url, redirectURI: try #require(URL(string: redirectURI))).absoluteString
    }

    /// Kills a phone at a point of the exchange. Returns the URL with which the browser came back.
    private static func kill(
        at point: String, _ folder: PhoneFolder, _ server: LocalServer, _ proxy: FaultProxy, _ renewal: String
    ) async throws -> String {
        let victim = try PhoneProcess(folder.path, server: proxy.url, renewal: renewal)
        let callback = try await callback(victim, server)
        proxy.plan = point == "sent" ? FaultPlan { _ in .delayAnswer(.milliseconds(150)) } : .none
        try await victim.arm("crash", at: point)
        _ = try? await victim.ask("finish-login", ["callback": .string(callback)])
        #expect(await victim.waitForEnd() == -SIGKILL, "\(point)")
        proxy.plan = .none
        return callback
    }

    /// How many sessions go on.
    private static func sessions(_ server: LocalServer) async throws -> Int {
        let answer = JSONValue(parsing: Array(try await server.admin("GET", "users/username:anna/sessions")))
        let sessions = try #require(answer?.members?["items"]?.elements)
        return sessions.count { $0.members?["ended_at"] == nil }
    }

    @Test("the same URL goes on after the next start", arguments: points, ["refresh-token", "bound"])
    func sameURL(point: String, renewal: String) async throws {
        let (server, proxy) = try await Self.world()
        let folder = try PhoneFolder()
        let callback = try await Self.kill(at: point, folder, server, proxy, renewal)

        let next = try PhoneProcess(folder.path, server: proxy.url, renewal: renewal)
        let isStored = Self.stored.contains(point)
        #expect(try await next.ask("start").word == (isStored ? "signed-in" : "signed-out"))
        let again = try await next.ask("finish-login", ["callback": .string(callback)])
        #expect(again.text(isStored ? "reason" : "user") == (isStored ? "no_login_pending" : "anna"), "\(again)")
        #expect(try await next.ask("token", ["need": .string("renewed")]).word == "token")
        #expect(try await next.ask("state").word == "signed-in")
        #expect(try await Self.sessions(server) == 1)
        // The URL is used up: it neither begins nor ends anything.
        let late = try await next.ask("finish-login", ["callback": .string(callback)])
        #expect(late.text("reason") == "no_login_pending")
        #expect(try await next.ask("token", ["need": .string("renewed")]).word == "token")
    }

    @Test(
        "without the URL a new login takes the place of the lost one", arguments: ["sent", "received", "temp-synced"])
    func newLogin(point: String) async throws {
        let (server, proxy) = try await Self.world()
        let folder = try PhoneFolder()
        let lost = try await Self.kill(at: point, folder, server, proxy, "bound")

        let next = try PhoneProcess(folder.path, server: proxy.url, renewal: "bound")
        let callback = try await Self.callback(next, server)
        // The new login does not take the answer to the old one.
        let old = try await next.ask("finish-login", ["callback": .string(lost)])
        #expect(old.text("reason") == "state_mismatch")
        let login = try await next.ask("finish-login", ["callback": .string(callback)])
        #expect(login.text("user") == "anna", "\(login)")
        #expect(try await next.ask("token", ["need": .string("renewed")]).word == "token")
        #expect(try await Self.sessions(server) == 1)
    }
}
