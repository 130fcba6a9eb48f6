internal import Glibc

/// The destination of log lines. Each call gets one whole line with its line feed, from any thread.
public struct LogSink: Sendable {
    let write: @Sendable (_ line: [UInt8]) -> Void

    /// Creates a sink that passes each line to `write`.
    public init(_ write: @escaping @Sendable (_ line: [UInt8]) -> Void) { self.write = write }

    /// A sink for standard error.
    public static let standardError = LogSink.fileDescriptor(2)

    /// Creates a sink for an open file, pipe or terminal. Each line is one write(2), so that lines do not mix. Output
    /// that a full pipe or disk refuses is lost, because the server does not wait for its log.
    public static func fileDescriptor(_ descriptor: Int32) -> LogSink {
        LogSink { line in
            var rest = line[...]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else { return }
                rest = rest.dropFirst(written)
            }
        }
    }
}
