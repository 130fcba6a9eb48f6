internal import FoundationEssentials

/// A JSON value of any kind.
public enum JSONValue: Codable, Hashable, Sendable {
    case string(String)
    case object([String: JSONValue])
    case array([JSONValue])
    /// A truth value.
    case bool(Bool)
    /// A number without a fraction.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case null

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes a value of any kind.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let container = try? decoder.container(keyedBy: Name.self) {
            var members: [String: JSONValue] = [:]
            for name in container.allKeys {
                members[name.stringValue] = try container.decode(JSONValue.self, forKey: name)
            }
            self = .object(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            self = try Self.scalar(value)
        }
    }

    private static func scalar(_ value: any SingleValueDecodingContainer) throws -> JSONValue {
        if value.decodeNil() { return .null }
        if let truth = try? value.decode(Bool.self) { return .bool(truth) }
        if let integer = try? value.decode(Int64.self) { return .integer(integer) }
        // An unreadable string is none of these: decoding it as a number throws.
        return .number(try value.decode(Double.self))
    }

    /// Encodes the value as it was read, except for the order of members.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .object(let members): try container.encode(members)
        case .array(let elements): try container.encode(elements)
        case .bool(let truth): try container.encode(truth)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .null: try container.encodeNil()
        }
    }
}

extension JSONValue {
    /// Reads `text` as `JSONDecoder` does; nil if it is not JSON. `StrictJSON` is for texts from outside.
    public init?(text: [UInt8]) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text)) else { return nil }
        self = value
    }

    /// The value without white space, members in the order of their names; nil for a number that JSON cannot express.
    public var compactText: String? { JSONText.compact(self).map { String(decoding: $0, as: UTF8.self) } }

    /// The member `name` of an object; nil for `null`, and for a value that is not an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    /// The text of a string.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number, if it has no fraction.
    public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// The truth value.
    public var bool: Bool? { if case .bool(let truth) = self { truth } else { nil } }
    /// The elements of an array; empty for any other value.
    public var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}
