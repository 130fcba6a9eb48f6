internal import Sessions

/// The difference between this machine's clock and that of the database, which all nodes share.
public struct ClockSkew: Hashable, Sendable {
    /// The lead of this machine's clock; negative if it is behind.
    public let lead: Duration
    /// The uncertainty of `lead`: half of the round trip, because the moment within it at which the database read its clock is
    /// unknown.
    public let error: Duration

    /// The largest accepted difference: a quarter of `Revocation.leeway`. The clocks of two nodes within it differ by at most
    /// half of the leeway that applies when tokens are compared with the time of an ending; the other half is for the commit.
    /// All other uses of several nodes' clocks allow for more.
    public static let tolerance = Revocation.leeway / 4

    /// Whether the difference exceeds the tolerance even after subtraction of the error.
    public var isTooLarge: Bool { (lead < .zero ? .zero - lead : lead) - error > Self.tolerance }

    init(lead: Duration, error: Duration) {
        self.lead = lead
        self.error = error
    }

    /// Measures the difference. `run` sends a statement to the database.
    init(of clock: WallClock, _ run: (Statement) throws(DatabaseError) -> Rows?) throws(DatabaseError) {
        let before = clock.sinceEpoch
        let answer = try run(Self.asking)?.first { row in row.integer() }
        let after = clock.sinceEpoch
        guard let answer else { throw .contradiction("the database does not say what time it is") }
        self.init(lead: (before + after) / 2 - .microseconds(answer), error: (after - before) / 2)
    }

    private static let asking = Statement(Template("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"))
}
