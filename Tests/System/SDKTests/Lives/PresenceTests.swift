import Foundation
import SojournClient
import SojournTestKit
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The three modes on the real server: what it asks of the user, and how that is answered.
@Suite("The user's presence", .timeLimit(.minutes(2)))
struct PresenceTests {
    private static let password = "correct horse battery"
    /// Seconds. In the mode `PASSWORD` so long a password counts: long enough for the next call on a busy machine.
    private static let refreshAfter: Int64 = 3

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gate-\(UUID().uuidString)")
    private let server: LocalServer
    private let gate = FakeGate()

    init() async throws {
        var options = LocalServer.Options()
        options.settings = ServerSettings(rotationInterval: 1, refreshAfter: Self.refreshAfter)
        server = try await LocalServer.start(options)
        try await server.createUser("anna", password: Self.password)
    }

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The app after a start.
    private func app(_ renewal: SojournConfiguration.Renewal = .boundRefreshToken) -> Sojourn {
        var configuration = SojournConfiguration(server: server.url)
        configuration.renewal = renewal
        return Sojourn(
            configuration, store: FileStore(directory: folder), keys: SoftwareKeys(directory: folder), gate: gate)
    }

    private func record() throws -> SessionRecord {
        try SessionRecord(parsing: Array(try Data(contentsOf: folder.appendingPathComponent(FileStore.fileName))))
    }

    private func text() throws -> String {
        String(decoding: try Data(contentsOf: folder.appendingPathComponent(FileStore.fileName)), as: UTF8.self)
    }

    private func renewed(_ app: Sojourn) async -> SojournError? {
        do throws(SojournError) {
            _ = try await app.accessToken(.renewed(after: try await app.accessToken()))
            return nil
        } catch { return error }
    }

    private func useDeviceKeys() async throws {
        let grants = ["login", "urn:ietf:params:oauth:grant-type:jwt-bearer"]
        try await server.changeClient("mobile", ["grant_types": .array(grants.map { .string($0) })])
    }

    /// How the server asks, how the session is renewed, and how the user answers.
    enum Demand: CaseIterable { case renewal, call }
    static let demands = Demand.allCases.flatMap { demand in
        [SojournConfiguration.Renewal.refreshToken, .boundRefreshToken, .deviceKey].flatMap { renewal in
            [true, false].map { (demand, renewal, $0) }
        }
    }

    @Test("biometry that the server asks for is answered by the key or by the password", arguments: demands)
    func biometric(demand: Demand, renewal: SojournConfiguration.Renewal, isByKey: Bool) async throws {
        defer { remove() }
        if renewal == .deviceKey { try await useDeviceKeys() }
        try await server.askForUser(every: 5)
        let phone = app(renewal)
        try await phone.signIn(username: "anna", password: Self.password, mode: .biometric)
        let session = try record().session?.sessionID
        let token = try await phone.accessToken()
        #expect(try !text().contains(token.value) && record().session?.isLocked == true)
        try await server.letPass(.milliseconds(6100))
        let request = URLRequest(url: server.url.appendingPathComponent("v1/me"))
        switch demand {
        case .renewal:
            guard case .presenceRequired(let requirement)? = await renewed(phone) else {
                Issue.record("not asked")
                return
            }
            #expect(requirement == PresenceRequirement(ways: ["presence", "password"], maxAge: 5))
        case .call:
            await #expect(throws: SojournError.self) { try await phone.refreshProfile() }
        }
        guard case .presenceRequired = phone.state else {
            Issue.record("\(phone.state)")
            return
        }
        if isByKey { try await phone.unlock() } else { try await phone.unlock(password: Self.password) }
        #expect(gate.promptCount == (isByKey ? 2 : 1))
        #expect(try await phone.data(for: request).1.statusCode == 200)
        #expect(try record().session?.sessionID == session && record().session?.mode == .biometric)
        let next = try await phone.accessToken()
        #expect(try next != token && !text().contains(next.value))
        guard case .signedIn = phone.state else {
            Issue.record("\(phone.state)")
            return
        }
    }

    @Test("an API that asks for the user is believed")
    func demandOfAnAPI() async throws {
        defer { remove() }
        try await server.askForUser(every: 2)
        let phone = app()
        try await phone.signIn(username: "anna", password: Self.password, mode: .biometric)
        try await server.letPass(.milliseconds(900))
        // The token is young, so that only the answer of the API can tell.
        _ = await renewed(phone)
        try await server.letPass(.milliseconds(1200))
        let request = URLRequest(url: server.url.appendingPathComponent("v1/me"))
        if let (_, response) = try? await phone.data(for: request) { #expect(response.statusCode == 401) }
        guard case .presenceRequired(let requirement, _) = phone.state else {
            Issue.record("\(phone.state)")
            return
        }
        #expect(requirement == PresenceRequirement(ways: ["presence", "password"], maxAge: 2))
        try await phone.unlock()
        #expect(try await phone.data(for: request).1.statusCode == 200)
    }

    @Test("the mode PASSWORD asks when a renewal is due, and after each start")
    func password() async throws {
        defer { remove() }
        let phone = app()
        try await phone.signIn(username: "anna", password: Self.password, mode: .password)
        let session = try record().session?.sessionID
        try await server.letPass(.milliseconds(4100))
        guard case .presenceRequired(let requirement)? = await renewed(phone) else {
            Issue.record("not asked")
            return
        }
        #expect(requirement.ways == ["password"] && requirement.maxAge == Self.refreshAfter)
        let restarted = app()
        guard case .presenceRequired = await restarted.start() else {
            Issue.record("\(restarted.state)")
            return
        }
        do {
            try await restarted.unlock(password: "wrong")
            Issue.record("opened")
        } catch {
            guard case .refused(let refusal) = error, refusal.code == "invalid_credentials" else {
                Issue.record("\(error)")
                return
            }
        }
        try await restarted.unlock(password: Self.password)
        _ = try await restarted.accessToken()
        #expect(try record().session?.sessionID == session && record().session?.mode == .password)
        #expect(gate.promptCount == 0)
    }

    @Test("the mode PASSWORD always asks when a key resumes")
    func passwordByKey() async throws {
        defer { remove() }
        try await useDeviceKeys()
        let phone = app(.deviceKey)
        try await phone.signIn(username: "anna", password: Self.password, mode: .password)
        let session = try record().session?.sessionID
        for _ in 0..<2 {
            try await server.letPass(.milliseconds(4100))
            guard case .presenceRequired? = await renewed(phone) else {
                Issue.record("not asked")
                return
            }
            try await phone.unlock(password: Self.password)
            _ = try await phone.accessToken()
        }
        #expect(try record().session?.sessionID == session && record().session?.refreshToken == nil)
    }

    @Test("the mode NO is never asked")
    func silent() async throws {
        defer { remove() }
        try await server.askForUser(every: 1)
        let phone = app()
        try await phone.signIn(username: "anna", password: Self.password)
        try await server.letPass(.milliseconds(2100))
        #expect(await renewed(phone) == nil)
        guard case .signedIn = await app().start() else {
            Issue.record("asked")
            return
        }
    }

    @Test("a gate that is cancelled sends nothing, and leaves the file as it is")
    func cancelled() async throws {
        defer { remove() }
        try await app().signIn(username: "anna", password: Self.password, mode: .biometric)
        let (phone, before) = (app(), try text())
        await phone.start()
        for code in [128, 2, 4, 9] {
            gate.next(.code(code))
            await #expect(throws: SojournError.self) { try await phone.unlock() }
            #expect(try text() == before)
        }
        try await phone.unlock()
        #expect(await renewed(phone) == nil)
    }

    @Test("biometry is locked, the password leads on, and biometry comes back without new keys")
    func lockOut() async throws {
        defer { remove() }
        try await server.askForUser(every: 600)
        try await app().signIn(username: "anna", password: Self.password, mode: .biometric)
        let (phone, session) = (app(), try record().session?.sessionID)
        for _ in 0..<FakeGate.denialsMax {
            gate.next(.deny)
            await #expect(throws: SojournError.self) { try await phone.unlock() }
        }
        try await phone.unlock(password: Self.password)
        #expect(try record().session?.mode == .password && record().session?.sessionID == session)
        gate.unlockDevice()
        try await phone.switchMode(to: .biometric)
        #expect(gate.enrollmentCount == 1)
        try await app().unlock()
        #expect(try record().session?.mode == .biometric && record().session?.sessionID == session)
    }

    @Test("other biometry, then the password, then new keys: the session stays")
    func otherBiometry() async throws {
        defer { remove() }
        try await app().signIn(username: "anna", password: Self.password, mode: .biometric)
        let (phone, session) = (app(), try record().session?.sessionID)
        gate.changeEnrollment()
        await #expect(throws: SojournError.self) { try await phone.unlock() }
        try await phone.unlock(password: Self.password)
        try await phone.switchMode(to: .biometric)
        let restarted = app()
        try await restarted.unlock()
        #expect(await renewed(restarted) == nil)
        #expect(try record().session?.sessionID == session && record().session?.gateID == "enrollment-2")
    }

    @Test("from each mode to each, and back")
    func modes() async throws {
        defer { remove() }
        let phone = app()
        try await phone.signIn(username: "anna", password: Self.password)
        let session = try record().session?.sessionID
        for mode in [AuthenticationMode.biometric, .password, .biometric, .no, .password, .no] {
            try await phone.switchMode(to: mode)
            #expect(try record().session?.mode == mode)
            let token = try await phone.accessToken()
            #expect(try text().contains(token.value) == (mode != .biometric))
        }
        #expect(try record().session?.sessionID == session)
        #expect(gate.enrollmentCount == 1)
    }
}
