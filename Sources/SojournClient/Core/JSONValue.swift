import Foundation

/// A value of JSON, so that members which this version does not know are kept as they are.
package enum JSONValue: Hashable, Sendable, Codable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The value of `text`; nil if it is not JSON in UTF-8.
    package init?(parsing text: [UInt8]) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text)) else { return nil }
        self = value
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // What is most frequent comes first, because each wrong guess costs an error.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The value as JSON in UTF-8, members sorted by name. Numbers that JSON cannot express give an empty object.
    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { Array($0) } ?? Array("{}".utf8)
    }

    /// The members of an object.
    package var members: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements of an array.
    package var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text of a string.
    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// A whole number.
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// A truth value.
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
}

extension [String: JSONValue] {
    /// The non-empty text of a member; nil if it is absent, empty or no string.
    package func text(_ name: String) -> String? {
        self[name]?.text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The whole number of a member.
    package func integer(_ name: String) -> Int64? { self[name]?.integer }

    /// Sets a member, or leaves it out if `value` is nil.
    package mutating func set(_ name: String, _ value: String?) { self[name] = value.map(JSONValue.string) }
    package mutating func set(_ name: String, _ value: Int64?) { self[name] = value.map(JSONValue.integer) }
}
