internal import HTTP

/// The text of commands that an admin can copy into a shell. Each does what the form beside it does.
public enum Shell {
    /// The `curl` of a call of the admin API at a listener.
    public static func curl(_ call: AdminCall, at baseURL: String) -> String {
        var words = ["curl"]
        if call.method != .get { words += ["-X", call.method.rawValue] }
        words += [quoted(baseURL + call.target), authorization]
        if call.picture != nil {
            words += ["-H 'Content-Type: image/png'", "--data-binary", "@\(AdminCall.pictureFile)"]
        }
        if let body = call.json { words += ["-H 'Content-Type: application/json'", "-d", quoted(visible(body))] }
        return words.joined(separator: " ")
    }

    /// The `curl` that deletes each of `ids` below a path.
    public static func curl(deleting ids: [String], below path: String, at baseURL: String) -> String {
        // The host is one of the operator's, so that the shell finds nothing but the id to replace.
        loop(over: ids, "curl -X DELETE \"\(baseURL)/admin/v1\(path)/$id\" \(authorization)")
    }

    private static let authorization = #"-H "Authorization: Bearer $SOJOURN_ADMIN_KEY""#

    /// A command that runs with each of `words` as `$id`.
    public static func loop(over words: [String], _ command: String) -> String {
        "for id in \(words.map(quoted).joined(separator: " ")); do \(command); done"
    }

    /// A line of words.
    public static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// An option with a value. One that begins with a hyphen is in the word of its option, or `--help` would be asked for.
    public static func option(_ name: String, _ value: String) -> [String] {
        value.hasPrefix("-") && value != "-" ? ["\(name)=\(value)"] : [name, value]
    }

    /// The words of a command at its end that are no options, though one may begin with a hyphen.
    public static func operands(_ words: String...) -> [String] {
        (words.contains { $0.hasPrefix("-") } ? ["--"] : []) + words
    }

    /// A word of a shell. One with characters that a page cannot show has them as escapes (`$'…'` of POSIX.1-2024).
    public static func quoted(_ text: String) -> String {
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
    public static func visible(_ json: String) -> String {
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
