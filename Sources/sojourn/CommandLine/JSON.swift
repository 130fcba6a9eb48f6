import FoundationEssentials

/// A JSON value of an answer or of a request's body, for commands that show what they get.
indirect enum JSON: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? value.decode(Int64.self) {
            self = .int(int)
        } else if let double = try? value.decode(Double.self) {
            self = .double(double)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([JSON].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let bool): try value.encode(bool)
        case .int(let int): try value.encode(int)
        case .double(let double): try value.encode(double)
        case .string(let string): try value.encode(string)
        case .array(let array): try value.encode(array)
        case .object(let object): try value.encode(object)
        }
    }

    /// The value that JSON text spells; nil for anything else.
    init?(text: [UInt8]) {
        guard let value = try? JSONDecoder().decode(JSON.self, from: Data(text)) else { return nil }
        self = value
    }

    /// The value as JSON, for a request's body or, `pretty`, for people and machines.
    func text(pretty: Bool = false) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = pretty ? [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes] : [.sortedKeys]
        return (try? encoder.encode(self)).map { Array($0) } ?? []
    }

    /// The member of an object.
    subscript(name: String) -> JSON? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    /// The text of a string.
    var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number.
    var int: Int64? { if case .int(let number) = self { number } else { nil } }
    /// The truth value.
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The members of a list; none for anything else.
    var items: [JSON] { if case .array(let items) = self { items } else { [] } }

    /// For a cell of a table.
    var cell: String {
        switch self {
        case .null: "-"
        case .bool(let value): value ? "yes" : "no"
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): text.isEmpty ? "-" : text
        case .array(let items): items.isEmpty ? "-" : items.map(\.cell).joined(separator: " ")
        case .object: "{…}"
        }
    }
}
