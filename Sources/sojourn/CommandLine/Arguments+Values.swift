import AdminActs
import JSON

extension Arguments {
    /// The value of an option that is a duration, in seconds.
    func seconds(_ option: String) throws(Failure) -> Int64? {
        guard let text = value(option) else { return nil }
        guard let seconds = DurationText.seconds(text) else { throw usage(DurationText.problem(option, text)) }
        return seconds
    }

    /// The value of an option that is a lifetime of a client or user, in seconds; null for `inherit`.
    func lifetime(_ option: String) throws(Failure) -> JSONValue? {
        if value(option) == "inherit" { return .null }
        guard let seconds = try seconds(option) else { return nil }
        if seconds == 0 { throw usage("\(option) cannot be 0: 'inherit' removes the value of its own") }
        return .integer(seconds)
    }

    /// The value of an option that is yes or no.
    func bool(_ option: String) throws(Failure) -> Bool? {
        switch value(option) {
        case nil: return nil
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        case let text?: throw usage("\(option) must be true or false, not '\(text)'")
        }
    }

    /// The page of a list that the options select.
    var page: [(String, String?)] { [("cursor", value("--cursor")), ("limit", value("--limit"))] }

    /// A password from the terminal or from standard input.
    func readPassword() throws(Failure) -> String {
        guard let password = Terminal.readSecret("password: "), !password.isEmpty else {
            throw Failure(.usage, "no password came: type it, or give it as the first line of standard input")
        }
        // The user types the password twice, because the terminal does not show it.
        if Terminal.isInteractive, Terminal.readSecret("once more: ") != password {
            throw Failure(.usage, "the two are not the same; nothing was changed")
        }
        return password
    }
}

extension Command.Option {
    /// The options of lists.
    static let page = [
        Command.Option("--limit", "N", "at most so many, 1 to 200 (default 50)"),
        Command.Option("--cursor", "CURSOR", "go on where the page before ended"),
    ]
}

extension JSONValue {
    /// A page of a list as a table, with the cursor of the next page.
    func table(_ headings: [String], empty: String, _ row: (JSONValue) -> [String]) -> String {
        let table = Formatting.table(headings, (self["items"]?.elements ?? []).map(row), empty: empty)
        return table + (self["next_cursor"]?.string.map { "\n\nthere is more: --cursor \($0)" } ?? "")
    }
}
