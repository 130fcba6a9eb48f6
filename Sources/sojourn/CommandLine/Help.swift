/// The texts of `--help`, from the table of commands.
enum Help {
    /// All commands.
    static var overview: String {
        let singles = Commands.all.filter { $0.path.count == 1 }.map { ($0.name, $0.summary) }
        let groups = Commands.groups.map { ($0.name, $0.summary) }
        let codes = ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }
        return """
            Sojourn keeps users signed in on their phones for weeks. Every session has an end, and admins and users end it at once.

            usage: sojourn COMMAND [OPTIONS]

            Run it:
            \(columns(singles))
            Administer it, while the server runs or not:
            \(columns(groups))
            'sojourn COMMAND --help' says more and gives examples.

            Exit codes:
            \(columns(codes))
            """
    }

    /// The commands under one first word.
    static func group(_ name: String) -> String {
        let commands = Commands.all.filter { $0.path[0] == name }
        let summary = Commands.groups.first { $0.name == name }?.summary ?? ""
        return """
            \(summary)

            usage: sojourn \(name) COMMAND [OPTIONS]

            \(columns(commands.map { (signature($0), $0.summary) }))
            Examples:
            \(commands.compactMap(\.examples.first).map { "  \($0)\n" }.joined())
            """
    }

    static func command(_ command: Command) -> String {
        let options = (command.options + [Command.Option("--help", nil, "print this")]).map { option in
            (option.name + (option.value.map { " \($0)" } ?? ""), option.help)
        }
        let discussion = command.discussion.isEmpty ? "" : "\n\(command.discussion)\n"
        return """
            \(command.summary)

            usage: sojourn \(signature(command, full: true)) [OPTIONS]
            \(discussion)
            Options:
            \(columns(options))
            Examples:
            \(command.examples.map { "  \($0)\n" }.joined())
            """
    }

    private static func signature(_ command: Command, full: Bool = false) -> String {
        ((full ? command.path : Array(command.path.dropFirst())) + command.operands).joined(separator: " ")
    }

    private static func columns(_ rows: [(String, String)]) -> String {
        let width = min(36, rows.map(\.0.count).max() ?? 0)
        return rows.map { left, right in
            left.count > width
                ? "  \(left)\n  \(String(repeating: " ", count: width))  \(right)\n"
                : "  \(left.padded(to: width))  \(right)\n"
        }.joined()
    }
}

extension String {
    /// Appends spaces up to `width` characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
