/// The networks that have sent a wrong password within the last ten minutes, in bounded memory.
///
/// A random hash assigns each network to one of many small sets, so that an attacker cannot choose a set. In a full set a new
/// network replaces the one with the oldest wrong password.
struct RecentWrongPasswords {
    private struct Row {
        /// The hash of the sender; 0 in an unused row.
        var tag = 0
        /// The seconds between `start` and the last wrong password.
        var at = Int64.min
    }

    /// How long a wrong password counts.
    static let memory = Duration.seconds(600)
    private static let setCount = 2048
    private static let setSize = 8

    /// The table is empty until the first wrong password.
    private var rows: [Row] = []
    private var start: ContinuousClock.Instant?

    /// Whether that sender has sent a wrong password within the last ten minutes.
    func contains(_ sender: PasswordHasher.Requester.Sender, at now: ContinuousClock.Instant) -> Bool {
        guard let start, !rows.isEmpty else { return false }
        let tag = Self.tag(sender)
        let row = rows[place(of: tag)]
        return row.tag == tag && (now - start).components.seconds - row.at < Self.memory.components.seconds
    }

    mutating func note(_ sender: PasswordHasher.Requester.Sender, at now: ContinuousClock.Instant) {
        if rows.isEmpty { rows = Array(repeating: Row(), count: Self.setCount * Self.setSize) }
        let since = start ?? now
        start = since
        let tag = Self.tag(sender)
        rows[place(of: tag)] = Row(tag: tag, at: (now - since).components.seconds)
    }

    /// The index of the row with `tag`, or of the oldest row of its set.
    private func place(of tag: Int) -> Int {
        let first = tag % Self.setCount * Self.setSize
        var oldest = first
        for place in first..<first + Self.setSize {
            if rows[place].tag == tag { return place }
            if rows[place].at < rows[oldest].at { oldest = place }
        }
        return oldest
    }

    private static func tag(_ sender: PasswordHasher.Requester.Sender) -> Int { max(1, sender.hashValue & Int.max) }
}
