internal import Locks

/// Writes failures that repeat: the first of a kind at once, and then one line a second with their number, because an outage
/// fails each of thousands of requests for the same cause. A kind is a message with its route and its cause.
public final class FailureLog: Sendable {
    /// The kinds that are told apart within a second. Further ones count as one, whatever their causes.
    private static let kindsMax = 16

    private struct Kind: Hashable {
        let message: String
        let route: String
        let cause: String
    }

    /// The failures of a kind since its last line.
    private struct Repeated {
        var count = 0
        /// Whether its first line was written within the second that has not ended.
        var isNew = true
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
    /// Held while counted failures are taken and written, so that the last `flush` of a process returns after all are written.
    private let writing = Locked(())

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
        _ level: LogLevel, _ message: String, cause: String, route: String = "",
        _ fields: @autoclosure () -> LogFields = [:]
    ) {
        guard logger.enabled(level) else { return }
        let fields = fields()
        let (isFirst, mustTime) = state.withLock { state -> (Bool, Bool) in
            var kind = Kind(message: message, route: route, cause: cause)
            if state.kinds[kind] == nil, state.kinds.count >= Self.kindsMax {
                kind = Kind(message: message, route: "", cause: "")
            }
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

    /// Writes what is counted. Returns false if no kind is left of which a line was written within the last second: the next
    /// failure is written at once.
    @discardableResult public func flush() -> Bool { writeCounted(endsTimer: false) }

    private func writeCounted(endsTimer: Bool) -> Bool {
        writing.withLock { _ in
            let (lines, isOver) = takeCounted(endsTimer: endsTimer)
            for (kind, repeated) in lines.sorted(by: { Self.place($0.key) < Self.place($1.key) }) {
                logger.log(
                    repeated.level, kind.message,
                    ["cause": .string(repeated.cause)] + repeated.fields + ["count": .int(repeated.count)])
            }
            return !isOver
        }
    }

    private static func place(_ kind: Kind) -> (String, String, String) { (kind.message, kind.route, kind.cause) }

    /// Takes what is counted, and forgets the kinds of which nothing was written or counted for a whole second.
    private func takeCounted(endsTimer: Bool) -> (lines: [Kind: Repeated], isOver: Bool) {
        state.withLock { state in
            let lines = state.kinds.filter { $0.value.count > 0 }
            state.kinds = state.kinds.filter { $0.value.count > 0 || $0.value.isNew }.mapValues { repeated in
                var repeated = repeated
                (repeated.count, repeated.isNew) = (0, false)
                return repeated
            }
            if state.kinds.isEmpty, endsTimer { state.isTimed = false }
            return (lines, state.kinds.isEmpty)
        }
    }
}
