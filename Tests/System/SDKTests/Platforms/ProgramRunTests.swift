import Foundation
import Repository
import SojournClient
import SojournTestKit
import Testing

/// The command-line app of the manual against the real server.
@Suite("The command-line app of the manual, run", .timeLimit(.minutes(10)))
struct ProgramRunTests {
    /// The app, built once.
    private static let app = Result { try App() }
    private static let password = "correct horse battery staple"

    /// A program in a temporary folder, which is deleted with it.
    private final class App: Sendable {
        let folder: PhoneFolder
        var path: String { folder.path + "/shop" }

        init() throws {
            folder = try PhoneFolder()
            let products = URL(
                fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            ).deletingLastPathComponent().path
            let objects = try ["SojournClient", "Cryptography", "Locks"].flatMap { module in
                let folder = "\(products)/\(module).build"
                return try FileManager.default.contentsOfDirectory(atPath: folder)
                    .filter { $0.hasSuffix(".o") }.map { "\(folder)/\($0)" }
            }
            let output = try Tool.run(
                [
                    "swiftc", "-swift-version", "6", "-I", "\(products)/Modules", "-I", "Sources/Libraries/CLinux",
                    "-I",
                    "Sources/Libraries/COpenSSL", "-o", folder.path + "/shop",
                    "Tests/System/SDKTests/Programs/shop/main.swift",
                ] + objects)
            try #require(output.status == 0, "\(output.errors)")
        }
    }

    /// Runs the app with its store in `folder`.
    private func shop(
        _ folder: PhoneFolder, _ server: URL, _ words: String...
    ) throws -> (status: Int32, lines: [String]) {
        let app = try Self.app.get()
        let output = try Tool.run(
            [app.path, server.absoluteString] + words, environment: ["XDG_STATE_HOME": folder.path])
        return (output.status, output.text.split(separator: "\n").map(String.init) + [output.errors])
    }

    private func world() async throws -> (server: LocalServer, folder: PhoneFolder) {
        let server = try await LocalServer.start()
        try await server.createUser("anna", password: Self.password)
        return (server, try PhoneFolder())
    }

    @Test("log in, call, be ended by an admin, and log in again")
    func life() async throws {
        let (server, folder) = try await world()
        let login = try shop(folder, server.url, "login", "anna", Self.password)
        #expect(
            login.status == 0
                && login.lines.prefix(3) == [
                    "at the start: signed out", "logged in: anna", "at the end: signed in as anna",
                ])
        let call = try shop(folder, server.url, "call")
        #expect(call.status == 0 && call.lines[1].hasPrefix("200 {"), "\(call)")
        try await server.revokeAll("anna")
        let ended = try shop(folder, server.url, "call")
        #expect(ended.status == 1 && ended.lines[1] == "log in, please: ended(revoked_by_admin)", "\(ended)")
        #expect(ended.lines[2] == "at the end: ended for anna: revoked_by_admin")
        #expect(try shop(folder, server.url, "call").lines[0] == "at the start: ended for anna: revoked_by_admin")
        #expect(try shop(folder, server.url, "login", "anna", "wrong").lines[1] == "refused: invalid_credentials")
        #expect(try shop(folder, server.url, "login", "anna", Self.password).status == 0)
        try await server.stop()
        let offline = try shop(folder, server.url, "call")
        #expect(
            offline.status == 1
                && offline.lines[1].hasPrefix("try again later: unreachable(connection refused (URLError"), "\(offline)"
        )
        // Whether the first renewal has failed by then depends on the machine.
        #expect(offline.lines[2].hasPrefix("at the end: signed in as anna"), "\(offline)")
    }

    @Test("each run ends in good order, and each sign-out has reached the server then")
    func endings() async throws {
        let (server, folder) = try await world()
        let rounds = Lane.rounds(push: 8, full: 40)
        for round in 0..<rounds {
            let login = try shop(folder, server.url, "login", "anna", Self.password)
            #expect(login.status == 0, "\(round): \(login)")
            let logout = try shop(folder, server.url, "logout")
            #expect(logout.status == 0 && logout.lines[1] == "logged out: true", "\(round): \(logout)")
        }
        let rest = JSONValue(parsing: Array(try await server.admin("GET", "users/username:anna/sessions")))
        let sessions = try #require(rest?.members?["items"]?.elements)
        let reasons = sessions.map { $0.members?.text("ended_reason") }
        #expect(!reasons.isEmpty && reasons.allSatisfy { $0 == "logged_out" }, "\(reasons)")
        print("program: \(2 * rounds) runs")
    }

    @Test("a login at another name of the machine says which URL to set")
    func otherName() async throws {
        let (server, folder) = try await world()
        let port = try #require(server.url.port)
        let url = try #require(URL(string: "http://localhost:\(port)"))
        let login = try shop(folder, url, "login", "anna", Self.password)
        #expect(login.status == 1 && login.lines[1].hasPrefix("set up wrongly: "), "\(login)")
        #expect(login.lines[1].contains(server.url.absoluteString) && login.lines[1].contains(url.absoluteString))
        #expect(try shop(folder, server.url, "login", "anna", Self.password).status == 0)
    }
}
