import FoundationEssentials
import Repository
import Testing

/// A name means one thing, and the field knows it.
struct NameTests {
    /// Names that were coined here, for which the field has a word.
    private static let coinages: Set<Substring> = [
        "Doors", "Surroundings", "Upkeep", "Patience", "Guesses", "RollingToken", "Entrance", "Disguise", "Abandonment",
        "Contradiction", "Survey", "Taker", "Lanes", "Wording", "Spelling", "Examination", "Betrayal", "PatientReply",
        "EngineAnswer", "ProofJudge", "ProofOccasion", "PasswordTurns", "ImportMemory",
    ]

    @Test("no type has a coined name") func typesHaveTheWordsOfTheField() throws {
        for file in try SourceFile.all(in: "Sources") + SourceFile.all(in: "Tests") {
            for type in file.declarations where !Remaining.coinages.contains(String(type.name)) {
                let isCoined = Self.coinages.contains(type.name)
                // What tests share is a fixture.
                let isStage = file.path.hasPrefix("Tests/") && type.name.hasSuffix("Stage")
                #expect(!isCoined && !isStage, "\(file.path):\(type.line): \(type.name)")
            }
        }
    }

    @Test("a type of the server with `Login` in its name begins with its feature") func loginsHaveAFeature() throws {
        let sdk: Set<Substring> = [
            "SojournClient", "SojournTestKit", "SojournEvents", "sojourn-bench", "sojourn-phone",
        ]
        let features = ["PasswordLogin", "PageLogin", "PhoneLogin"]
        var others: Set<String> = []
        for file in try SourceFile.all(in: "Sources") where !sdk.contains(file.target) {
            for type in file.declarations where type.name.contains("Login") {
                if !features.contains(where: type.name.hasPrefix) { others.insert(String(type.name)) }
            }
        }
        #expect(others == Remaining.loginNames)
    }

    @Test("a module has no two types of one name") func typesAreDistinct() throws {
        let top = ["Sources", "Tests"]
        var places: [String: [String]] = [:]
        for file in try top.flatMap(SourceFile.all) {
            for type in file.declarations where type.isTopLevel {
                places["\(file.target).\(type.name)", default: []].append("\(file.path):\(type.line)")
            }
        }
        #expect(places.count > 700)
        for (name, places) in places { #expect(places.count == 1, "\(name): \(places)") }
    }

    @Test("no type is named like a module") func typesAreNoModules() throws {
        let modules = Set(try SourceFile.all(in: "Sources").map(\.target))
        for file in try SourceFile.all(in: "Sources") {
            for type in file.declarations where type.isTopLevel && !Remaining.moduleNames.contains(String(type.name)) {
                #expect(!modules.contains(type.name), "\(file.path):\(type.line): \(type.name)")
            }
        }
    }

    @Test("no two suites share a name") func suitesAreDistinct() throws {
        var places: [String: [String]] = [:]
        for file in try SourceFile.all(in: "Tests") where file.lines.contains(where: { $0.contains("@Test") }) {
            for type in file.declarations where type.isTopLevel && type.name.hasSuffix("Tests") {
                places[String(type.name), default: []].append(file.path)
            }
        }
        #expect(places.count > 200)
        for (name, places) in places {
            #expect(places.count == 1, "\(name): \(places)")
        }
    }

    @Test("a protocol of rows has at most sixteen requirements, and those of the store only join them")
    func theProtocolsOfRowsAreSmall() throws {
        let requirement = #/^    (func|var) /#
        for file in try SourceFile.all(in: "Sources") where file.target == "Sessions" {
            for (index, line) in file.lines.enumerated() {
                guard let name = line.prefixMatch(of: #/public protocol (\w+(Reader|Transaction))\b/#)?.1 else {
                    continue
                }
                let body = file.lines[index...].prefix { $0 != "}" }
                let count = body.count { $0.prefixMatch(of: requirement) != nil }
                let isJoin = ["StoreReader", "StoreTransaction"].contains(name)
                #expect(count <= (isJoin ? 2 : 16), "\(file.path):\(index + 1) \(name) has \(count)")
            }
        }
    }

    @Test("few closures name their error type, because the compiler infers none") func fewClosuresNameTheirError()
        throws
    {
        let count = try SourceFile.all(in: "Sources").reduce(0) { sum, file in
            sum + file.lines.count { $0.contains(#/\{.*throws\(\w+\).* in\b/#) }
        }
        #expect(count <= Remaining.closuresThatNameTheirError, "\(count)")
    }

    @Test("the protocol of the stores has at most ten requirements") func theStoreIsSmall() throws {
        #expect(try (1...10).contains(Self.requirements(of: "Store")))
    }

    /// The number of requirements of a public protocol, without those that it inherits.
    private static func requirements(of name: String) throws -> Int {
        var count = 0
        for file in try SourceFile.all(in: "Sources") {
            let head = #/^public protocol (\w+)/#
            guard let start = file.lines.firstIndex(where: { $0.firstMatch(of: head).map { $0.1 == name } ?? false })
            else { continue }
            count += file.lines[start...].prefix { $0 != "}" }.count {
                $0.contains(#/^    (?:mutating |static )?(?:func|var|init|subscript)\b/#)
            }
        }
        return count
    }
}
