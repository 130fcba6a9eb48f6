internal import Synchronization

/// Whether the server keeps statements under names for the connections of this store. Behind PgBouncer in transaction mode it
/// may not: each transaction finds another connection to the server, which knows other names. That shows in an error, of whose
/// transaction nothing has happened; from then on every statement travels with its text.
final class StatementNames: Sendable {
    private let forbidden: Atomic<Bool>

    /// - Parameter areUsed: false for a connection that is used once and has nobody who would ask again.
    init(areUsed: Bool = true) { forbidden = Atomic(!areUsed) }

    /// Whether to use them.
    var areUsed: Bool { !forbidden.load(ordering: .relaxed) }

    /// For good.
    func giveUp() { forbidden.store(true, ordering: .relaxed) }

    /// Whether an error with that SQLSTATE says that a name is unknown, or known already, or that its plan gives other columns
    /// than it did.
    static func isConfusion(_ state: String) -> Bool { ["26000", "42P05", "0A000"].contains(state) }
}
