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
