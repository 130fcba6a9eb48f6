/// What the clocks of this machine, of the database and of the other nodes' machines tell together.
enum ClockVerdict: Hashable, Sendable {
    /// This machine's clock is the database's, as far as is allowed.
    case right
    /// It is not, and the other nodes do not say which one is wrong: none has reported since, or they contradict each other.
    case wrong
    /// It is not, and at least half of the other nodes agree with the database: this node is not ready.
    case outvoted
    /// It is not, and all other nodes have this machine's time: the database's clock is wrong, and all nodes stay ready.
    case database

    /// The verdict of the leads over the database's clock: `lead`, that of this machine, and those of the others. One of them
    /// at least agrees with the database where a node is outvoted, so that never all nodes are.
    init(_ lead: Duration, _ others: [Duration], allowed: Duration) {
        func isWithin(_ difference: Duration) -> Bool { -allowed <= difference && difference <= allowed }
        let agreeing = others.count(where: isWithin)
        if isWithin(lead) {
            self = .right
        } else if others.isEmpty {
            self = .wrong
        } else if agreeing * 2 >= others.count {
            self = .outvoted
        } else {
            self = others.allSatisfy { isWithin($0 - lead) } ? .database : .wrong
        }
    }
}

extension Duration {
    fileprivate static prefix func - (duration: Duration) -> Duration { .zero - duration }
}
