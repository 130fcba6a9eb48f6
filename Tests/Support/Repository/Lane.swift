import FoundationEssentials

/// The lane that runs: the push lane, or the full one, which searches longer. `SOJOURN_LANE=full` chooses the full one.
///
/// This is the only place that reads the variable, so that a search for `Lane.` finds everything that the push lane shortens.
public enum Lane {
    /// Whether long searches run at their full length.
    public static let isFull = ProcessInfo.processInfo.environment["SOJOURN_LANE"] == "full"

    /// A number of rounds, seeds or operations, by lane.
    public static func rounds(push: Int, full: Int) -> Int { isFull ? full : push }

    /// The arguments of a test, by lane.
    public static func cases<Case>(push: [Case], full: [Case]) -> [Case] { isFull ? full : push }
}
