public import Foundation

/// Keeps the record in a file: for Linux, for daemons and for tests.
///
/// The file `session.json` (0600) is written beside itself, made durable and renamed. Processes exclude each other by a lock
/// that they hold for this alone, never while they wait for the network. A file that is no record is kept when a login sets it
/// aside.
public struct FileStore: SessionStore {
    /// The name of the file in its folder.
    public static let fileName = "session.json"

    private let file: PrivateFile
    private let queue = BlockingQueue()

    /// A store in that folder, which the first write makes (0700).
    public init(directory: URL) { self.init(directory: directory, observe: { _ in }) }

    /// A store with steps that a test observes.
    package init(
        directory: URL, observe: @escaping @Sendable (PrivateFile.Step) throws(PrivateFile.Failure) -> Void,
        flush: @escaping @Sendable (Int32) -> Int32 = { PrivateFile.flush($0) }
    ) {
        file = PrivateFile(folder: directory.path, name: Self.fileName, observe: observe, flush: flush)
    }

    /// The record; nil if there is no file.
    public func load() async throws(StoreError) -> StoredRecord? {
        try await run { file throws(PrivateFile.Failure) in try file.read() }.map { bytes throws(StoreError) in
            _ = try SessionRecord(parsing: bytes)
            return StoredRecord(version: Self.version(of: bytes), bytes: bytes)
        }
    }

    /// Replaces the file if it still has that version.
    public func replace(_ expected: RecordVersion?, with bytes: [UInt8]?) async throws(StoreError) -> Bool {
        try await run { file throws(PrivateFile.Failure) in
            try file.replace { content in
                guard content.map(Self.version) == expected else { return nil }
                return bytes.map { .content($0) } ?? PrivateFile.Replacement.none
            }
        }
    }

    /// Renames a file that is no record to `session.json.unreadable-…`.
    public func setAside() async throws(StoreError) {
        let name = "\(Self.fileName).unreadable-\(Base64URL.encode(SmallCrypto.randomBytes(count: 6)))"
        try await run { file throws(PrivateFile.Failure) in
            try file.moveAside(as: name) { content in
                content.flatMap { try? SessionRecord(parsing: $0) } == nil
            }
        }
    }

    /// Ends at once: no process is told of the others' writes. Each loads the record before it renews.
    public var changes: AsyncStream<Void> { AsyncStream { $0.finish() } }

    private static func version(of bytes: [UInt8]) -> RecordVersion {
        RecordVersion(Array(SmallCrypto.sha256(bytes).prefix(16)))
    }

    private func run<Success: Sendable>(
        _ body: @escaping @Sendable (PrivateFile) throws(PrivateFile.Failure) -> Success
    ) async throws(StoreError) -> Success {
        do throws(PrivateFile.Failure) {
            return try await queue.run { [file] () throws(PrivateFile.Failure) in try body(file) }
        } catch { throw StoreError(error) }
    }
}

extension StoreError {
    init(_ failure: PrivateFile.Failure) {
        self =
            if failure.isDenial { .denied(failure.code) } else if failure.isOversize {
                .corrupted("longer than \(PrivateFile.countMax) bytes")
            } else { .failed(failure.code, failure.action) }
    }
}
