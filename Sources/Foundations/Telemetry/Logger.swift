/// Writes events as lines. Copies share the sink and can be used from any thread.
public struct Logger: Sendable {
    /// The form of a line.
    public enum Format: String, Sendable, CaseIterable, Codable {
        /// One JSON object per line: `time`, `level`, `message`, then the fields.
        case json
        /// `time level message name=value …`, for people.
        case text
    }

    /// The lowest level that is written. Events below it cost one comparison.
    public let level: LogLevel

    private let format: Format
    private let clock: @Sendable () -> Int64
    private let sink: LogSink
    private let context: LogFields

    /// Creates a logger for events of at least `level`. `clock` returns milliseconds since 1970 (UTC).
    public init(
        level: LogLevel = .info, format: Format = .json, sink: LogSink = .standardError,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.init(level: level, format: format, clock: clock, sink: sink, context: [:])
    }

    private init(
        level: LogLevel, format: Format, clock: @escaping @Sendable () -> Int64, sink: LogSink, context: LogFields
    ) {
        self.level = level
        self.format = format
        self.clock = clock
        self.sink = sink
        self.context = context
    }

    /// A logger that writes nothing.
    public static let silent = Logger(level: .error, sink: LogSink { _ in }) { 0 }

    /// Returns a logger that adds these fields to all its lines, such as the ID of a request.
    public func with(_ fields: LogFields) -> Logger {
        Logger(level: level, format: format, clock: clock, sink: sink, context: context + fields)
    }

    /// Returns true if events of this level are written.
    public func enabled(_ level: LogLevel) -> Bool { level >= self.level }

    /// Writes an event. Message and fields are evaluated only if the level is enabled.
    public func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]
    ) {
        guard enabled(level) else { return }
        let line = LogLine(
            time: Timestamp(milliseconds: clock()), level: level, message: message(), fields: context + fields())
        sink.write(format == .json ? line.json : line.text)
    }

    /// Writes an event at `LogLevel.debug`.
    public func debug(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.debug, message(), fields())
    }

    /// Writes an event at `LogLevel.info`.
    public func info(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.info, message(), fields())
    }

    /// Writes an event at `LogLevel.notice`.
    public func notice(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.notice, message(), fields())
    }

    /// Writes an event at `LogLevel.warning`.
    public func warning(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.warning, message(), fields())
    }

    /// Writes an event at `LogLevel.error`.
    public func error(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.error, message(), fields())
    }
}
