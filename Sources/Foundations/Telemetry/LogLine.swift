internal import JSON

/// One event and its two text forms. Neither contains control characters except the final line feed, so that no value
/// can imitate a line or control a terminal.
struct LogLine {
    /// The length in bytes after which text is truncated, so that a line is short enough to be written at once.
    static let longestText = 2048

    let time: Timestamp
    let level: LogLevel
    let message: String
    let fields: LogFields

    /// The JSON form: `{"time":"…","level":"…","message":"…",…}` and a line feed.
    var json: [UInt8] {
        var line =
            #"{"time":"\#(time.rfc3339)","level":"\#(level.rawValue)","message":"# + Self.quoted(Self.cut(message))
        for field in fields.list {
            line += "," + Self.quoted(Self.cut(field.name)) + ":"
            switch field.value {
            case .string(let text): line += Self.quoted(Self.cut(text))
            case .int(let number): line += String(number)
            case .bool(let truth): line += truth ? "true" : "false"
            case .double(let number): line += number.isFinite ? "\(number)" : "null"
            }
        }
        return Array((line + "}\n").utf8)
    }

    /// The text form: `time level message name=value …` and a line feed.
    var text: [UInt8] {
        var line = "\(time.rfc3339) \(level.rawValue) \(Self.escaped(Self.cut(message)))"
        for field in fields.list {
            line += " \(Self.escaped(Self.cut(field.name)))="
            switch field.value {
            case .string(let text): line += Self.isBare(text) ? text : Self.quoted(Self.cut(text))
            case .int(let number): line += String(number)
            case .bool(let truth): line += truth ? "true" : "false"
            case .double(let number): line += number.isFinite ? "\(number)" : "null"
            }
        }
        return Array((line + "\n").utf8)
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        // A character that is cut at the end becomes a replacement character.
        return String(decoding: text.utf8.prefix(longestText), as: UTF8.self) + "…"
    }

    /// Returns a JSON string in which characters that are unsafe for a terminal are escaped, too.
    private static func quoted(_ text: String) -> String { escaped(JSONText.quoted(text)) }

    private static func isBare(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestText
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !#""\="#.utf8.contains($0) }
    }

    /// Replaces control characters, line separators and marks that change the writing direction by `\uXXXX`.
    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            guard isUnsafe(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return result
    }

    /// Returns true for the characters to escape. All have at most four hexadecimal digits.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1f, 0x7f...0x9f, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: true
        default: false
        }
    }
}
