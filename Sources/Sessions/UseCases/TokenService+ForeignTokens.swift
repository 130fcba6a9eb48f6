internal import Cryptography
internal import Locks

// A refresh token of another system is the serial 0 of the session that it becomes. Its first presentation makes the
// session, with child 1 and parent 0; every later one is judged by the table of rotation: a retry gets the same child, a
// lost answer a new one, and whoever presents it when its successor was used has a copy, which ends the session.
extension TokenService {
    /// The transaction of a refresh with a token that is not one of ours. Nil: not one of another system either.
    func exchangeForeignToken(
        _ text: String, _ presentation: RefreshPresentation, _ wanted: RequestedToken, from origin: Origin,
        at time: ClockGuard.Reading
    ) async throws(ServiceError) -> RefreshOutcome? {
        guard try await mayBeForeign(text, at: time.now) else { return nil }
        // Whoever was told meanwhile to try again must not find the token spent by this one.
        if Task.isCancelled { throw .overloaded }
        let id = Identifier<Session>(random: context.random)
        let digest = sha256(Array(text.utf8))
        let exchange = try await inStore { () async throws(StoreError) in
            try await store.updateForeignToken(digest) { [policy] change in
                change.exchange(presentation, for: id, wanted, under: policy, from: origin, at: time)
            }
        }
        switch exchange {
        case nil: return nil
        case .fresh(let outcome): return outcome
        case .spent(let sessionID):
            return try await inStore { () async throws(StoreError) in
                try await store.updateSession(sessionID) { [policy] change in
                    policy.refresh(presentation, wanted, &change, from: origin, at: time)
                }
            } ?? .failed(.refused(.unknownSession))
        }
    }

    /// The session that a foreign token has become. One that waits is deleted, so that it will become none: that is its
    /// logout. False: not a foreign token.
    func endForeignToken(
        _ text: String, ofClient clientID: String?, from origin: Origin
    ) async throws(ServiceError) -> Bool {
        let now = context.clock.now
        guard try await mayBeForeign(text, at: now) else { return false }
        let digest = sha256(Array(text.utf8))
        let exchange = try await inStore { () async throws(StoreError) in
            try await store.updateForeignToken(digest) { change -> Result<Identifier<Session>?, ServiceError> in
                if let clientID, change.token?.clientID != clientID { return .failure(.unauthorizedClient) }
                if let exchange = change.token?.exchange { return .success(exchange.sessionID) }
                if let token = change.token {
                    change.events.append(
                        AuditEvent(
                            .sessionsEnded, at: now, by: origin, userID: token.userID, clientID: token.clientID,
                            deviceID: token.device.id, reason: EndReason.loggedOut.rawValue))
                }
                change.token = nil
                return .success(nil)
            }
        }
        guard let exchange else { return false }
        if let sessionID = try exchange.get() { _ = try await end(sessionID, .loggedOut, from: origin) }
        return true
    }

    private func mayBeForeign(_ text: String, at now: Instant) async throws(ServiceError) -> Bool {
        if text.isEmpty || text.hasPrefix(RefreshTokenCoder.prefix) { return false }
        return try await inStore { () async throws(StoreError) in
            try await context.foreignTokens.areThere(in: store, at: now)
        }
    }
}

/// What presenting a foreign token came to.
enum ForeignTokenExchange: Sendable {
    /// It was not exchanged before.
    case fresh(RefreshOutcome)
    /// It is the serial 0 of that session.
    case spent(Identifier<Session>)
}

extension ForeignTokenChange {
    /// Makes the session `id` of the token, if nothing stands in the way; what was exchanged already stays so.
    mutating func exchange(
        _ presentation: RefreshPresentation, for id: Identifier<Session>, _ wanted: RequestedToken,
        under policy: RefreshPolicy,
        from origin: Origin, at time: ClockGuard.Reading
    ) -> ForeignTokenExchange {
        let now = time.now
        guard let token else { return .fresh(.failed(.refused(.malformed))) }
        if let exchange = token.exchange { return .spent(exchange.sessionID) }
        if let expiresAt = token.expiresAt, now >= expiresAt {
            if time.earliest < expiresAt { return .fresh(.failed(.store(.clockInDoubt))) }
            return .fresh(.refused(.refused(.ended(.idleExpired)), token.userID))
        }
        let session = Session(
            id: id, userID: token.userID, clientID: token.clientID, device: token.device,
            scope: token.scope ?? client?.scope ?? .empty, startedAt: min(token.startedAt, now), epoch: token.epoch,
            childAnsweredAt: now, childRequestKey: presentation.requestKey)
        var change = SessionChange(
            SessionRecord(session: session, user: user, client: client, settings: settings))
        let outcome = policy.refresh(presentation, wanted, &change, from: origin, at: time)
        guard case .issued = outcome else { return .fresh(outcome) }
        // Somebody has logged in on this device since: that session is the newer one.
        if living != nil { return .fresh(.refused(.refused(.ended(.replaced)), token.userID)) }
        self.session = change.session
        self.token?.exchange = ForeignToken.Exchange(sessionID: id, at: now)
        events.append(
            AuditEvent(.sessionStarted, at: now, by: origin, session: change.session, reason: ForeignToken.startReason))
        return .fresh(outcome)
    }
}

extension RefreshPolicy {
    /// Whether the row of a foreign token can be deleted: a month after it was exchanged, or could have been for the
    /// last time.
    public func isForgotten(_ token: ForeignToken, at now: Instant) -> Bool {
        let last = token.startedAt + absoluteMaximum
        let end = token.exchange?.at ?? min(token.expiresAt ?? last, last)
        return now >= end + Self.tombstoneLifetime
    }
}

/// Remembers for a moment whether there are foreign tokens at all, so that junk is refused without asking the store
/// where nobody ever moved here.
final class ForeignTokenPresence: Sendable {
    /// So long an answer is believed: who has just imported tokens waits no longer.
    static let beliefSpan = Duration.seconds(1)

    private let last = Locked<(isThere: Bool, at: Instant)?>(nil)

    func areThere(in store: any Store, at now: Instant) async throws(StoreError) -> Bool {
        if let last = last.withLock({ $0 }), now >= last.at, now - last.at < Self.beliefSpan { return last.isThere }
        let isThere = !(try await store.foreignTokens(after: nil, limit: 1)).isEmpty
        last.withLock { $0 = (isThere, now) }
        return isThere
    }
}
