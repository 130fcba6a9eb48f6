@testable import sojourn

/// The page of the command line: the table of commands, with the texts of `--help`.
enum CommandLinePage {
    static func text() -> String {
        var page = Markdown(
            title: "Command line", abstract: "Every command, with its options, examples and exit codes.",
            source: "the texts of `sojourn COMMAND --help`")
        overview(&page)
        for command in Commands.all where command.path.count == 1 { describe(command, &page, level: 2) }
        for group in Commands.groups {
            page.heading(2, group.name)
            page.paragraph(group.summary)
            for command in Commands.all where command.path.count > 1 && command.path[0] == group.name {
                describe(command, &page, level: 3)
            }
        }
        return page.text
    }

    /// All commands on one table, the exit codes, and the options that many commands have.
    private static func overview(_ page: inout Markdown) {
        page.table(
            ["Command", "What it does"],
            Commands.all.map { command in
                ["[`sojourn \(command.name)`](#\(command.path.joined(separator: "-")))", prose(command.summary)]
            })
        page.heading(2, "Exit codes")
        page.table(
            ["Code", "Meaning"], ExitCode.allCases.map { [Markdown.code("\($0.rawValue)"), prose($0.meaning)] })
        page.heading(2, "Common options")
        page.paragraph("Every command takes `--help`. Many take some of these:")
        page.table(["Option", "What it does"], Command.Option.admin.map(row))
    }

    private static func describe(_ command: Command, _ page: inout Markdown, level: Int) {
        page.heading(level, command.name)
        page.paragraph(prose(command.summary))
        page.code([(["sojourn"] + command.path + command.operands + ["[OPTIONS]"]).joined(separator: " ")])
        for paragraph in command.discussion.split(separator: "\n", omittingEmptySubsequences: false)
            .split(separator: "")
        {
            if paragraph.allSatisfy({ $0.hasPrefix("  ") }) {
                page.code(paragraph.map { String($0.dropFirst(2)) })
            } else {
                page.paragraph(prose(paragraph.joined(separator: " ")))
            }
        }
        let common = Command.Option.admin.map(\.name)
        page.table(["Option", "What it does"], command.options.filter { !common.contains($0.name) }.map(row))
        let shared = command.options.map(\.name).filter(common.contains)
        if !shared.isEmpty { page.paragraph("Common options: \(Markdown.codes(shared)).") }
        page.code(command.examples, language: "sh")
    }

    private static func row(_ option: Command.Option) -> [String] {
        [Markdown.code(option.name + (option.value.map { " \($0)" } ?? "")), prose(option.help)]
    }

    /// A text of the help, with what it quotes as code.
    private static func prose(_ text: String) -> String {
        text.replacing(#/(^|[ (])'([^']+)'/#) { "\($0.1)`\($0.2)`" }
            .replacing(#/(^|[ (])(--[a-z-]+)/#) { "\($0.1)`\($0.2)`" }
    }
}
