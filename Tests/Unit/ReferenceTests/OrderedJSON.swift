import FoundationEssentials
import Repository
import Testing

/// A JSON value with members that keep the order of the file, which `JSONDecoder` does not give.
enum OrderedJSON {
    case object([(name: String, value: OrderedJSON)])
    case array([OrderedJSON])
    case string(String)
    /// A number, a truth value or null, as it is written.
    case word(String)

    /// Reads a file of the repository.
    init(file path: String) throws {
        let bytes = try #require(FileManager.default.contents(atPath: Repository.path(path)))
        var rest = Array(bytes)[...]
        self = try Self.value(&rest)
    }

    /// The member `name`; nil: there is none.
    subscript(_ name: String) -> OrderedJSON? { members.first { $0.name == name }?.value }

    var members: [(name: String, value: OrderedJSON)] { if case .object(let members) = self { members } else { [] } }
    var elements: [OrderedJSON] { if case .array(let elements) = self { elements } else { [] } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    /// A text or a word.
    var scalar: String? { if case .word(let word) = self { word } else { string } }

    /// The text of a file: two blanks for each level, and a line for each member.
    func text() throws -> String { try written("") + "\n" }

    private func written(_ indent: String) throws -> String {
        let inner = indent + "  "
        switch self {
        case .object(let members):
            let lines = try members.map { try "\(inner)\(Self.quoted($0.name)): \($0.value.written(inner))" }
            return Self.list(lines, "{", "}", indent)
        case .array(let elements):
            return Self.list(try elements.map { try inner + $0.written(inner) }, "[", "]", indent)
        case .string(let text): return try Self.quoted(text)
        case .word(let word): return word
        }
    }

    private static func list(_ lines: [String], _ start: String, _ end: String, _ indent: String) -> String {
        lines.isEmpty ? start + end : "\(start)\n\(lines.joined(separator: ",\n"))\n\(indent)\(end)"
    }

    private static func quoted(_ text: String) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(text), as: UTF8.self)
    }

    private struct Malformed: Error {}

    private static func value(_ rest: inout ArraySlice<UInt8>) throws -> OrderedJSON {
        skipBlanks(&rest)
        switch rest.first {
        case UInt8(ascii: "{"):
            let members = try list(&rest, until: "}") { rest in
                let name = try text(&rest)
                skipBlanks(&rest)
                try take(":", &rest)
                return (name: name, value: try value(&rest))
            }
            return .object(members)
        case UInt8(ascii: "["): return .array(try list(&rest, until: "]") { try value(&$0) })
        case UInt8(ascii: "\""): return .string(try text(&rest))
        default:
            let word = rest.prefix { !Array(",]} \n".utf8).contains($0) }
            rest = rest.dropFirst(word.count)
            return .word(String(decoding: word, as: UTF8.self))
        }
    }

    /// The items between a bracket and its end.
    private static func list<Item>(
        _ rest: inout ArraySlice<UInt8>, until end: Unicode.Scalar, _ item: (inout ArraySlice<UInt8>) throws -> Item
    ) throws -> [Item] {
        var items: [Item] = []
        rest = rest.dropFirst()
        skipBlanks(&rest)
        while rest.first != UInt8(ascii: end) {
            if !items.isEmpty { try take(",", &rest) }
            skipBlanks(&rest)
            items.append(try item(&rest))
            skipBlanks(&rest)
        }
        rest = rest.dropFirst()
        return items
    }

    /// A text; its escapes are decoded by Foundation.
    private static func text(_ rest: inout ArraySlice<UInt8>) throws -> String {
        let whole = rest
        guard rest.popFirst() == UInt8(ascii: "\"") else { throw Malformed() }
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") { rest = rest.dropFirst() }
        }
        return try JSONDecoder().decode(String.self, from: Data(whole.prefix(whole.count - rest.count)))
    }

    private static func take(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) throws {
        guard rest.popFirst() == UInt8(ascii: character) else { throw Malformed() }
    }

    private static func skipBlanks(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
    }
}
