import Glibc

/// What the program says and is told.
enum Terminal {
    /// A text to standard output, ended with a line feed.
    static func write(_ text: String) { write(text, to: STDOUT_FILENO) }

    /// A line to standard error.
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

    /// Whether somebody types.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 }

    /// A secret, typed without being shown, or the first line of standard input when that is no terminal. Never an
    /// argument: everybody on the machine can read those.
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
