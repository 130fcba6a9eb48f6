/// A value that a read or a transaction requests from the database.
///
/// The request does not wait. PostgreSQL sends all requests and writes since the last round trip when a procedure reads the
/// first of their values. A procedure therefore makes all its requests before it reads a value. SQLite answers at once.
/// Statements run in the order of the requests and writes.
public struct Answer<Value> {
    private let read: () throws(TransactionError) -> Value

    /// An answer that calls `read` for its value. Only a backend makes one.
    public init(_ read: @escaping () throws(TransactionError) -> Value) { self.read = read }

    /// The value. Waits until it has arrived.
    public func value() throws(TransactionError) -> Value { try read() }
}

/// The error that stops the body of a read or of a transaction. The transaction is rolled back.
public struct TransactionError: Error, Sendable {
    /// The origin of an error, which determines how the backend handles it.
    public enum Cause: Sendable {
        /// An error of the backend itself, which the backend classifies.
        case backend(any Error)
        /// The database contradicts itself. The text says where; it is for the log.
        case corrupted(String)
        /// Another transaction wrote the row that this one was about to write, after this one had read it. The backend runs the
        /// body again, which then finds what the other transaction wrote.
        case overtaken
    }

    /// The origin of the error.
    public let cause: Cause

    /// An error with that cause. Only a backend uses the cause `backend`.
    public init(_ cause: Cause) { self.cause = cause }

    /// An error that says where the database contradicts itself.
    static func corrupted(_ text: String) -> Self { Self(.corrupted(text)) }

    /// The error of a transaction that another transaction has overtaken.
    static var overtaken: Self { Self(.overtaken) }
}
