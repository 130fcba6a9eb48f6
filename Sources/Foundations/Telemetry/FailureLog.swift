internal import Locks

/// Writes failures that repeat: the first of a kind at once, and then one line a second with their number, because an outage
/// fails each of thousands of requests for the same cause. A kind is a message with its cause.
public final class FailureLog: Sendable {
    /// The kinds that are told apart within a second. Further ones count as one, whatever their causes.
    private static let kindsMax = 16

    private struct Kind: Hashable {
        let message: String
        let cause: String
    }

    /// The failures of a kind since its last line.
    private struct Repeated {
        var count = 0
        var level: LogLevel
        var cause: String
        var fields: LogFields
    }

    private struct State {
        var kinds: [Kind: Repeated] = [:]
        /// Whether a task writes what is counted, after each second.
        var isTimed = false
    }

    private let logger: Logger
    private let sleep: @Sendable (Duration) async -> Void
    private let state = Locked(State())

    /// A log over `logger`. `sleep` waits for the next line.
    public init(
        _ logger: Logger,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.logger = logger
        self.sleep = sleep
    }

    /// Writes a failure, or counts it if one of its kind was written within the last second. The line of counted ones has the
    /// fields of the last of them, and their number in `count`.
    public func write(
        _ level: LogLevel, _ message: String, cause: String, _ fields: @autoclosure () -> LogFields = [:]
    ) {
        guard logger.enabled(level) else { return }
        let fields = fields()
        let (isFirst, mustTime) = state.withLock { state -> (Bool, Bool) in
            var kind = Kind(message: message, cause: cause)
            if state.kinds[kind] == nil, state.kinds.count >= Self.kindsMax { kind = Kind(message: message, cause: "") }
            var repeated = state.kinds[kind] ?? Repeated(count: -1, level: level, cause: cause, fields: fields)
            repeated.count += 1
            (repeated.level, repeated.cause, repeated.fields) = (level, cause, fields)
            state.kinds[kind] = repeated
            defer { state.isTimed = true }
            return (repeated.count == 0, !state.isTimed)
        }
        if isFirst { logger.log(level, message, ["cause": .string(cause)] + fields) }
        if mustTime {
            Task {
                repeat { await sleep(.seconds(1)) } while writeCounted(endsTimer: true)
            }
        }
    }

    /// Writes what is counted. Returns false if nothing was counted since the last call: the next failure is written at once.
    @discardableResult public func flush() -> Bool { writeCounted(endsTimer: false) }

    private func writeCounted(endsTimer: Bool) -> Bool {
        let lines = state.withLock { state in
            let lines = state.kinds.filter { $0.value.count > 0 }
            state.kinds = lines.mapValues { repeated in
                var repeated = repeated
                repeated.count = 0
                return repeated
            }
            if lines.isEmpty, endsTimer { state.isTimed = false }
            return lines
        }
        for (kind, repeated) in lines.sorted(by: { ($0.key.message, $0.key.cause) < ($1.key.message, $1.key.cause) }) {
            logger.log(
                repeated.level, kind.message,
                ["cause": .string(repeated.cause)] + repeated.fields + ["count": .int(repeated.count)])
        }
        return !lines.isEmpty
    }
}
