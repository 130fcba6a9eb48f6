extension [UInt8] {
    /// Appends a literal.
    mutating func append(literal: StaticString) {
        literal.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// Appends a text with `&`, `<`, `>`, `"` and `'` as references. Control characters that HTML forbids, and characters
    /// that override the direction of the text around them, become U+FFFD.
    mutating func append(escaping text: String) {
        if text.utf8.allSatisfy(Self.isPlain) {
            self += text.utf8
            return
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": self += "&amp;".utf8
            case "<": self += "&lt;".utf8
            case ">": self += "&gt;".utf8
            case "\"": self += "&quot;".utf8
            case "'": self += "&#39;".utf8
            case _ where scalar.isHidden: self += "\u{FFFD}".utf8
            default: self += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
    }
}

extension [UInt8] {
    /// Whether a byte stands for itself, as most do: printable ASCII except the five signs.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
        default: (0x20...0x7E).contains(byte)
        }
    }
}

extension UnicodeScalar {
    /// Whether the scalar is a control character except tab and line ends, a non-character, or a control of direction that
    /// reaches beyond its text (embeddings, overrides and isolates of UAX #9).
    var isHidden: Bool {
        switch value {
        case 0x09, 0x0A, 0x0D: false
        case 0...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069, 0xFDD0...0xFDEF: true
        default: value & 0xFFFE == 0xFFFE
        }
    }
}

/// A name or another short text from outside, as it is shown: cut to 60 characters, and isolated by `<bdi>`, so that its
/// direction does not change the sentence around it.
struct DisplayName: Sendable {
    /// The text, cut.
    let text: String

    init(_ text: String, max: Int = 60) {
        // A character can have any number of combining scalars.
        let scalars = text.unicodeScalars.prefix(2 * max)
        let characters = String(String.UnicodeScalarView(scalars))
        let isWhole = scalars.endIndex == text.unicodeScalars.endIndex && characters.count <= max
        self.text = isWhole ? characters : characters.prefix(max - 1) + "…"
    }

    /// The first letter in upper case, for a picture of an account or an app; `?` if there is none.
    var initial: String {
        text.first { $0.isLetter || $0.isNumber }.map { String(String($0.uppercased()).unicodeScalars.prefix(2)) }
            ?? "?"
    }
}

extension HTML.StringInterpolation {
    /// Appends a name as content, isolated.
    mutating func appendInterpolation(_ name: DisplayName) {
        let html: HTML = "<bdi>\(name.text)</bdi>"
        appendInterpolation(html)
    }
}
