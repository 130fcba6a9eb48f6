import Configuration

/// The operands and options that a command line gives to a command.
struct Arguments: Sendable {
    let command: Command
    private(set) var operands: [String] = []
    private var values: [String: String] = [:]

    private init(_ command: Command) { self.command = command }

    /// The value of an option, if it was given.
    func value(_ option: String) -> String? { values[option] }
    /// Whether a switch was given.
    func has(_ option: String) -> Bool { values[option] != nil }
    /// Whether the answer is printed as JSON.
    var isJSON: Bool { has("--json") }

    /// The result of parsing a command line.
    enum Outcome {
        case help(String)
        case run(Command, Arguments)
    }

    /// Finds the command and reads its operands and options. The failure for a wrong word suggests a valid one.
    static func parse(_ words: [String], commands: [Command]) throws(Failure) -> Outcome {
        let path = words.prefix { !$0.hasPrefix("-") }
        let wantsHelp = words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
        guard let first = path.first else {
            if wantsHelp || words.isEmpty { return .help(Help.overview) }
            if words == ["--version"] { return try parse(["version"], commands: commands) }
            throw usage("unknown option \(words[0]) before a command", "")
        }
        if first == "help" { return try help(Array(path.dropFirst()), commands) }
        guard commands.contains(where: { $0.path[0] == first }) else { throw unknown(first, in: commands, depth: 0) }
        guard let command = find(path, commands) else {
            if path.count == 1 {
                if wantsHelp { return .help(Help.group(first)) }
                throw usage("'\(first)' needs one more word", first)
            }
            throw unknown(path[1], in: commands.filter { $0.path[0] == first }, depth: 1)
        }
        if wantsHelp { return .help(Help.command(command)) }
        var arguments = Arguments(command)
        try arguments.take(Array(words.dropFirst(command.path.count)))
        return .run(command, arguments)
    }

    private static func find(_ words: some Collection<String>, _ commands: [Command]) -> Command? {
        commands.first { $0.path.elementsEqual(words.prefix($0.path.count)) }
    }

    private static func help(_ words: [String], _ commands: [Command]) throws(Failure) -> Outcome {
        guard let first = words.first else { return .help(Help.overview) }
        if let command = find(words, commands) { return .help(Help.command(command)) }
        let group = commands.filter { $0.path[0] == first }
        if group.isEmpty { throw unknown(first, in: commands, depth: 0) }
        guard words.count > 1 else { return .help(Help.group(first)) }
        throw unknown(words[1], in: group, depth: 1)
    }

    private mutating func take(_ words: [String]) throws(Failure) {
        var rest = words[...]
        var onlyOperands = false
        while let word = rest.popFirst() {
            if onlyOperands || !word.hasPrefix("-") || word == "-" {
                operands.append(word)
            } else if word == "--" {
                onlyOperands = true
            } else {
                try takeOption(word, &rest)
            }
        }
        let needed = command.operands.count { !$0.hasPrefix("[") }
        if operands.count < needed { throw usage("\(command.operands[operands.count]) is missing") }
        if operands.count > command.operands.count {
            let word = operands[command.operands.count]
            let isFile = command.options.contains { $0.name == "--output" } && value("--output") == nil
            throw usage("'\(word)' is one word too many" + (isFile ? "; did you mean --output \(word)?" : ""))
        }
    }

    private mutating func takeOption(_ word: String, _ rest: inout ArraySlice<String>) throws(Failure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = command.options.first(where: { $0.name == parts[0] }) else {
            let names = command.options.map(\.name) + ["--help"]
            // The last word of a name may come to mind alone: `--max` of `--offline-session-max`.
            let longer = names.first { parts[0].hasPrefix("--") && $0.hasSuffix(parts[0].dropFirst()) }
            let hint = Suggestions.nearest(to: parts[0], among: names) ?? longer
            throw usage(
                "unknown option \(parts[0])"
                    + (hint.map { "; did you mean \($0)?" } ?? "; put -- before values that begin with -"))
        }
        guard values[option.name] == nil else { throw usage("\(option.name) is given twice") }
        guard let valueName = option.value else {
            guard parts.count == 1 else { throw usage("\(option.name) takes no value") }
            values[option.name] = ""
            return
        }
        guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
            throw usage("\(option.name) needs a value: \(option.name) \(valueName)")
        }
        if !option.choices.isEmpty, !option.choices.contains(value) {
            let hint = Suggestions.nearest(to: value, among: option.choices).map { "; did you mean \($0)?" } ?? ""
            throw usage(
                "\(option.name) must be one of \(option.choices.joined(separator: ", ")), not '\(value)'\(hint)")
        }
        values[option.name] = value
    }

    /// The failure for a wrong command line, with a reference to the help.
    func usage(_ problem: String) -> Failure { Self.usage(problem, command.name) }

    private static func usage(_ problem: String, _ name: String) -> Failure {
        Failure(.usage, [problem, "see: sojourn \(name.isEmpty ? "" : name + " ")--help"])
    }

    private static func unknown(_ word: String, in commands: [Command], depth: Int) -> Failure {
        let known = Set(commands.map { $0.path[depth] }).sorted()
        let prefix = depth == 0 ? "" : commands[0].path[0] + " "
        let hint = Suggestions.nearest(to: word, among: known).map { "; did you mean '\(prefix)\($0)'?" } ?? ""
        return usage("unknown command '\(prefix)\(word)'\(hint)", prefix.isEmpty ? "" : String(prefix.dropLast()))
    }
}
