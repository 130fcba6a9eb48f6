import FoundationEssentials
import JSON

extension JSONValue {
    /// The value as JSON on one line for a request's body or, `pretty`, on many lines for the terminal.
    func text(pretty: Bool = false) -> [UInt8] {
        if !pretty { return JSONText.compact(self) ?? [] }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { Array($0) } ?? []
    }

    /// The text for a cell of a table.
    var cell: String {
        switch self {
        case .null: "-"
        case .bool(let value): value ? "yes" : "no"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .string(let text): text.isEmpty ? "-" : text
        case .array(let elements): elements.isEmpty ? "-" : elements.map(\.cell).joined(separator: " ")
        case .object: "{…}"
        }
    }
}
