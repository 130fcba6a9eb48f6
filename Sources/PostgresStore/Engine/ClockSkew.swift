public import Sessions

/// The difference between this machine's clock and that of the database, which is the time of all nodes.
public struct ClockSkew: Hashable, Sendable {
    /// The lead of this machine's clock; negative if it is behind.
    public let lead: Duration
    /// The uncertainty of `lead`: half of the round trip, because the moment within it at which the database read its clock is
    /// unknown.
    public let error: Duration

    /// The largest accepted difference: a quarter of the rotation interval, a second at least. The time of the node is the
    /// database's, so that no answer depends on it; but a machine with another time is not looked after.
    public static func allowed(for settings: SessionSettings?) -> Duration {
        max((settings?.rotationInterval ?? .zero) / 4, .seconds(1))
    }

    /// The difference that is certain, with the sign of `lead`.
    public var certainLead: Duration {
        lead < .zero ? min(lead + error, .zero) : max(lead - error, .zero)
    }

    /// Whether the difference is larger than `allowed` even after subtraction of the error.
    public func exceeds(_ allowed: Duration) -> Bool { certainLead > allowed || .zero - certainLead > allowed }

    init(lead: Duration, error: Duration) {
        self.lead = lead
        self.error = error
    }

    /// Measures the difference. `run` sends a statement to the database.
    init(of clock: WallClock, _ run: (Statement) throws(DatabaseError) -> Rows?) throws(DatabaseError) {
        let before = clock.sinceEpoch
        let answer = try run(DatabaseClock.asking)?.first { row in row.integer() }
        let after = clock.sinceEpoch
        guard let answer else { throw .lost("an answer is missing") }
        self.init(lead: (before + after) / 2 - .microseconds(answer), error: (after - before) / 2)
    }
}
