internal import Sessions

/// How far this machine's clock is from that of the database, which all nodes have in common.
public struct ClockSkew: Hashable, Sendable {
    /// How far this clock is ahead; negative: behind.
    public let lead: Duration
    /// Half of the round trip: at which moment of it the database has read its clock, nobody knows.
    public let error: Duration

    /// Nodes that are no further from the database are no further from each other than half of what is allowed for when tokens are
    /// compared with the time of an ending; the other half is for the commit. All else that depends on the clocks of several
    /// nodes allows for more.
    public static let tolerance = Revocation.leeway / 4

    /// Whether it is more than the tolerance for sure.
    public var isTooLarge: Bool { (lead < .zero ? .zero - lead : lead) - error > Self.tolerance }

    init(lead: Duration, error: Duration) {
        self.lead = lead
        self.error = error
    }

    /// Measures it; `run` asks the database.
    init(of clock: WallClock, _ run: (Statement) throws(DatabaseError) -> Rows?) throws(DatabaseError) {
        let before = clock.sinceEpoch
        let answer = try run(Self.asking)?.first { row in row.integer() }
        let after = clock.sinceEpoch
        guard let answer else { throw .contradiction("the database does not say what time it is") }
        self.init(lead: (before + after) / 2 - .microseconds(answer), error: (after - before) / 2)
    }

    private static let asking = Statement(Template("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"))
}
