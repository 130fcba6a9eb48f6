import AdminActs

/// One command: its name, its operands and options, and its action. The help and the parser use only this description.
struct Command: Sendable {
    /// An option, `--name` or `--name VALUE`.
    struct Option: Sendable {
        /// The name with its two dashes.
        let name: String
        /// The placeholder of the value in the help; nil for a switch.
        let value: String?
        /// The effect, in a few words.
        let help: String
        /// The valid values, if they are few.
        var choices: [String] = []

        init(_ name: String, _ value: String? = nil, _ help: String, choices: [String] = []) {
            self.name = name
            self.value = value
            self.help = help
            self.choices = choices
        }
    }

    /// How arguments become an act.
    typealias Making = @Sendable (Arguments) throws(Failure) -> any AdminAct

    /// The words: `["user", "create"]`.
    let path: [String]
    /// One line for the overview.
    let summary: String
    /// The operands after the words, in order: `USER`, or `[QUERY]` for an optional one.
    var operands: [String] = []
    /// The options except `--help`.
    var options: [Option] = []
    /// The details for the help of the command; may be empty.
    var discussion = ""
    /// The examples, which are complete command lines.
    let examples: [String]
    /// The act of which the command makes the call; nil: it does something else.
    var act: Making?
    let run: @Sendable (Arguments) async throws(Failure) -> Void

    /// The words as the user types them.
    var name: String { path.joined(separator: " ") }
}

/// The common first word of several commands.
struct CommandGroup: Sendable {
    let name: String
    let summary: String
}

extension Command.Option {
    /// The options for the configuration, for every command that needs the database.
    static let configuration = [
        Command.Option(
            "--config", "FILE", "the configuration; else $SOJOURN_CONFIG, else ./sojourn.json5 if there is one"),
        Command.Option(
            "--database", "URL", "the database, sqlite:PATH or postgres://… (default sqlite:sojourn.sqlite)"),
    ]
    /// The option for output as JSON.
    static let json = Command.Option("--json", nil, "print the answer as JSON")
    /// The options of every admin command.
    static let admin = configuration + [json]
}
