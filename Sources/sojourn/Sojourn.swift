// The command line. It finds the command, reads its options, runs it, and turns an error into one line and an exit code.
//
// It owns the commands and their output, and must not know a rule of the server: `serve` starts a `SojournServer`; the admin
// commands send the requests of the admin API, to a server or to the endpoints in this process (`AdminConnection`), and print
// the answers.
//
// Reading order: this file · Command (what a command is) and Commands (the table) · Arguments (the parser) · Help ·
// AdminConnection · then one file for each group of commands.

import CLinux
import Glibc

@main
struct Sojourn {
    static func main() async {
        keepMemoryPrivate()
        // A closed reader, as in `sojourn user list | head`, is an error of write(2) and does not end the process.
        signal(SIGPIPE, SIG_IGN)
        // A file that has reached its size limit is an error of write(2) too: the database reports it, and callers get a 503.
        signal(SIGXFSZ, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        do throws(Failure) {
            try await run(words)
            exit(ExitCode.ok.rawValue)
        } catch {
            for line in error.lines { Terminal.writeError("sojourn: \(line)") }
            exit(error.code.rawValue)
        }
    }

    /// Keeps the memory of this process, which can hold root keys, tokens and typed passwords, out of core files and from other
    /// processes of its user. The limit alone would not do, because it does not bind a program that the kernel pipes core files to.
    private static func keepMemoryPrivate() {
        var none = rlimit()
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = CLinux_keep_memory_private()
    }

    private static func run(_ words: [String]) async throws(Failure) {
        switch try Arguments.parse(words, commands: Commands.all) {
        case .help(let text): Terminal.write(text)
        case .run(let command, let arguments): try await command.run(arguments)
        }
    }
}

/// The exit codes of the process, which `sojourn help` documents.
enum ExitCode: Int32, CaseIterable {
    case ok = 0
    case failed = 1
    case usage = 2
    case notFound = 3
    case refused = 4
    case unavailable = 5

    var meaning: String {
        switch self {
        case .ok: "done"
        case .failed: "failed; the line on standard error says why"
        case .usage: "wrong command line"
        case .notFound: "the named thing does not exist"
        case .refused: "refused: invalid, or in conflict with what is there"
        case .unavailable: "no server answers, or it cannot answer now: try again"
        }
    }
}

/// The failure of a command: the exit code, and the lines for standard error.
struct Failure: Error {
    let code: ExitCode
    let lines: [String]

    init(_ code: ExitCode, _ lines: [String]) {
        self.code = code
        self.lines = lines
    }

    init(_ code: ExitCode, _ line: String) { self.init(code, [line]) }
}
