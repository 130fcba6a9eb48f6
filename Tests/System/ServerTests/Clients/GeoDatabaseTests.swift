import FoundationEssentials
import Geolocation
import Glibc
import Testing

/// Places by addresses, from files that another program has written.
@Suite("Geo database", .timeLimit(.minutes(2)))
struct GeoDatabaseTests {
    private let folder = StartingFolder()
    private var path: String { folder.file("places.mmdb") }

    private func open() throws -> GeoDatabase { try GeoDatabase(path: path, copyingTo: folder.path) }

    private static let munich = Location(
        countryCode: "DE", countryName: "Germany", region: "Bavaria", city: "Munich")
    private static let france = Location(countryCode: "FR", countryName: "France")
    private static let tokyo = Location(countryCode: "JP", countryName: "Japan", city: "Tōkyō")

    /// An address, where it is, and where a file without IPv6 says that it is.
    private static let places: [(String, Location?, Location?)] = [
        ("192.0.2.9", munich, munich), ("192.0.2.255", munich, munich), ("::ffff:192.0.2.9", munich, munich),
        ("::ffff:c000:0209", munich, munich), ("198.51.100.1", france, france), ("2001:db8::1", tokyo, nil),
        ("2001:DB8:0:0::ffff", tokyo, nil),
        // Unknown.
        ("192.0.3.1", nil, nil), ("8.8.8.8", nil, nil), ("2001:db9::1", nil, nil),
        // In no country, or not formed as places are.
        ("203.0.113.1", nil, nil), ("203.0.113.129", nil, nil), ("203.0.113.193", nil, nil),
        // Private, though the file has them.
        ("10.1.2.3", nil, nil), ("127.0.0.1", nil, nil), ("::ffff:10.1.2.3", nil, nil), ("fd00::1", nil, nil),
        ("::1", nil, nil), ("fe80::1", nil, nil),
        // No addresses.
        ("", nil, nil), ("example.org", nil, nil), ("192.0.2.9:80", nil, nil), ("[2001:db8::1]", nil, nil),
        ("192.0.2", nil, nil), ("192.0.2.9\0", nil, nil), ("/run/x.sock", nil, nil),
    ]

    @Test("addresses of both kinds have their places, and others none")
    func lookup() async throws {
        for version in [4, 6] {
            try await PlaceFiles.write(path, version: version, madeAt: 1_765_432_100)
            let database = try open()
            #expect(database.builtAt == 1_765_432_100 && database.kind == "GeoLite2-City")
            for (address, both, old) in Self.places {
                #expect(try database.location(of: address) == (version == 6 ? both : old), "\(address), IPv\(version)")
            }
        }
    }

    @Test("names are in the language that is asked for, and English where the file has none")
    func languages() async throws {
        try await PlaceFiles.write(path)
        let database = try open()
        let german = Location(countryCode: "DE", countryName: "deutsch", region: "Bavaria", city: "deutsch")
        #expect(try database.location(of: "192.0.2.9", language: "de") == german)
        #expect(try database.location(of: "192.0.2.9", language: "fr") == Self.munich)
    }

    @Test(
        "files by city or by country are taken, of whichever publisher, and no others",
        arguments: [
            ("GeoLite2-Country", true), ("DBIP-City-Lite", true), ("GeoIP2-Enterprise", true), ("GeoLite2-ASN", false),
            ("", false),
        ])
    func kinds(_ kind: String, _ isTaken: Bool) async throws {
        try await PlaceFiles.write(path, kind: kind)
        if isTaken { return #expect(try open().location(of: "192.0.2.9") == Self.munich) }
        #expect(throws: GeoDatabaseError.wrongKind(kind)) { try open() }
    }

    @Test("a file that cannot be read, or copied, is a sentence, and leaves nothing behind")
    func unusable() async throws {
        #expect(throws: GeoDatabaseError.unreadable("No such file or directory")) { try open() }
        mkfifo(path, 0o600)
        #expect(throws: GeoDatabaseError.unreadable("it is not a file")) { try open() }
        unlink(path)
        for text in ["", "not a database", String(repeating: "x", count: 300_000)] {
            PlaceFiles.overwrite(path, Data(text.utf8))
            let error = #expect(throws: GeoDatabaseError.self) { try open() }
            #expect(error?.description.hasPrefix("is not a MaxMind database (.mmdb), or broken: ") == true)
        }
        try await PlaceFiles.write(path)
        let nowhere = folder.file("nowhere")
        #expect(throws: GeoDatabaseError.notCopied(folder: nowhere, "No such file or directory")) {
            try GeoDatabase(path: path, copyingTo: nowhere)
        }
        _ = try open()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["places.mmdb"])
    }

    @Test("a file that was cut off, anywhere, is refused or gives what is left of it")
    func truncated() async throws {
        try await PlaceFiles.write(path)
        let whole = PlaceFiles.bytes(path)
        for count in stride(from: 0, to: whole.count, by: 7) {
            PlaceFiles.overwrite(path, whole.prefix(count))
            #expect(throws: GeoDatabaseError.self, "\(count) of \(whole.count)") {
                let place = try open().location(of: "192.0.2.9")
                // Where only the end of what describes the file is gone, the places are there.
                if place == Self.munich { throw GeoDatabaseError.broken("") }
            }
        }
    }

    @Test("bytes that were changed, any of them, end in another place, none, or an error, and in nothing worse")
    func corrupted() async throws {
        try await PlaceFiles.write(path)
        let whole = PlaceFiles.bytes(path)
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= index % 2 == 0 ? 0xFF : 0x20
            PlaceFiles.overwrite(path, bytes)
            guard let database = try? open() else { continue }
            for (address, _, _) in Self.places.prefix(8) { _ = try? database.location(of: address) }
        }
    }

    @Test("a file that is shortened or written over while it is in use does no harm")
    func overwritten() async throws {
        try await PlaceFiles.write(path)
        let database = try open()
        PlaceFiles.overwrite(path, Data())
        for _ in 0..<3 { #expect(try database.location(of: "192.0.2.9") == Self.munich) }
    }
}
