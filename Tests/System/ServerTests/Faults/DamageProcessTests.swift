import FoundationEssentials
import HTTP
import JSON
import Testing

@testable import sojourn

/// A page of the database is damaged under a server: it says so, and stops answering with what may be wrong; `sojourn
/// doctor` says what to do.
@Suite("A damaged database", .timeLimit(.minutes(5)))
struct DamageProcessTests {
    @Test(
        "the server refuses everything but says why, and the doctor names the way out, before and after it is stopped")
    func damagedPage() async throws {
        let folder = StartingFolder()
        let first = try await CrashServer(folder)
        try #require(first.admin(.post, "/users", .object(["username": .string("anna")]))?.status == 201)
        let login = first.admin(.post, "/users/username:anna/sessions")
        let token = try #require(login?.json["refresh_token"]?.string)
        let access = try #require(login?.json["access_token"]?.string)
        // Taken before the refresh, of which the backup knows nothing.
        let backup = try await CommandLineProgram(folder).run([
            "backup", folder.file("saved"), "--database", "sqlite:db",
        ])
        #expect(backup.status == 0, "\(backup.errors)")
        let newer = first.refresh(token)?.json["refresh_token"]?.string ?? token
        await first.kill()
        try await Self.copyLog(folder)
        let sound = try await CommandLineProgram(folder).run(["doctor", "--database", "sqlite:db"])
        #expect(sound.output.contains("sound (integrity_check)"), "\(sound.output)")
        try Self.damageSessions(folder)

        let server = try await CrashServer(folder)
        for answer in [
            server.refresh(token), server.call(.get, "/v1/verify", bearer: access), server.refresh(token),
            server.admin(.post, "/users/username:anna/disable", .object([:])),
            server.admin(.get, "/users/username:anna"),
        ] {
            #expect((answer?.status ?? 0) >= 500, "\(answer?.status ?? 0)")
            #expect(answer?.retryAfter != nil)
            #expect(answer?.json["reauthenticate"] == nil)
        }
        let ready = server.call(.get, "/readyz")
        #expect(ready?.status == 503)
        #expect(ready?.json["store"]?.string == "damaged")
        let running = try await CommandLineProgram(folder).run(["doctor", "--database", "sqlite:db"])
        #expect(running.status == 1)
        #expect(running.output.contains("newest backup"), "\(running.output)")
        let log = await server.kill()
        #expect(log.contains("the database is damaged"), "\(log)")
        #expect(log.contains("sojourn doctor"))

        let stopped = try await CommandLineProgram(folder).run(["doctor", "--database", "sqlite:db"])
        #expect(stopped.status == 1)
        #expect(
            stopped.output.contains("is damaged (") && stopped.output.contains("newest backup"), "\(stopped.output)")

        let way = try await CommandLineProgram(folder).run(["restore", folder.file("saved"), "--database", "sqlite:db"])
        #expect(way.status == 0, "\(way.errors)")
        let restored = try await CrashServer(folder)
        #expect(restored.refresh(newer)?.status == 200)
        #expect(restored.call(.get, "/readyz")?.status == 200)
        await restored.kill()
    }

    @Test("a damaged header stops the start with a line that names the way out")
    func damagedHeader() async throws {
        let folder = StartingFolder()
        await (try await CrashServer(folder)).kill()
        try await Self.copyLog(folder)
        try Self.change(folder) { $0[3] = 0 }
        let error = await #expect(throws: CrashServer.NotReady.self) { try await CrashServer(folder) }
        #expect(error?.errors.contains("newest backup") == true, "\(error?.errors ?? "")")
        let doctor = try await CommandLineProgram(folder).run(["doctor", "--database", "sqlite:db"])
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("newest backup"), "\(doctor.output)")
    }

    /// The log that a crash left is copied into the file, as by any start.
    private static func copyLog(_ folder: StartingFolder) async throws {
        let migrated = try await CommandLineProgram(folder).run(["migrate", "--database", "sqlite:db"])
        #expect(migrated.status == 0, "\(migrated)")
    }

    /// The first byte of the page where the only session is.
    private static func damageSessions(_ folder: StartingFolder) throws {
        try change(folder) { content in
            let pages = (1..<content.count / 4096).filter { page in
                // A leaf of a table, with the words of a session.
                content[page * 4096] == 13
                    && content[page * 4096..<(page + 1) * 4096].firstRange(of: Data("mobile".utf8)) != nil
            }
            for page in pages { content[page * 4096] = 0 }
        }
    }

    private static func change(_ folder: StartingFolder, _ edit: (inout Data) -> Void) throws {
        var content = try #require(FileManager.default.contents(atPath: folder.file("db")))
        edit(&content)
        try content.write(to: URL(filePath: folder.file("db")))
    }
}
