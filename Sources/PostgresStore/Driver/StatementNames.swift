internal import Synchronization

/// Records whether the server keeps named statements for the connections of this store. PgBouncer in transaction mode may break
/// that, because each transaction may use another server connection, which knows other names. The resulting error rolls its
/// transaction back; afterwards every statement is sent with its text.
final class StatementNames: Sendable {
    private let forbidden: Atomic<Bool>

    /// - Parameter areUsed: false for a connection that is used once and cannot repeat a failed statement.
    init(areUsed: Bool = true) { forbidden = Atomic(!areUsed) }

    /// Whether statements are sent by name.
    var areUsed: Bool { !forbidden.load(ordering: .relaxed) }

    /// Stops the use of names permanently.
    func giveUp() { forbidden.store(true, ordering: .relaxed) }

    /// Whether an error with that SQLSTATE says that a name is unknown or already in use, or that its plan returns other
    /// columns than before.
    static func isConfusion(_ state: String) -> Bool { ["26000", "42P05", "0A000"].contains(state) }
}
