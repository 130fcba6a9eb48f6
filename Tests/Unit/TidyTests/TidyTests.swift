import FoundationEssentials
import Repository
import Testing

/// The repository checks itself: what a reader may rely on in every file.
struct TidyTests {
    private struct File {
        var path: String
        var lines: [Substring]
    }

    /// The files below `folders` with names that end in `suffix`, by path.
    private static func files(_ folders: [String], _ suffix: String) throws -> [File] {
        try folders.flatMap { folder in
            let base = Repository.root.appending(path: folder).path
            return try FileManager.default.subpathsOfDirectory(atPath: base).filter { $0.hasSuffix(suffix) }.sorted()
                .map {
                    let path = base + "/" + $0
                    let text = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
                    return File(
                        path: folder + "/" + $0,
                        lines: text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(1))
                }
        }
    }

    @Test func sourceFiles_areShort() throws {
        let counts = try Self.files(["Sources"], ".swift").map { ($0.lines.count, $0.path) }
        for (count, path) in counts { #expect(count <= 400, "\(path)") }
        let median = counts.map(\.0).sorted()[counts.count / 2]
        #expect(median <= 130)
    }

    @Test("a function has at most 70 lines, and one of a test at most 60", arguments: [("Sources", 70), ("Tests", 60)])
    func functions_fitAScreen(folder: String, bound: Int) throws {
        for file in try Self.files([folder], ".swift") {
            var start: (line: Int, indent: Int)?
            for (number, line) in file.lines.enumerated() {
                let indent = line.prefix { $0 == " " }.count
                let text = line.dropFirst(indent)
                let isBegin = text.contains("func ") && !text.hasPrefix("//") && !text.hasSuffix("}")
                if start == nil, isBegin { start = (number, indent) }
                if let open = start, indent == open.indent, text == "}" {
                    #expect(number - open.line <= bound, "\(file.path):\(open.line + 1)")
                    start = nil
                } else if let open = start, indent <= open.indent, number > open.line, text.hasSuffix("}") {
                    start = nil
                }
            }
        }
    }

    /// What no source file may hold, and where it may all the same.
    private static let banned: [(word: String, allowed: [String])] = [
        ("TO" + "DO", []), ("FIX" + "ME", []), ("for " + "now", []), ("try" + "!", []), (" as" + "! ", []),
        ("Date" + "()", []),
        ("DispatchSemaphore" + "(", ["SQLiteStore/", "PostgresStore/", "Server/", "sojourn/", "sojourn-bench/"]),
        (
            "import Found" + "ation\n",
            ["SojournClient/", "SojournTestKit/", "sojourn-phone/", "sojourn-demo/", "sojourn-conformance/"]
        ),
        (" print" + "(", ["sojourn/", "sojourn-bench/", "sojourn-conformance/"]),
        ("nonisolated(" + "unsafe)", []),
    ]

    @Test(arguments: banned.indices) func sources_holdNothingBanned(index: Int) throws {
        let (word, allowed) = Self.banned[index]
        for file in try Self.files(["Sources", "migrations"], ".swift") {
            if allowed.contains(where: { file.path.hasPrefix("Sources/" + $0) }) { continue }
            for (number, line) in file.lines.enumerated() {
                #expect(!(line + "\n").contains(word), "\(file.path):\(number + 1): \(word)")
            }
        }
    }

    @Test func modulesWithoutFoundation_stayWithoutIt() throws {
        let folders = ["HTTP", "Cryptography", "EventLoops", "Sockets", "TLS", "HTTPClient", "HTTPServer"].map {
            "Sources/" + $0
        }
        for file in try Self.files(folders, ".swift") {
            #expect(!file.lines.contains { $0.contains("import Foundation") }, "\(file.path)")
        }
    }

    @Test func onlyCryptographyAndTLS_seeOpenSSL_andOnlyTheStore_seesSQLite() throws {
        // The measurements look at the libraries alone as well.
        for file in try Self.files(["Sources"], ".swift") where !file.path.hasPrefix("Sources/sojourn-bench/") {
            for (module, folders) in [
                ("COpenSSL", ["Cryptography/", "TLS/"]), ("CSQLite", ["SQLiteStore/"]), ("CCurl", ["HTTPClient/"]),
                ("CMaxMindDB", ["Geolocation/"]), ("CQREncode", ["QRCode/"]), ("CUnistring", ["PRECIS/"]),
            ] where !folders.contains(where: { file.path.hasPrefix("Sources/" + $0) }) {
                #expect(!file.lines.contains { $0.hasSuffix("import \(module)") }, "\(file.path)")
            }
        }
    }

    @Test func theImage_isBuiltFromAllThatTheBuildReads() throws {
        func lines(_ path: String) throws -> [Substring] {
            let bytes = try #require(FileManager.default.contents(atPath: Repository.root.appending(path: path).path))
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        }
        // What the manifest names by its path, and what C embeds: `path: "migrations"`, `#embed "../../../config/openapi/schemas.json"`.
        let named = try lines("Package.swift").compactMap { try #/path: "([^\/"]+)/#.firstMatch(in: $0)?.1 }
        let embedded = try Self.files(["Sources"], ".c").flatMap(\.lines)
            .compactMap { try #/#embed "(?:\.\.\/)+([^\/"]+)/#.firstMatch(in: $0)?.1 }
        let read = Set(["Package.swift", "Sources", "Tests"] + named + embedded)
        #expect(read.isSuperset(of: ["migrations", "config"]))

        let stage = try lines("docker/Dockerfile").drop { !$0.hasPrefix("FROM") }.dropFirst()
            .prefix { !$0.hasPrefix("FROM") }
        #expect(Set(stage.compactMap { $0.firstMatch(of: #/^COPY ([^ ]+)/#)?.1 }) == read)
        let sent = try lines("docker/Dockerfile.dockerignore").filter { $0.hasPrefix("!") }.map { $0.dropFirst() }
        #expect(Set(sent) == read)
    }

    @Test("the initializer of a route names no path: what is true of one call alone is said by its row")
    func onlyRowsNamePaths() throws {
        let path = Repository.root.appending(path: "Sources/Endpoints/Routing/Route.swift").path
        let source = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
        let paths = source.split(separator: "\n").filter {
            !$0.contains("///") && $0.contains(#/"\/[a-zA-Z.]|hasPrefix/#)
        }
        #expect(source.contains("countsRefusals"))
        #expect(paths == [])
    }

    @Test func theTopLevel_holdsNothingElse() throws {
        let allowed: Set = [
            "Package.swift", "Sources", "Tests", "migrations", "config", "docker", "README.md", "LICENSE", ".ci",
            ".gitignore", ".swift-format", ".git", ".build", "Package.resolved",
        ]
        let names = try FileManager.default.contentsOfDirectory(atPath: Repository.root.path)
        #expect(Set(names).subtracting(allowed) == [])
    }
}
