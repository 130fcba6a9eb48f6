/// One command: what it is called, what it takes, what it does. Help and parser go by it alone.
struct Command: Sendable {
    /// An option, `--name` or `--name VALUE`.
    struct Option: Sendable {
        /// With its two dashes.
        let name: String
        /// What the value is called in the help; nil for a switch.
        let value: String?
        /// What it does, in a few words.
        let help: String
        /// The only values, if they are few.
        var choices: [String] = []

        init(_ name: String, _ value: String? = nil, _ help: String, choices: [String] = []) {
            self.name = name
            self.value = value
            self.help = help
            self.choices = choices
        }
    }

    /// The words: `["user", "create"]`.
    let path: [String]
    /// One line for the overview.
    let summary: String
    /// What stands after the words, in order: `USER`, or `[QUERY]` if it can be left out.
    var operands: [String] = []
    /// The options beside `--help`.
    var options: [Option] = []
    /// More about it, if there is more to say.
    var discussion = ""
    /// Lines to copy.
    let examples: [String]
    /// Does it.
    let run: @Sendable (Arguments) async throws(Failure) -> Void

    /// The words as they are typed.
    var name: String { path.joined(separator: " ") }
}

/// A first word under which several commands stand.
struct CommandGroup: Sendable {
    let name: String
    let summary: String
}

extension Command.Option {
    /// Where the configuration comes from; every command that needs the database has them.
    static let configuration = [
        Command.Option(
            "--config", "FILE", "the configuration; else $SOJOURN_CONFIG, else ./sojourn.json5 if there is one"),
        Command.Option(
            "--database", "URL", "the database, sqlite:PATH or postgres://… (default sqlite:sojourn.sqlite)"),
    ]
    /// For machines.
    static let json = Command.Option("--json", nil, "print the answer as JSON")
    /// What every admin command takes.
    static let admin = configuration + [json]
}
