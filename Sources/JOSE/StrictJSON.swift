internal import FoundationEssentials

/// JSON as JSONDecoder reads it, minus what it lets pass and two readers could read differently.
///
/// JSONDecoder keeps one of two members with the same name, and overlooks a comma at the end, without a word. Both are
/// found out by counting. In valid JSON every member has exactly one colon outside of strings, and every container one
/// comma fewer than it has children: a decoded tree that does not match the text's colons has lost a member.
public enum StrictJSON {
    /// Deeper than any header, claim or request of ours by far, and shallow enough to be read without thought.
    static let deepestNesting = 8
    /// More than any of ours has by far. JSONDecoder takes a thousand times as long for a value as it takes to send one.
    static let mostValues = 1000

    /// The members of the object that `text` is. Throws `.duplicateMember`, `.nestedTooDeep` or `.tooManyValues`
    /// where that is what is wrong, else `invalid`.
    public static func object(_ text: [UInt8], else invalid: JWTError) throws(JWTError) -> [String: JSONValue] {
        let marks = try scan(text, else: invalid)
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text)), case .object(let members) = value
        else { throw invalid }
        let expected = value.marks
        if expected.colons != marks.colons { throw .duplicateMember }
        if expected.commas != marks.commas { throw invalid }
        return members
    }

    /// What stands between the values of a text.
    struct Marks: Equatable {
        var colons = 0
        var commas = 0
    }

    /// The marks outside of strings in a text that starts as an object does. Whether the rest is JSON, JSONDecoder says
    /// later: here it is enough to tell strings from the rest, and to stop at deep nesting.
    private static func scan(_ text: [UInt8], else invalid: JWTError) throws(JWTError) -> Marks {
        // Without NUL and with a brace in front, JSONDecoder cannot take the text for UTF-16 or UTF-32.
        guard text.first(where: { !isWhiteSpace($0) }) == UInt8(ascii: "{"), !text.contains(0) else { throw invalid }
        var marks = Marks()
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in text {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: ":"): marks.colons += 1
            case UInt8(ascii: ","):
                marks.commas += 1
                if marks.commas >= mostValues { throw .tooManyValues }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > deepestNesting { throw .nestedTooDeep }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return marks
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }
}

/// A JSON value of any kind.
public enum JSONValue: Codable, Sendable {
    /// A string.
    case string(String)
    /// An object.
    case object([String: JSONValue])
    /// An array.
    case array([JSONValue])
    /// A truth value.
    case bool(Bool)
    /// A number without a fraction.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// `null`.
    case null

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads whatever comes.
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
        // A string that cannot be read is none of these, and stops here.
        return .number(try value.decode(Double.self))
    }

    /// Writes it as it was read, but for the order of members.
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

    /// What stands between this value's parts when nothing was lost.
    var marks: StrictJSON.Marks {
        let children: [JSONValue]
        var marks = StrictJSON.Marks()
        switch self {
        case .string, .bool, .integer, .number, .null: return marks
        case .array(let elements): children = elements
        case .object(let members):
            children = Array(members.values)
            marks.colons = children.count
        }
        marks.commas = max(children.count - 1, 0)
        for child in children.map(\.marks) {
            marks.colons += child.colons
            marks.commas += child.commas
        }
        return marks
    }

    /// The value without white space, members in the order of their names; nil for a number that JSON has no word for.
    public var compactText: String? { (try? encodeCompactly(self)).map { String(decoding: $0, as: UTF8.self) } }

    /// The text of a string.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
}
