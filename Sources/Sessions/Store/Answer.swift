/// A value that a read or a transaction has asked the database for.
///
/// Asking does not wait. PostgreSQL sends everything that was asked or written since the last round trip when a procedure looks at
/// the first value of it, so a procedure asks for all that it needs before it looks at anything. SQLite answers at once. Statements
/// run in the order in which they were asked or written.
public struct Answer<Value> {
    private let read: () throws(TransactionError) -> Value

    /// An answer that `read` gives. Only a backend makes one.
    public init(_ read: @escaping () throws(TransactionError) -> Value) { self.read = read }

    /// The value. Waits for it if it has not come yet.
    public func value() throws(TransactionError) -> Value { try read() }
}

/// Why the body of a read or of a transaction could not go on. Nothing of the transaction happens.
public struct TransactionError: Error, Sendable {
    /// What a backend does about an error depends on where it comes from.
    public enum Cause: Sendable {
        /// An error of the backend itself, which the backend sorts.
        case backend(any Error)
        /// The database contradicts itself; the text says where. For the log.
        case corrupted(String)
        /// Another transaction wrote, after this one had looked, what this one wanted to write. The backend runs the body again,
        /// which then finds what the other transaction wrote.
        case overtaken
    }

    /// Where the error comes from.
    public let cause: Cause

    /// An error. Only a backend makes one with the cause `backend`.
    public init(_ cause: Cause) { self.cause = cause }

    /// The database contradicts itself.
    static func corrupted(_ text: String) -> Self { Self(.corrupted(text)) }

    /// Another transaction was faster.
    static var overtaken: Self { Self(.overtaken) }
}
