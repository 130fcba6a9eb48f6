/// Keeps one session record for an app, and replaces it only if no other process has.
///
/// A store has three answers to a read: a record, nothing, or an error. It must answer "nothing" only if it is certain, because
/// an app shows the login then. Several processes may use one store; `replace` is atomic between them.
public protocol SessionStore: Sendable {
    /// The record and its version, or nil if the store certainly holds none. `StoreError.locked` says that the operating
    /// system holds the record back at present.
    func load() async throws(StoreError) -> StoredRecord?

    /// Writes `bytes`, or removes the record if `bytes` is nil, if the version of the stored record is still `expected` (nil: no
    /// record is stored). The record is durable when this returns true.
    ///
    /// - Returns: false if another version is stored. Nothing was changed then.
    func replace(_ expected: RecordVersion?, with bytes: [UInt8]?) async throws(StoreError) -> Bool

    /// Moves an unreadable record (`StoreError.corrupted`) out of the way without deleting it, so that the next login can write.
    /// It does nothing if the record is readable.
    func setAside() async throws(StoreError)

    /// Yields when another process may have changed the record, if the platform can tell. Ends when the store does.
    var changes: AsyncStream<Void> { get }
}

/// The bytes of a record, with the version under which they are stored.
public struct StoredRecord: Hashable, Sendable {
    /// The version that `SessionStore.replace` expects.
    public var version: RecordVersion
    /// The record as JSON in UTF-8.
    public var bytes: [UInt8]

    /// Creates a stored record.
    public init(version: RecordVersion, bytes: [UInt8]) {
        self.version = version
        self.bytes = bytes
    }
}

/// The version of a stored record. Two writes never have the same one unless they wrote the same bytes.
public struct RecordVersion: Hashable, Sendable {
    /// At most 32 bytes, of the store's choice.
    public var bytes: [UInt8]

    /// Creates a version.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// The reason why a store could not read or write. No error says that a user is signed out.
public enum StoreError: Error, Hashable, Sendable {
    /// The operating system holds the record back until the device is unlocked. Try again later; nothing is lost.
    case locked
    /// The app has no right to the store, for example an entitlement is missing. The number is the platform's code.
    case denied(Int32)
    /// The stored bytes are not a record. They are kept; a login sets them aside.
    case corrupted(String)
    /// Another failure: the platform's code, and what was tried.
    case failed(Int32, String)
}
