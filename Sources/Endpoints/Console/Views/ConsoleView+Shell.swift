internal import HTTP

// What an admin can copy into a shell. It does what the form beside it does.
extension ConsoleView {
    /// The `curl` of a call of the admin API.
    func curl(_ method: HTTP.Method, _ path: String, _ body: String? = nil) -> String {
        var words = ["curl"]
        if method != .get { words += ["-X", method.rawValue] }
        words += [Self.quoted("\(stay.baseURL)/admin/v1\(path)"), Self.authorization]
        if let body { words += ["-H 'Content-Type: application/json'", "-d", Self.quoted(Self.visible(body))] }
        return words.joined(separator: " ")
    }

    /// The `curl` that deletes each of `ids` below a path.
    func curl(deleting ids: [String], below path: String) -> String {
        // The host is one of the operator's, so that the shell finds nothing but the id to replace.
        let url = "\"\(stay.baseURL)/admin/v1\(path)/$id\""
        return Self.loop(over: ids, "curl -X DELETE \(url) \(Self.authorization)")
    }

    private static let authorization = #"-H "Authorization: Bearer $SOJOURN_ADMIN_KEY""#

    /// A command that runs with each of `words` as `$id`.
    static func loop(over words: [String], _ command: String) -> String {
        "for id in \(words.map(quoted).joined(separator: " ")); do \(command); done"
    }

    /// The words of a command at its end that are no options, though one may begin with a hyphen.
    static func operands(_ words: String...) -> String {
        (words.contains { $0.hasPrefix("-") } ? "-- " : "") + words.map(quoted).joined(separator: " ")
    }

    /// A word of a shell. One with characters that a page cannot show has them as escapes (`$'…'` of POSIX.1-2024).
    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_./:@%,=".utf8.contains(byte)
            }
        }
        if isPlain, !text.isEmpty { return text }
        guard text.unicodeScalars.contains(where: isUnseen) else {
            return "'" + text.replacing("'", with: #"'\''"#) + "'"
        }
        var word = ""
        for scalar in text.unicodeScalars {
            if isUnseen(scalar) {
                for byte in String(scalar).utf8 { word += #"\x"# + hexadecimal(byte, digits: 2) }
            } else {
                if scalar == "'" || scalar == "\\" { word += #"\"# }
                word.unicodeScalars.append(scalar)
            }
        }
        return "$'\(word)'"
    }

    /// JSON with the characters as escapes that a page cannot show, such as controls of the direction of text.
    static func visible(_ json: String) -> String {
        var text = ""
        for scalar in json.unicodeScalars {
            if isUnseen(scalar) {
                for unit in String(scalar).utf16 { text += #"\u"# + hexadecimal(unit, digits: 4) }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Whether a page cannot show a character.
    private static func isUnseen(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func hexadecimal(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
