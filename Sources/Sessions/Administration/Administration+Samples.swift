/// A change of lifetimes that is looked at before it is made.
public enum LifetimeChange: Sendable {
    /// Other settings, for all sessions.
    case settings(SessionSettings)
    /// Another client of the same id, for its sessions.
    case client(Client)
    /// Another maximum of a user, for the user's sessions.
    case user(User)

    /// The client that the change is about; nil: all, or one user.
    fileprivate var clientID: String? {
        if case .client(let client) = self { client.id } else { nil }
    }

    /// The record as the change would make it; nil if the change is not about its session.
    fileprivate func applied(to record: SessionRecord) -> SessionRecord? {
        var record = record
        switch self {
        case .settings(let settings): record.settings.sessions = settings
        case .client(let client):
            guard record.session.clientID == client.id else { return nil }
            record.client = client
        case .user(let user):
            guard record.session.userID == user.id else { return nil }
            record.user = user
        }
        return record
    }
}

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
        try await preview(.settings(settings), isOver: isOver)
    }

    /// Looks at the living sessions that `change` is about: at all of a user, else at a sample as above.
    public func preview(
        _ change: LifetimeChange, isOver: () -> Bool
    ) async throws(ServiceError) -> SettingsPreview {
        let catalogue = try await inStore(await store.catalogue())
        if let (member, problem) = self.problem(with: change, catalogue) {
            throw .invalid(member: member, detail: problem)
        }
        var preview = SettingsPreview()
        if case .user(let user) = change {
            var cursor: String?
            repeat {
                let page = try await inStore(await store.sessions(of: user.id, after: cursor, limit: Self.stepLimit))
                for record in page.items { look(at: record, under: change, &preview) }
                cursor = page.nextCursor
            } while cursor != nil && !isOver()
            preview.isWhole = cursor == nil
            return preview
        }
        let start = Identifier<Session>(random: context.random)
        var (cursor, hasWrapped) = (Optional(start), false)
        while !isOver() {
            let step = try await livingSessions(after: cursor, ofClient: change.clientID)
            for record in step.records {
                if hasWrapped, !(record.session.id.words < start.words) { break }
                look(at: record, under: change, &preview)
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

    /// The member and the error of a change that would be refused.
    private func problem(with change: LifetimeChange, _ catalogue: Catalogue) -> (member: String, detail: String)? {
        switch change {
        case .settings(let settings):
            Lifetimes.problem(
                settings: settings, clients: Array(catalogue.clients.values),
                absoluteMaximum: policy.absoluteMaximum(beside: catalogue.settings)
            ).map { (member: "settings", detail: $0) }
        case .client(let client):
            client.problem(with: catalogue.settings, policy).map { (member: "client", detail: $0) }
        case .user: nil
        }
    }

    private func look(at record: SessionRecord, under change: LifetimeChange, _ preview: inout SettingsPreview) {
        let now = context.clock.now
        guard policy.ending(of: record, at: now) == nil, let changed = change.applied(to: record) else { return }
        func end(_ record: SessionRecord) -> Instant {
            let lifetimes = policy.lifetimes(settings: record.settings, client: record.client, user: record.user)
            return min(lifetimes.idleEnd(of: record.session), lifetimes.finalEnd(of: record.session))
        }
        let (before, after) = (end(record), end(changed))
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
        after cursor: Identifier<Session>?, ofClient clientID: String? = nil
    ) async throws(ServiceError) -> (records: [SessionRecord], last: Identifier<Session>?) {
        try await inStore(await store.livingSessions(after: cursor, limit: Self.stepLimit, ofClient: clientID))
    }
}
