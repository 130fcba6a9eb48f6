public import Sessions

/// The progress of a delivery as a row, without its name.
public enum DeliveryColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns("cursor", "since", "holder", "held_until", "failing_since")

    /// Reads the columns.
    public static func read(_ row: inout some StoredRow) -> DeliveryProgress {
        let cursor = row.integer()
        var progress = DeliveryProgress(since: row.instant())
        progress.cursor = cursor
        progress.holder = row.text()
        progress.heldUntil = row.instant()
        progress.failingSince = row.optionalInstant()
        return progress
    }

    /// Writes all columns.
    public static func write(_ progress: DeliveryProgress, to row: inout some WrittenRow) {
        row.add(progress.cursor)
        row.add(progress.since)
        row.add(progress.holder)
        row.add(progress.heldUntil)
        row.add(progress.failingSince)
    }
}

/// The state of the clean-up as a row, without its key.
public enum CleanUpColumns {
    /// The columns, in the order of `read`.
    public static let all = Columns("holder", "held_until", "walked_to", "walk_end", "users_read_to")

    /// Reads the columns.
    public static func read(_ row: inout some StoredRow) throws(CorruptRow) -> CleanUp {
        let lease = Lease(holder: row.text(), heldUntil: row.instant())
        var cleanUp = CleanUp(lease: lease)
        cleanUp.walkedTo = try row.optionalIdentifier()
        cleanUp.walkEnd = try row.optionalIdentifier()
        cleanUp.usersReadTo = try row.optionalIdentifier()
        return cleanUp
    }

    /// Writes all columns.
    public static func write(_ cleanUp: CleanUp, to row: inout some WrittenRow) {
        row.add(cleanUp.lease.holder)
        row.add(cleanUp.lease.heldUntil)
        row.add(cleanUp.walkedTo)
        row.add(cleanUp.walkEnd)
        row.add(cleanUp.usersReadTo)
    }
}
