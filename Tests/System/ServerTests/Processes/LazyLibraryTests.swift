import Testing

@testable import sojourn

/// What only some databases and settings need is loaded for them alone, and one that cannot be is named with its package.
struct LazyLibraryTests {
    /// The program in a folder with files that are no libpq, libcurl, libmaxminddb and libqrencode.
    private func program() -> CommandLineProgram {
        let folder = StartingFolder()
        for library in ["libpq.so.5", "libcurl.so.4", "libmaxminddb.so.0", "libqrencode.so.4"] {
            folder.write(library, "not a library")
        }
        var program = CommandLineProgram(folder)
        program.environment["LD_LIBRARY_PATH"] = folder.path
        return program
    }

    @Test func nothingOfThemIsNeededForSQLite() async throws {
        let result = try await program().run(["migrate", "--database", "sqlite:a.sqlite"])
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test func libpqIsForPostgreSQL() async throws {
        let result = try await program().run(["migrate", "--database", "postgres://127.0.0.1/none"])
        #expect(result.status != 0)
        #expect(result.errors.contains("libpq cannot be loaded (package libpq5): "), "\(result.errors)")
    }

    @Test func libcurlIsForWhatTheServerAsksOfOthers() async throws {
        let program = program()
        program.folder.write("c.json5", "{webhooks: [{name: 'mails', url: 'https://example.org/hook'}]}")
        let result = try await program.run(["migrate", "--database", "sqlite:a.sqlite", "--config", "c.json5"])
        #expect(result.status != 0)
        #expect(result.errors.contains("libcurl cannot be loaded (package libcurl4): "), "\(result.errors)")
    }

    @Test func libqrencodeIsForPictures() async throws {
        let result = try await program().run(["doctor", "--database", "sqlite:a.sqlite"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("libqrencode cannot be loaded (package libqrencode4): "), "\(result.output)")
    }

    @Test func libmaxminddbIsForPlaces() async throws {
        var program = program()
        program.environment["SOJOURN_GEO_DATABASE"] = "places.mmdb"
        let result = try await program.run([
            "serve", "--database", "sqlite:a.sqlite", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0",
        ])
        #expect(result.status != 0)
        #expect(
            result.errors.contains("libmaxminddb, which cannot be loaded (package libmaxminddb0): "), "\(result.errors)"
        )
    }
}
