internal import JSON

/// One event, and its two forms. Neither contains a line feed but the last byte, nor any other control character, so
/// that no value can pass itself off as a line of its own or speak to a terminal.
struct LogLine {
    /// Longer text is cut, in bytes: a line stays short enough to be written in one piece.
    static let longestText = 2048

    let time: Timestamp
    let level: LogLevel
    let message: String
    let fields: LogFields

    /// `{"time":"…","level":"…","message":"…",…}` and a line feed.
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

    /// `time level message name=value …` and a line feed.
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
        // A character cut in two at the end becomes a replacement character.
        return String(decoding: text.utf8.prefix(longestText), as: UTF8.self) + "…"
    }

    /// A JSON string. JSON allows more as it is than a terminal should see.
    private static func quoted(_ text: String) -> String { escaped(JSONText.quoted(text)) }

    private static func isBare(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestText
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !#""\="#.utf8.contains($0) }
    }

    /// With `\uXXXX` in place of control characters, line separators and marks that turn the direction of writing.
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

    /// All of them have at most four hexadecimal digits.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1f, 0x7f...0x9f, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: true
        default: false
        }
    }
}
