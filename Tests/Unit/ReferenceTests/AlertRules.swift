import FoundationEssentials
import Repository
import Testing

/// The rules of `config/prometheus/alerts.yml`, read line by line: each rule has the same lines in the same order, and each value is
/// a plain word or a text in single quotes. Anything else in the file is an error, so that no reader of YAML sees it otherwise.
struct AlertRules {
    /// A rule, by the names of its lines.
    struct Rule {
        var line: Int
        var values: [String: String] = [:]

        subscript(name: String) -> String { values[name] ?? "" }
    }

    /// A line of the file that is not as it must be.
    struct Unreadable: Error, CustomStringConvertible {
        var description: String
    }

    static let path = "config/prometheus/alerts.yml"
    /// The lines of a rule; a name that ends in a colon opens a block.
    private static let shape: [(indent: String, name: String, isBlock: Bool)] = [
        ("      - ", "alert", false), ("        ", "expr", false), ("        ", "for", false),
        ("        ", "labels", true), ("          ", "severity", false), ("        ", "annotations", true),
        ("          ", "summary", false), ("          ", "description", false), ("          ", "runbook_url", false),
    ]

    private(set) var rules: [Rule] = []

    init() throws {
        let bytes = try #require(FileManager.default.contents(atPath: Repository.path(Self.path)))
        try self.init(text: String(decoding: bytes, as: UTF8.self))
    }

    init(text: String) throws {
        let lines = text.split(separator: "\n").enumerated().filter { !$0.element.hasPrefix("#") }
        guard lines.prefix(3).map(\.element) == ["groups:", "  - name: sojourn", "    rules:"] else {
            throw Unreadable(description: "the head")
        }
        var place = 0
        for (number, line) in lines.dropFirst(3) {
            let (indent, name, isBlock) = Self.shape[place]
            let start = "\(indent)\(name):\(isBlock ? "" : " ")"
            guard line.hasPrefix(start) else { throw Unreadable(description: "\(number + 1): \(line)") }
            if place == 0 { rules.append(Rule(line: number + 1)) }
            let rest = line.dropFirst(start.count)
            guard let value = isBlock ? (rest.isEmpty ? "" : nil) : Self.scalar(rest) else {
                throw Unreadable(description: "\(number + 1): \(line)")
            }
            rules[rules.count - 1].values[name] = value
            place = (place + 1) % Self.shape.count
        }
        guard place == 0 else { throw Unreadable(description: "the last rule") }
    }

    /// A plain word, or a text in single quotes, in which two quotes are one.
    private static func scalar(_ text: Substring) -> String? {
        if text.wholeMatch(of: #/[A-Za-z0-9]+/#) != nil { return String(text) }
        guard let quoted = text.wholeMatch(of: #/'((?:[^']|'')*)'/#)?.1 else { return nil }
        return String(quoted.replacing("''", with: "'"))
    }
}
