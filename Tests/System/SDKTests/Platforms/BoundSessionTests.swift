import Foundation
import SojournClient
import SojournTestKit
import Testing

/// Sessions that are bound to the key of a device, on the real server: what becomes of copies, and of records without their key.
@Suite("A bound session", .timeLimit(.minutes(2)))
struct BoundSessionTests {
    private static let password = "correct horse battery"

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)")
    private let server: LocalServer

    init() async throws {
        var options = LocalServer.Options()
        options.settings = ServerSettings(rotationInterval: 1, refreshAfter: 0)
        server = try await LocalServer.start(options)
        try await server.createUser("anna", password: Self.password)
    }

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The app on the files of a folder, after a start.
    private func app(_ name: String, _ renewal: SojournConfiguration.Renewal = .boundRefreshToken) -> Sojourn {
        var configuration = SojournConfiguration(server: server.url)
        configuration.renewal = renewal
        let place = folder.appendingPathComponent(name)
        return Sojourn(
            configuration, store: FileStore(directory: place), keys: SoftwareKeys(directory: place))
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    private func copy(_ from: String, _ to: String) throws {
        try FileManager.default.createDirectory(
            at: file(to).deletingLastPathComponent(), withIntermediateDirectories: true)
        try? FileManager.default.removeItem(at: file(to))
        try FileManager.default.copyItem(at: file(from), to: file(to))
    }

    private func failure(_ app: Sojourn) async -> SojournError? {
        do throws(SojournError) {
            _ = try await app.accessToken(.renewed(after: try await app.accessToken()))
            return nil
        } catch { return error }
    }

    @Test("a record that was copied without its key ends on the copy alone")
    func copyWithoutKey() async throws {
        defer { remove() }
        let original = app("phone")
        try await original.signIn(username: "anna", password: Self.password)
        try copy("phone/session.json", "copy/session.json")
        #expect(await failure(app("copy")) == .ended(.keyLost))
        #expect(await failure(original) == nil)
        #expect(await failure(app("phone")) == nil)
    }

    @Test("a record beside another key is refused, and that key is not replaced")
    func copyWithOtherKey() async throws {
        defer { remove() }
        let original = app("phone")
        try await original.signIn(username: "anna", password: Self.password)
        try copy("phone/session.json", "copy/session.json")
        let other = try await SoftwareKeys(directory: file("copy")).makeKey(.device)
        #expect(await failure(app("copy")) == .ended(.keyLost))
        #expect(try await SoftwareKeys(directory: file("copy")).key(.device)?.publicKey == other.publicKey)
        #expect(await failure(original) == nil)
    }

    @Test("a record of an older backup goes on, because the session is bound")
    func rolledBack() async throws {
        defer { remove() }
        let original = app("phone")
        try await original.signIn(username: "anna", password: Self.password)
        try copy("phone/session.json", "backup.json")
        for _ in 0..<2 {
            // A rotation needs the interval to pass.
            try await server.letPass(.milliseconds(1100))
            #expect(await failure(original) == nil)
        }
        try await server.letPass(.milliseconds(1100))
        try copy("backup.json", "phone/session.json")
        #expect(await failure(app("phone")) == nil)
        guard case .signedIn = await app("phone").start() else {
            Issue.record("signed out")
            return
        }
    }

    @Test("a key that cannot be read is an error that passes, and a login finds a way on")
    func unreadableKey() async throws {
        defer { remove() }
        let phone = app("phone")
        try await phone.signIn(username: "anna", password: Self.password)
        try copy("phone/device.p8", "key")
        try Data([1, 2, 3]).write(to: file("phone/device.p8"))
        let started = app("phone")
        guard case .key(.corrupted)? = await failure(started) else {
            Issue.record("not the error of the key")
            return
        }
        guard case .signedIn = started.state else {
            Issue.record("signed out: \(started.state)")
            return
        }
        try copy("key", "phone/device.p8")
        #expect(await failure(app("phone")) == nil)

        try Data([1, 2, 3]).write(to: file("phone/device.p8"))
        let again = app("phone")
        try await again.signIn(username: "anna", password: Self.password)
        try await server.letPass(.milliseconds(1100))
        #expect(await failure(again) == nil)
    }

    @Test("a session that the key renews goes on after a start, and ends when the key is lost")
    func renewedByKey() async throws {
        defer { remove() }
        let grants = ["login", "urn:ietf:params:oauth:grant-type:jwt-bearer"]
        try await server.changeClient("mobile", ["grant_types": .array(grants.map { .string($0) })])
        try await app("phone", .deviceKey).signIn(username: "anna", password: Self.password)
        let bytes = try Data(contentsOf: file("phone/session.json"))
        #expect(try SessionRecord(parsing: Array(bytes)).session?.refreshToken == nil)
        for _ in 0..<2 { #expect(await failure(app("phone", .deviceKey)) == nil) }
        try FileManager.default.removeItem(at: file("phone/device.p8"))
        let lost = app("phone", .deviceKey)
        #expect(await failure(lost) == .ended(.keyLost))
        try await lost.signIn(username: "anna", password: Self.password)
        #expect(await failure(lost) == nil)
    }
}
