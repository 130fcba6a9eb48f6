import FoundationEssentials
import Repository
import Testing

/// A page of the manual, or the README, taken apart into what a reader sees: prose, headings, links, code.
struct Page {
    /// Something on a page, with the number of its line.
    struct Part {
        var line: Int
        var text: String
    }

    /// What a line is.
    private enum Kind {
        case prose, heading, table, other
    }

    /// The path from the top of the repository.
    let path: String
    /// How many lines the file has.
    let lineCount: Int
    /// The lines outside code blocks and tables.
    private(set) var textLines: [Part] = []
    /// The lines that belong to sentences.
    private(set) var proseLines: [Part] = []
    /// The paragraphs, each as one text; an item of a list is a paragraph.
    private(set) var paragraphs: [Part] = []
    /// The headings, without their marks.
    private(set) var headings: [Part] = []
    /// All lines outside code blocks.
    private var spokenLines: [Part] = []

    /// Reads the file at `path`, given from the top of the repository.
    init(_ path: String) throws {
        let bytes = try #require(FileManager.default.contents(atPath: Manual.path(path)), "\(path)")
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        self.path = path
        lineCount = lines.count - 1
        var isCode = false
        var paragraph: Part?
        for (index, line) in lines.enumerated() {
            let part = Part(line: index + 1, text: String(line))
            let text = line.drop { $0 == " " }
            if text.hasPrefix("```") { isCode.toggle() }
            let isSpoken = !isCode && !text.hasPrefix("```")
            let kind = isSpoken ? Self.kind(of: text) : .other
            let isItem = text.contains(#/^([-*]|[0-9]+\.) /#)
            if kind != .prose || isItem, let ended = paragraph.take() { paragraphs.append(ended) }
            if isSpoken { spokenLines.append(part) }
            if isSpoken, kind != .table { textLines.append(part) }
            switch kind {
            case .prose:
                proseLines.append(part)
                let words = isItem ? text.drop { $0 != " " } : text
                paragraph = Part(
                    line: paragraph?.line ?? part.line, text: (paragraph.map { $0.text + " " } ?? "") + words)
            case .heading: headings.append(Part(line: part.line, text: String(text.drop { $0 == "#" || $0 == " " })))
            case .table, .other: break
            }
        }
        if let paragraph { paragraphs.append(paragraph) }
    }

    private static func kind(of text: Substring) -> Kind {
        switch text.first {
        case nil, "@", "}": .other
        case "#": .heading
        case "|": .table
        default: .prose
        }
    }

    /// The sentences of the prose. Targets of links are left out, because no reader sees them.
    var sentences: [Part] {
        paragraphs.flatMap { paragraph in
            let text = paragraph.text.replacing(#/\]\([^)]*\)/#, with: "]")
            return text.replacing(#/([.?!]["*)]*)\s+/#, with: { "\($0.1)\n" }).split(separator: "\n")
                .map { Part(line: paragraph.line, text: String($0)) }
        }
    }

    /// The targets of the links, as they are written.
    var links: [Part] {
        spokenLines.flatMap { line in
            line.text.replacing(#/`[^`]*`/#, with: "").matches(of: #/\]\(([^)\s]+)\)/#)
                .map { Part(line: line.line, text: String($0.1)) }
        }
    }

    /// The files of the pictures.
    var pictures: [Part] {
        spokenLines.flatMap { line in
            line.text.matches(of: #/!\[[^\]]+\]\(([^)\s]+)\)/#).map { Part(line: line.line, text: String($0.1)) }
        }
    }

    /// The lines of tables, their heads included.
    var tableLines: [Part] { spokenLines.filter { $0.text.hasPrefix("|") } }

    /// The texts in backticks.
    var codeSpans: [Part] {
        spokenLines.flatMap { line in
            line.text.matches(of: #/`([^`]+)`/#).map { Part(line: line.line, text: String($0.1)) }
        }
    }

    /// The names by which links reach the headings, as forges make them.
    var anchors: Set<String> {
        var counts: [String: Int] = [:]
        return Set(
            headings.map { heading in
                let text = heading.text.replacing(#/\]\([^)]*\)/#, with: "").lowercased()
                let kept = text.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
                let anchor = kept.replacing(" ", with: "-")
                let count = counts[anchor, default: 0]
                counts[anchor] = count + 1
                return count == 0 ? anchor : "\(anchor)-\(count)"
            })
    }

    /// The path from the top that a relative link of this page leads to.
    func resolved(_ target: Substring) -> String {
        var folders = path.split(separator: "/").dropLast()
        for part in target.split(separator: "/") where part != "." {
            if part == ".." { _ = folders.popLast() } else { folders.append(part) }
        }
        return folders.joined(separator: "/")
    }
}

/// Where the manual is.
enum Manual {
    /// The folder of all pages.
    static let catalog = "Sources/sojourn/Sojourn.docc"

    /// The absolute path of a file or folder.
    static func path(_ relative: String) -> String { Repository.path(relative) }

    /// Whether that file or folder exists.
    static func exists(_ relative: String) -> Bool { FileManager.default.fileExists(atPath: path(relative)) }

    /// The names in a folder.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(folder)).sorted()
    }

    /// The paths of all files below a folder with that ending.
    static func files(in folder: String, _ suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path(folder)).filter { $0.hasSuffix(suffix) }.sorted()
            .map { "\(folder)/\($0)" }
    }

    /// The README and all pages of the catalog, read once.
    private static let read = Result {
        try (["README.md"] + files(in: catalog, ".md")).map { try Page($0) }
    }

    /// The README and all pages of the catalog.
    static func all() throws -> [Page] { try read.get() }

    /// All pages of the catalog.
    static func pages() throws -> [Page] { try all().filter { $0.path.hasPrefix(catalog) } }

    /// The page at a path below the catalog, without its ending.
    static func page(_ name: String) throws -> Page {
        try #require(try all().first { $0.path == "\(catalog)/\(name).md" }, "\(name)")
    }
}
