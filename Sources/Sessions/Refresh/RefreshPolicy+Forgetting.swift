extension RefreshPolicy {
    /// The time for which a session's row is kept after its end, so that the reason of the end can be shown.
    public static let tombstoneLifetime = Duration.seconds(30 * 86400)

    /// Whether the row of a session can be deleted: 30 days have passed since its end, however it came. A token of a
    /// forgotten session is refused as `unknown_session`, for ever: `now` must be a time that no jump of the clock can
    /// have moved (`ClockGuard.settled`).
    public func isForgotten(_ record: SessionRecord, at now: Instant) -> Bool {
        guard let end = endingInstant(of: record, at: now) else { return false }
        return now >= end + Self.tombstoneLifetime
    }

    /// The time at which the session ended: as recorded, otherwise by the earlier of a revocation and the clock. A session of a
    /// deleted user or client without a recorded end ends by the clock.
    func endingInstant(of record: SessionRecord, at now: Instant) -> Instant? {
        if let ending = record.session.ending { return ending.at }
        var ends: [Instant] = []
        if let cut = record.settings.revokedBefore, record.session.epoch < cut.epoch { ends.append(cut.at) }
        let lifetimes = lifetimes(settings: record.settings, client: record.client, user: record.user)
        if let ending = lifetimes.ending(of: record.session, at: now) { ends.append(ending.at) }
        return ends.min()
    }
}
