import Glibc
import Transfer

/// The progress of a long command in one line of standard error, which each update overwrites. Without a terminal, it writes
/// nothing.
struct ProgressBar: TransferProgress {
    private static let width = 30
    private static let interval = Duration.milliseconds(100)

    private let isShown: Bool
    private let write: @Sendable (String) -> Void
    private let start: ContinuousClock.Instant
    private var shownAt: ContinuousClock.Instant?

    /// A bar on standard error, if it is a terminal.
    init() { self.init(isShown: isatty(STDERR_FILENO) == 1, start: ContinuousClock.now, write: Self.writeError) }

    /// A bar that is written with `write`.
    init(isShown: Bool, start: ContinuousClock.Instant, write: @escaping @Sendable (String) -> Void) {
        self.isShown = isShown
        self.start = start
        self.write = write
    }

    /// Shows the progress, at most ten times a second.
    mutating func show(_ done: Double?, _ count: Int64, _ noun: String) { show(done, count, noun, at: .now) }

    /// Shows the progress at `now`.
    mutating func show(_ done: Double?, _ count: Int64, _ noun: String, at now: ContinuousClock.Instant) {
        guard isShown else { return }
        if let shownAt, now - shownAt < Self.interval { return }
        shownAt = now
        write("\r" + Self.line(done, count, noun, since: now - start) + "\u{1B}[K")
    }

    /// Removes the line.
    mutating func finish() {
        if shownAt != nil { write("\r\u{1B}[K") }
        shownAt = nil
    }

    static func line(_ done: Double?, _ count: Int64, _ noun: String, since elapsed: Duration) -> String {
        let seconds = max(Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18, 0.001)
        let text = "\(count) \(noun), \(Int64(Double(count) / seconds)) a second"
        guard let done else { return text }
        let part = min(max(done, 0), 1)
        let full = Int(part * Double(width))
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: width - full)
        return "[\(bar)] \(Int(part * 100)) %  \(text)"
    }

    private static func writeError(_ text: String) {
        _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
}
