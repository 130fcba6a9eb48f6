import FoundationEssentials
import Repository
import Testing

/// A reader finds a file: folders are small, and each target opens with a file of its name.
struct FolderTests {
    private static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: Repository.path(path), isDirectory: &isFolder) && isFolder
    }

    private static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Repository.path(folder)).sorted()
    }

    @Test("a folder holds at most 20 files") func foldersAreSmall() throws {
        for top in ["Sources", "Tests", "migrations"] {
            let below = try FileManager.default.subpathsOfDirectory(atPath: Repository.path(top))
            let folders = [top] + below.map { "\(top)/\($0)" }.filter(Self.isFolder)
            for folder in folders {
                let count = try Self.names(in: folder).count { !Self.isFolder("\(folder)/\($0)") }
                #expect(count <= 20, "\(folder)")
            }
        }
    }

    @Test("no folder is named after a kind of code, or `Login` alone") func foldersAreFeatures() throws {
        for top in ["Sources", "Tests"] {
            let below = try FileManager.default.subpathsOfDirectory(atPath: Repository.path(top))
            for folder in below where Self.isFolder("\(top)/\(folder)") {
                let name = folder.split(separator: "/").last ?? ""
                #expect(!["Login", "Logins", "UseCases", "Procedures"].contains(name), "\(top)/\(folder)")
            }
        }
    }

    @Test("a feature of the domain has the same folder in the endpoints, the pages and the SDK")
    func featuresAreNamedOnce() throws {
        let features = try Self.names(in: "Sources/Sessions")
        for target in ["Endpoints", "Pages", "SojournClient"] {
            for name in try Self.names(in: "Sources/\(target)") where Self.isFolder("Sources/\(target)/\(name)") {
                let isNamed = features.contains(name) || Remaining.otherFolders.contains("\(target)/\(name)")
                #expect(isNamed, "Sources/\(target)/\(name)")
            }
        }
    }

    @Test("no two files of a target share a name") func filesAreDistinct() throws {
        var places: [String: [String]] = [:]
        for file in try ["Sources", "Tests", "migrations"].flatMap(SourceFile.all) {
            let name = file.path.split(separator: "/").last ?? ""
            places["\(file.target)/\(name)", default: []].append(file.path)
        }
        #expect(places.count > 1500)
        for (name, places) in places { #expect(places.count == 1, "\(name): \(places)") }
    }

    @Test("the architecture and the opening file name every folder of the domain") func foldersOfTheDomain() throws {
        let opening = try String(contentsOfFile: Repository.path("Sources/Sessions/Sessions.swift"), encoding: .utf8)
        let architecture = try String(
            contentsOfFile: Repository.path("Sources/sojourn/Sojourn.docc/Internals/Architecture.md"), encoding: .utf8)
        let folders = try Self.names(in: "Sources/Sessions").filter { Self.isFolder("Sources/Sessions/\($0)") }
        #expect(folders.count > 15)
        for folder in folders {
            #expect(opening.contains("// - \(folder) "), "\(folder)")
            #expect(architecture.contains("`\(folder)`"), "\(folder)")
        }
    }

    @Test("a target opens with a file of its name") func targetsAreOpened() throws {
        func plain(_ name: some StringProtocol) -> String { name.lowercased().filter { $0 != "-" } }
        var targets: [String: Set<String>] = [:]
        for file in try SourceFile.all(in: "Sources") + SourceFile.all(in: "migrations") {
            let name = file.path.split(separator: "/").last?.split(separator: ".").first ?? ""
            targets[String(file.target), default: []].insert(plain(name))
        }
        #expect(targets.count > 15)
        for (target, names) in targets where !Remaining.unopenedTargets.contains(target) {
            #expect(names.contains(plain(target)), "\(target)")
        }
    }

    @Test("the file that opens a target says what it owns, what it must not know, and in which order to read it")
    func targetsSayWhatTheyOwn() throws {
        let files = try SourceFile.all(in: "Sources") + SourceFile.all(in: "migrations")
        for (target, members) in Dictionary(grouping: files, by: \.target) {
            let opening = members.first { file in
                let name = file.path.split(separator: "/").last?.dropLast(".swift".count)
                return name?.lowercased() == target.lowercased().filter { $0 != "-" }
            }
            // Another test demands the file.
            guard let opening else { continue }
            let comment = opening.lines.drop { !$0.hasPrefix("//") }.prefix { $0.hasPrefix("//") }
            let text = comment.joined(separator: " ").replacing(#/\s+\/+\s*/#, with: " ").lowercased()
            #expect(text.contains(#/\bowns\b/#), "\(opening.path)")
            #expect(text.contains(#/\bmust not know\b|\bknows no(?:thing)?\b/#), "\(opening.path)")
            // Three files need no order.
            #expect(members.count <= 3 || text.contains("reading order: "), "\(opening.path)")
        }
    }
}
