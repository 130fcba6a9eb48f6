import Foundation
import Repository
import Testing

/// The code for Apple platforms is compiled here against stand-ins for their modules. This proves syntax, types, isolation and
/// the warnings of the compiler, not that the stand-ins are like Apple's headers.
struct AppleSourcesTests {
    private static let features = [
        "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
    ]

    private static func sources(_ module: String = "SojournClient") throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: Repository.path("Sources/\(module)"))
            .filter { $0.hasSuffix(".swift") }.sorted().map { "Sources/\(module)/\($0)" }
    }

    @Test("SojournClient and SojournEvents compile as on Apple platforms, without a warning")
    func compiles() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apple-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let common = ["swiftc", "-parse-as-library", "-swift-version", "6", "-Onone", "-I", folder.path]
        // Security and LocalAuthentication first, because another stand-in imports them.
        for module in [
            "Security", "LocalAuthentication", "CommonCrypto", "CryptoKit", "UIKit", "os", "AuthenticationServices",
        ] {
            let output = try Tool.run(
                common + [
                    "-emit-module", "-module-name", module, "-o", "\(folder.path)/\(module).swiftmodule",
                    "Tests/AppleStubs/\(module).swift",
                ])
            #expect(output.status == 0, "\(module): \(output.errors)")
        }
        for module in ["SojournClient", "SojournEvents"] {
            let output = try Tool.run(
                common + Self.features.flatMap { ["-enable-upcoming-feature", $0] } + [
                    "-warnings-as-errors", "-package-name", "sojourn", "-module-name", module, "-wmo", "-c", "-o",
                    "\(folder.path)/\(module).o", "-emit-module", "-emit-module-path",
                    "\(folder.path)/\(module).swiftmodule",
                ] + (try Self.sources(module)))
            #expect(output.status == 0, "\(module): \(output.errors)")
        }
    }

    @Test("the stand-ins switch on every branch for Apple platforms")
    func branches() throws {
        // On Linux as well: Foundation's part for the network.
        let known: Set = [
            "Security", "LocalAuthentication", "CryptoKit", "UIKit", "os", "AuthenticationServices",
            "FoundationNetworking",
            "Darwin", "Glibc", "Musl",
        ]
        for path in try Self.sources() {
            let text = try String(contentsOfFile: Repository.path(path), encoding: .utf8)
            for match in text.matches(of: #/canImport\((\w+)\)/#) {
                #expect(known.contains(String(match.1)), "\(path): \(match.1)")
            }
            for line in text.split(separator: "\n") where line.contains(#/^ *#(?:if|elseif) /#) {
                let hasOther = line.contains(#/os\(|targetEnvironment|arch\(|compiler\(|swift\(/#)
                #expect(!hasOther, "\(path): the compiler here does not see: \(line)")
            }
        }
    }

    @Test("nothing that the products for apps depend on has unsafe flags")
    func unsafeFlags() throws {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("dump-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let output = try Tool.run(
            ["swift", "package", "--scratch-path", scratch.path, "dump-package"], environment: ["SOJOURN_TESTS": "none"]
        )
        try #require(output.status == 0, "\(output.errors)")
        let manifest = try JSONDecoder().decode(Manifest.self, from: Data(output.text.utf8))
        let targets = Dictionary(uniqueKeysWithValues: manifest.targets.map { ($0.name, $0) })
        var open = manifest.products.filter { $0.name.hasPrefix("Sojourn") }.flatMap(\.targets)
        #expect(open.count >= 2)
        var closure: Set<String> = []
        while let name = open.popLast() {
            guard closure.insert(name).inserted else { continue }
            let target = try #require(targets[name])
            #expect(!target.settings.contains { $0.kind["unsafeFlags"] != nil }, "\(name)")
            open += target.dependencies.flatMap(\.names)
        }
        #expect(closure.isSuperset(of: ["SojournClient", "SojournTestKit", "Cryptography", "Locks"]))
        // Otherwise the rule above looks at nothing.
        #expect(targets["HTTPServer"]?.settings.contains { $0.kind["unsafeFlags"] != nil } == true)
    }

    private struct Manifest: Decodable {
        var products: [Product]
        var targets: [Target]
    }

    private struct Product: Decodable {
        var name: String
        var targets: [String]
    }

    private struct Target: Decodable {
        var name: String
        var dependencies: [Dependency]
        var settings: [Setting]
    }

    /// A dependency: a name and a condition, under the key of its kind.
    private struct Dependency: Decodable {
        var names: [String]

        init(from decoder: any Decoder) throws {
            let kinds = try decoder.singleValueContainer().decode([String: [Value]].self)
            names = kinds.values.flatMap { $0.prefix(1).compactMap(\.text) }
        }
    }

    private struct Setting: Decodable {
        var kind: [String: Value]
    }

    /// A value of which only a text matters.
    private struct Value: Decodable {
        var text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }
}
