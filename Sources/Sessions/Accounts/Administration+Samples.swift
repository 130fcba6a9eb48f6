/// What other settings would do to the living sessions of a sample.
public struct SettingsPreview: Hashable, Sendable {
    /// The living sessions that were looked at.
    public var looked = 0
    /// Those that would end at once.
    public var endingNow = 0
    /// Those that would end earlier than they do now, if they are not refreshed.
    public var endingEarlier = 0
    /// Those that would end later.
    public var endingLater = 0
    /// Whether all sessions were looked at.
    public var isWhole = false
}

// Steps along the table of sessions, each short, so that no admin's question keeps apps waiting.
extension Administration {
    private static let stepLimit = 500

    /// Looks at a sample of the living sessions, beginning at a random one, until `isOver` or until all were seen. Throws `invalid`
    /// for settings that a change refuses.
    public func preview(
        _ settings: SessionSettings, isOver: () -> Bool
    ) async throws(ServiceError) -> SettingsPreview {
        let catalogue = try await inStore { () async throws(StoreError) in try await store.catalogue() }
        let problem = Lifetimes.problem(
            settings: settings, clients: Array(catalogue.clients.values),
            absoluteMaximum: policy.absoluteMaximum(beside: catalogue.settings))
        if let problem { throw .invalid(member: "settings", detail: problem) }
        var preview = SettingsPreview()
        let start = Identifier<Session>(random: context.random)
        var (cursor, hasWrapped) = (Optional(start), false)
        while !isOver() {
            let step = try await livingSessions(after: cursor)
            for record in step.records {
                if hasWrapped, !(record.session.id.words < start.words) { break }
                look(at: record, under: settings, &preview)
            }
            if let last = step.last, !hasWrapped || last.words < start.words {
                cursor = last
                continue
            }
            if hasWrapped {
                preview.isWhole = true
                return preview
            }
            (cursor, hasWrapped) = (nil, true)
        }
        return preview
    }

    private func look(at record: SessionRecord, under changed: SessionSettings, _ preview: inout SettingsPreview) {
        let now = context.clock.now
        guard policy.ending(of: record, at: now) == nil else { return }
        var settings = record.settings
        settings.sessions = changed
        func end(_ lifetimes: Lifetimes) -> Instant {
            min(lifetimes.idleEnd(of: record.session), lifetimes.finalEnd(of: record.session))
        }
        let before = end(policy.lifetimes(settings: record.settings, client: record.client, user: record.user))
        let after = end(policy.lifetimes(settings: settings, client: record.client, user: record.user))
        preview.looked += 1
        if after <= now {
            preview.endingNow += 1
        } else if after < before {
            preview.endingEarlier += 1
        } else if after > before {
            preview.endingLater += 1
        }
    }

    /// The living sessions after `cursor` that match, in the order of their ids. The search reads until it has `limit` of them, or
    /// until `isOver`.
    ///
    /// - Returns: the sessions, and the id after which the search goes on; nil: there are no more.
    public func searchSessions(
        after cursor: Identifier<Session>?, limit: Int, isOver: () -> Bool, matching isMatch: (SessionRecord) -> Bool
    ) async throws(ServiceError) -> (records: [SessionRecord], next: Identifier<Session>?) {
        var (found, cursor) = ([SessionRecord](), cursor)
        repeat {
            let step = try await livingSessions(after: cursor)
            for record in step.records where policy.ending(of: record, at: context.clock.now) == nil && isMatch(record)
            {
                found.append(record)
                if found.count == limit { return (found, record.session.id) }
            }
            guard let last = step.last else { return (found, nil) }
            cursor = last
        } while !isOver()
        return (found, cursor)
    }

    private func livingSessions(
        after cursor: Identifier<Session>?
    ) async throws(ServiceError) -> (records: [SessionRecord], last: Identifier<Session>?) {
        try await inStore { () async throws(StoreError) in
            try await store.livingSessions(after: cursor, limit: Self.stepLimit)
        }
    }
}
