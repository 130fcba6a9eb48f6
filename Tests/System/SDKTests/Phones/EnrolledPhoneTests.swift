import Foundation
import SojournClient
import SojournTestKit
import Testing

/// A phone that gets its account by an invitation of the real server.
@Suite("A phone that is invited", .timeLimit(.minutes(5)))
struct EnrolledPhoneTests {
    private static let password = "a brand new horse"

    private static func invite(_ server: LocalServer, _ members: [String: JSONValue]) async throws -> String {
        let answer = JSONValue(parsing: Array(try await server.admin("POST", "invitations", members)))
        return try #require(answer?.members?.text("qr"))
    }

    private static func app(
        _ server: LocalServer, _ folder: URL, _ renewal: SojournConfiguration.Renewal, gate: FakeGate? = nil,
        clock: any ClientClock = SystemClock()
    ) -> Sojourn {
        var configuration = SojournConfiguration(server: server.url)
        configuration.renewal = renewal
        return Sojourn(
            configuration, store: FileStore(directory: folder), keys: SoftwareKeys(directory: folder), gate: gate,
            clock: clock)
    }

    /// The clock of a device with a wrong wall time.
    private struct WrongClock: ClientClock {
        let error: Int64
        var wallSeconds: Int64 { SystemClock().wallSeconds + error }
        var uptime: Duration { SystemClock().uptime }
        func sleep(for duration: Duration) async throws { try await SystemClock().sleep(for: duration) }
    }

    @Test("the program enrols, and is signed in after the next start", arguments: ["refresh-token", "bound"])
    func program(_ renewal: String) async throws {
        let server = try await LocalServer.start(LocalServer.Options())
        let folder = try PhoneFolder()
        let code = try await Self.invite(server, ["username": .string("ada")])
        let phone = try PhoneProcess(folder.path, server: server.url, renewal: renewal)
        let done = try await phone.ask("enrol", ["code": .string(code), "password": .string(Self.password)])
        #expect(done.text("status") == "DONE LOGGED_IN_ONE_SHOT", "\(done)")
        #expect(done.text("user") == "ada" && done.text("state") == "signed-in")
        let again = try PhoneProcess(folder.path, server: server.url, renewal: renewal)
        #expect(try await again.ask("start").text("user") == "ada")
        #expect(try await again.ask("token", ["need": .string("renewed")]).text("token") != nil)
        // The invitation is used up.
        let other = try PhoneProcess(try PhoneFolder().path, server: server.url, renewal: renewal)
        let late = try await other.ask("enrol", ["code": .string(code), "password": .string(Self.password)])
        #expect(late.text("state") == "signed-out" || late.text("status")?.hasPrefix("ERROR") == true, "\(late)")
    }

    @Test(
        "biometry is the first factor, at the first attempt on a wrong clock too", arguments: [0, 900, -900] as [Int64])
    func biometry(clockError: Int64) async throws {
        let server = try await LocalServer.start(LocalServer.Options())
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("enrol-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let gate = FakeGate()
        let app = Self.app(server, folder, .boundRefreshToken, gate: gate, clock: WrongClock(error: clockError))
        let session = try await app.startSession(scanned: try await Self.invite(server, [:]))
        #expect(session.isRegistration)
        var contexts: [SecondFactorEvent.Context] = []
        var offered: [Account] = []
        for await event in session.events {
            switch event {
            case .confirmEnrol(let details):
                #expect(details.username == nil && details.setsSecondFactor)
                offered = await session.candidates()
                try await session.confirm()
            case .secondFactor(let factor):
                contexts.append(factor.context)
                if factor.result == .requested { try await session.enrolByBiometry(username: "eve") }
            default: break
            }
        }
        #expect(session.status.description == "DONE LOGGED_IN_ONE_SHOT")
        #expect(contexts == [.firstSet, .firstSet])
        // The account is named before the confirmation, and is the one that the user has afterwards.
        guard case .signedIn(let account, _) = app.state else {
            Issue.record("\(app.state)")
            return
        }
        #expect(offered == [Account(userID: account.userID)])
        let next = Self.app(server, folder, .boundRefreshToken, gate: gate)
        try await next.unlock()
        #expect(try await next.accessToken(.renewed(after: try await next.accessToken())).value.isEmpty == false)
    }

    @Test("a taken name and a weak password leave the enrolment open")
    func secondTry() async throws {
        let server = try await LocalServer.start(LocalServer.Options())
        try await server.createUser("anna", password: Self.password)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("enrol-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = Self.app(server, folder, .refreshToken)
        let session = try await app.startSession(scanned: try await Self.invite(server, [:]))
        for await event in session.events {
            if case .confirmEnrol = event { try await session.confirm() }
            guard case .secondFactor(let factor) = event, factor.result == .requested else { continue }
            for (name, password) in [("anna", Self.password), ("eve", "short")] {
                await #expect(throws: SojournError.self) { try await session.enrol(password: password, username: name) }
            }
            try await session.enrol(password: Self.password, username: "eve")
        }
        #expect(session.status.history == .loggedInOneShot)
        guard case .signedIn(let account, _) = app.state else {
            Issue.record("not signed in: \(app.state)")
            return
        }
        #expect(account.username == "eve")
    }
}
