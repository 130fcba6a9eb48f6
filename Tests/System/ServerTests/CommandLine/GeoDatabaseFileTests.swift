import FoundationEssentials
import Geolocation
import Glibc
import HTTP
import Locks
import Sockets
import Telemetry
import Testing

@testable import Server
@testable import sojourn

/// The file of places in a server: what it says at a start, and what becomes of one that is replaced meanwhile.
@Suite("Geo database in use", .timeLimit(.minutes(2)))
struct GeoDatabaseFileTests {
    private let folder = StartingFolder()
    private let lines = Locked<[String]>([])
    private var path: String { folder.file("places.mmdb") }

    private func file() throws -> GeoDatabaseFile {
        let logger = Logger(
            format: .text,
            sink: LogSink { [lines] line in
                lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
            }
        ) { 0 }
        return try GeoDatabaseFile(path: path, copyingTo: folder.path, logger: logger)
    }

    private func warnings() -> [String] { lines.withLock { $0 }.filter { $0.contains("old one stays") } }

    @Test("a new file is taken once it stays as it is, whether it was moved or written there")
    func replaced() async throws {
        try await PlaceFiles.write(path)
        let file = try file()
        #expect(file.location(of: "192.0.2.9")?.city == "Munich")
        try await PlaceFiles.write(folder.file("next"), madeAt: 1_760_000_000, city: "Passau")
        #expect(rename(folder.file("next"), path) == 0)
        file.look()
        #expect(file.location(of: "192.0.2.9")?.city == "Munich")
        file.look()
        #expect(file.location(of: "192.0.2.9")?.city == "Passau" && file.builtAt == 1_760_000_000)
        // In two pieces, with a look in between: the first is no database, and no log line tells of it.
        try await PlaceFiles.write(folder.file("next"), city: "Hof")
        let bytes = PlaceFiles.bytes(folder.file("next"))
        PlaceFiles.overwrite(path, bytes.prefix(bytes.count / 2))
        file.look()
        PlaceFiles.overwrite(path, bytes)
        file.look()
        #expect(file.location(of: "192.0.2.9")?.city == "Passau")
        file.look()
        #expect(file.location(of: "192.0.2.9")?.city == "Hof" && warnings().isEmpty)
    }

    @Test("a file that cannot be used changes nothing and is told once; the next good one is taken")
    func refused() async throws {
        try await PlaceFiles.write(path)
        let good = PlaceFiles.bytes(path)
        let file = try file()
        for (count, bytes) in [good.prefix(good.count / 2), Data("junk".utf8), nil].enumerated() {
            if let bytes { PlaceFiles.overwrite(path, bytes) } else { try FileManager.default.removeItem(atPath: path) }
            for _ in 0..<5 { file.look() }
            #expect(file.location(of: "192.0.2.9")?.city == "Munich")
            #expect(warnings().count == count + 1, "\(warnings())")
        }
        try await PlaceFiles.write(path, city: "Fürth")
        for _ in 0..<2 { file.look() }
        #expect(file.location(of: "192.0.2.9")?.city == "Fürth" && warnings().count == 3)
    }

    @Test("a server does not start without the file that it is told to use, and says which key names it")
    func start() async throws {
        var program = CommandLineProgram(folder)
        program.environment["SOJOURN_GEO_DATABASE"] = "places.mmdb"
        let words = ["serve", "--database", "sqlite:db", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
        var result = try await program.run(words)
        #expect(result.status != 0 && result.errors.contains("geo.database: places.mmdb cannot be read: No such file"))
        folder.write("places.mmdb", "junk")
        result = try await program.run(words)
        #expect(result.status != 0 && result.errors.contains("geo.database: places.mmdb is not a MaxMind database"))
        try await PlaceFiles.write(path)
        let server = try await CrashServer(folder, environment: program.environment)
        let metrics = try HTTPExchange.send(Request(.get, "/metrics"), to: SocketAddress(server.adminAddress))
        #expect(
            String(decoding: metrics.body, as: UTF8.self).contains("\nsojourn_geo_database_build_seconds 1750000000\n"))
        await server.kill()
    }

    @Test("the doctor says how old the file is, and what is wrong with it")
    func doctor() async throws {
        var program = CommandLineProgram(folder)
        program.environment["SOJOURN_GEO_DATABASE"] = "places.mmdb"
        func check() async throws -> Substring? {
            let output = try await program.run(["doctor", "--database", "sqlite:db"]).output
            return output.split(separator: "\n").first { $0.contains("geo database") }
        }
        #expect(
            try await check()?.hasPrefix("fail  geo database     geo.database: places.mmdb cannot be read: ") == true)
        let now = Int64(Date().timeIntervalSince1970)
        try await PlaceFiles.write(path, madeAt: now - 6 * 86_400 - 60)
        #expect(try await check() == "ok    geo database     GeoLite2-City, made 6 days ago")
        try await PlaceFiles.write(path, madeAt: now - 61 * 86_400 - 60)
        #expect(
            try await check()
                == "warn  geo database     GeoLite2-City, made 61 days ago: get a new one, and put it at places.mmdb")
    }
}
