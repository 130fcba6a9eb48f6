internal import FoundationEssentials

/// Reads JSON as `JSONDecoder` does, but refuses what two readers could read differently.
///
/// `JSONDecoder` silently keeps one of two members with the same name, and ignores a trailing comma. Counting reveals
/// both. In valid JSON every member has exactly one colon outside of strings, and every container one comma fewer than
/// it has children: a decoded tree that does not match the text's colons has lost a member.
public enum StrictJSON {
    /// Far deeper than any header, claim or request of this server, and shallow enough for a recursive reader.
    static let deepestNesting = 8
    /// Far more than any of these has. `JSONDecoder` takes a thousand times as long for a value as a client needs to
    /// send one.
    static let mostValues = 1000

    /// The reason why a text is refused.
    public enum Problem: Error, Sendable {
        /// The text is not a JSON object.
        case notAnObject
        /// An object names a member twice.
        case duplicateMember
        /// Objects and arrays are nested too deep.
        case nestedTooDeep
        /// The text has too many values.
        case tooManyValues
    }

    /// Reads the members of the object in `text`.
    public static func object(_ text: [UInt8]) throws(Problem) -> [String: JSONValue] {
        let marks = try scan(text)
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text)), case .object(let members) = value
        else { throw .notAnObject }
        let expected = value.marks
        if expected.colons != marks.colons { throw .duplicateMember }
        if expected.commas != marks.commas { throw .notAnObject }
        return members
    }

    /// The numbers of separators outside of strings.
    struct Marks: Equatable {
        var colons = 0
        var commas = 0
    }

    /// Counts the separators of a text that starts as an object does. `JSONDecoder` later decides whether the rest is
    /// JSON: here it is enough to skip strings, and to stop at deep nesting.
    private static func scan(_ text: [UInt8]) throws(Problem) -> Marks {
        // Without NUL and with a brace in front, JSONDecoder cannot take the text for UTF-16 or UTF-32.
        guard text.first(where: { !isWhiteSpace($0) }) == UInt8(ascii: "{"), !text.contains(0) else {
            throw .notAnObject
        }
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

extension JSONValue {
    /// The separators that a text needs for this value.
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
}
