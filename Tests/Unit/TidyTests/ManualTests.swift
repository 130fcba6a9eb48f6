import FoundationEssentials
import Testing

/// The README and the manual check themselves: short, in plain sentences, with links and paths that lead somewhere.
struct ManualTests {
    // MARK: Size and language

    @Test("the README has at most 150 lines") func readmeIsShort() throws {
        #expect(try Page("README.md").lineCount <= 150)
    }

    @Test("the README has the two commands") func readmeHasTheCommands() throws {
        let bytes = try #require(FileManager.default.contents(atPath: Manual.path("README.md")))
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.contains { $0 == ".ci/setup && swift run -c release sojourn-demo" })
        #expect(lines.contains(".ci/run"))
    }

    @Test("no line of text is longer than 120 columns") func linesAreShort() throws {
        for page in try Manual.all() {
            for line in page.textLines { #expect(line.text.count <= 120, "\(page.path):\(line.line)") }
        }
    }

    @Test("no sentence has more than 35 words") func sentencesAreShort() throws {
        for page in try Manual.all() {
            for sentence in page.sentences {
                let count = sentence.text.split(whereSeparator: \.isWhitespace).count
                #expect(count <= 35, "\(page.path):\(sentence.line): \(count) words: \(sentence.text)")
            }
        }
    }

    @Test("at most one line of prose in a hundred is about persons that have no name") func subjectsAreNouns() throws {
        let words = #/\b(?:who|whom|whose|whoever|nobody|somebody|anybody)\b/#.ignoresCase()
        let pages = try Manual.all()
        let found = pages.flatMap { page in
            page.proseLines.filter { $0.text.replacing(#/`[^`]*`/#, with: "").contains(words) }
                .map { "\(page.path):\($0.line)" }
        }
        let count = pages.map(\.proseLines.count).reduce(0, +)
        #expect(found.count * 100 <= count, "\(found.count) of \(count): \(found)")
    }

    // MARK: Links

    @Test("every page begins with a title and a sentence, and has a name of its own") func pagesHaveTitles() throws {
        let pages = try Manual.pages()
        for page in pages {
            #expect(page.headings.first?.line == 1, "\(page.path)")
            #expect(page.paragraphs.first?.line == 3, "\(page.path)")
        }
        let names = pages.compactMap { $0.path.split(separator: "/").last }
        let repeated = names.filter { name in names.count { $0 == name } > 1 }
        #expect(repeated == [])
    }

    @Test("every relative link leads to a file and a heading that exist") func linksLeadSomewhere() throws {
        let anchors = Dictionary(uniqueKeysWithValues: try Manual.all().map { ($0.path, $0.anchors) })
        for page in try Manual.all() {
            for link in page.links where !link.text.contains(":") {
                let parts = link.text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let path = parts[0].isEmpty ? page.path : page.resolved(parts[0])
                guard Manual.exists(path) else {
                    Issue.record("\(page.path):\(link.line): there is no \(link.text)")
                    continue
                }
                guard parts.count == 2 else { continue }
                #expect(
                    anchors[path]?.contains(String(parts[1])) == true, "\(page.path):\(link.line): \(link.text)")
            }
        }
    }

    /// Nothing else in the repository is binary: pictures show the product, and a script makes them.
    @Test("the only binary files are at most twelve pictures of 60 KiB, each on a page beside it")
    func picturesAreSmallAndShown() throws {
        let endings = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".pdf", ".zip", ".gz", ".sqlite", ".woff2"]
        let files = try ["Sources", "Tests", "config", "docker", "migrations"].flatMap { folder in
            try endings.flatMap { ending in try Manual.files(in: folder, ending) }
        }
        let shown = try Manual.all().flatMap { page in
            page.pictures.map { (path: page.resolved($0.text[...]), page: page.path) }
        }
        #expect(files.count <= 12 && !files.isEmpty)
        for file in files {
            let size = FileManager.default.contents(atPath: Manual.path(file))?.count ?? .max
            #expect(file.hasSuffix(".png") && size <= 60 * 1024, "\(file): \(size)")
            #expect(shown.contains { $0.path == file }, "\(file) is on no page")
        }
        for (path, page) in shown { #expect(files.contains(path), "\(page): there is no \(path)") }
    }

    @Test("the first page links every other one") func everyPageIsReached() throws {
        let first = try Manual.page("Sojourn")
        let reached = Set(first.links.map { first.resolved($0.text.prefix { $0 != "#" }) })
        for page in try Manual.pages() where page.path != first.path {
            #expect(reached.contains(page.path), "\(page.path)")
        }
    }

    @Test("no list of the first page has more than twelve links") func listsAreShort() throws {
        let lines = try Manual.page("Sojourn").textLines.map(\.text)
        let lists = lines.split { !$0.hasPrefix("- ") && !$0.hasPrefix("  ") }
        #expect(lists.count >= 10)
        for list in lists { #expect(list.count { $0.hasPrefix("- ") } <= 12, "\(list.first ?? "")") }
    }

    // MARK: What the manual says of the repository

    @Test("every path in the manual exists") func pathsExist() throws {
        for page in try Manual.all() {
            for span in page.codeSpans {
                guard let path = span.text.firstMatch(of: #/^(?:\.ci|Sources|Tests|config)\/[^\s]+/#)?.0 else {
                    continue
                }
                // A pattern or a name to be filled in.
                if path.contains(where: { "*<…".contains($0) }) { continue }
                #expect(Manual.exists(String(path)), "\(page.path):\(span.line): \(path)")
            }
        }
    }

    @Test("the architecture names every module") func everyModuleIsNamed() throws {
        let named = Set(try Manual.page("Internals/Architecture").codeSpans.map(\.text))
        let modules = try Self.modules(in: "Sources") + ["Migrations"]
        #expect(modules.count > 20)
        for module in modules { #expect(named.contains(module), "\(module)") }
    }

    /// A folder with files is a module; one with folders alone holds modules.
    private static func modules(in folder: String) throws -> [String] {
        try Manual.names(in: folder).flatMap { name in
            let path = "\(folder)/\(name)"
            let holdsFiles = try Manual.names(in: path).contains { $0.contains(".") && !$0.hasSuffix(".docc") }
            return holdsFiles ? [name] : try modules(in: path)
        }
    }

    /// Every suite in the tests.
    private static func suites() throws -> Set<String> {
        let names = try Manual.files(in: "Tests", ".swift").flatMap { path in
            let bytes = try #require(FileManager.default.contents(atPath: Manual.path(path)))
            return String(decoding: bytes, as: UTF8.self).matches(of: #/\bstruct (\w+Tests)\b/#).map { String($0.1) }
        }
        return Set(names)
    }

    @Test("the table of ASVS names suites that exist") func suitesOfTheStandardExist() throws {
        let path = "\(Manual.catalog)/Security/ASVS.md"
        let bytes = try #require(FileManager.default.contents(atPath: Manual.path(path)))
        let rows = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("| ") }
        let named = rows.flatMap { row in row.matches(of: #/\w+Tests\b/#).map { String($0.0) } }
        #expect(named.count > 60)
        let unknown = Set(named).subtracting(try Self.suites())
        #expect(unknown == [])
    }

    @Test("the table of other SDKs' requirements has each row once, with suites that exist or a reason")
    func requirementsAreShownOrRefused() throws {
        let path = "\(Manual.catalog)/Internals/Evidence/VendorRequirements.md"
        let bytes = try #require(FileManager.default.contents(atPath: Manual.path(path)))
        let rows = String(decoding: bytes, as: UTF8.self).matches(of: #/\n\| (\w{3}-\d\d) \| (.+) \|/#)
        let expected = [("SLI", 27), ("AMB", 66), ("KII", 35)].flatMap { name, count in
            (1...count).map { "\(name)-\($0 < 10 ? "0" : "")\($0)" }
        }
        #expect(rows.map { String($0.1) } == expected)
        let suites = try Self.suites()
        for row in rows {
            let named = row.2.matches(of: #/`(\w+Tests)`/#).map { String($0.1) }
            let isShown = row.2.hasPrefix("works: ") && row.2.contains("; shown by ") && !named.isEmpty
            #expect(isShown || row.2.wholeMatch(of: #/refused: .{20,}/#) != nil, "\(row.1)")
            #expect(Set(named).subtracting(suites) == [], "\(row.1)")
        }
    }

    @Test("the table of a vendor's lifecycle has each sentence once, with suites that exist")
    func lifecycleIsShown() throws {
        let page = try Manual.page("Internals/Evidence/VendorLifecycle")
        let rows = page.tableLines.filter { $0.text.hasPrefix("| LIFE-") }
        let numbers = rows.compactMap { Int($0.text.dropFirst("| LIFE-".count).prefix(2)) }
        #expect(rows.count >= 66 && numbers == Array(1...rows.count))
        let suites = try Self.suites()
        for row in rows {
            let named = row.text.matches(of: #/`(\w+Tests)`/#).map { String($0.1) }
            #expect(Set(named).subtracting(suites) == [], "\(row.line)")
        }
    }

    /// Nouns that the field has not, or has for something else.
    private static let nouns = [
        "bond", "claim", "companion", "probation", "enrolment", "invitation", "arrival", "matching number", "notice",
        "ping", "policy", "attempt", "outcome", "procedure", "overview", "service", "delivery", "heartbeat",
        "catalogue",
    ]

    @Test("the glossary has a line for each noun of the house, and no term twice") func nounsAreExplained() throws {
        let terms = try Manual.page("Internals/Glossary").tableLines.compactMap { row in
            row.text.wholeMatch(of: #/\| (.+?) \| .+/#)?.1
        }
        let words = terms.filter { $0 != "term" && $0 != "---" }.flatMap { $0.split(separator: ", ") }.map(String.init)
        #expect(Set(Self.nouns).subtracting(words) == [])
        #expect(words.filter { word in words.count { $0 == word } > 1 } == [])
    }

    @Test("the pages about tests name suites that exist") func suitesOfTheManualExist() throws {
        for name in ["Testing", "Rotation", "Contributing"] {
            let spans = try Manual.page("Internals/\(name)").codeSpans.map(\.text)
            let named = spans.filter { $0.wholeMatch(of: #/\w+Tests/#) != nil }
            #expect(!named.isEmpty)
            let unknown = Set(named).subtracting(try Self.suites())
            #expect(unknown == [], "\(name)")
        }
    }
}
