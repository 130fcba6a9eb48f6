import Glibc

/// The output of the program, and the input of secrets.
enum Terminal {
    /// Writes a text to standard output, with a line feed at its end.
    static func write(_ text: String) { write(text, to: STDOUT_FILENO) }

    /// Writes a line to standard error.
    static func writeError(_ line: String) { write(line, to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array((text.hasSuffix("\n") ? text : text + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Whether standard input is a terminal.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads the standard input to its end.
    static func readAll() -> String {
        var text = ""
        while let line = readLine(strippingNewline: false) { text += line }
        return text
    }

    /// Reads a secret: from a terminal without showing it, or the first line of standard input. A secret is never an argument,
    /// because every user of the machine can read the arguments of a process.
    static func readSecret(_ prompt: String) -> String? {
        guard isInteractive else { return readLine(strippingNewline: true) }
        var state = termios()
        tcgetattr(STDIN_FILENO, &state)
        var silent = state
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &state) }
        _ = prompt.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
        let line = readLine(strippingNewline: true)
        writeError("")
        return line
    }
}
