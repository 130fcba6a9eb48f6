internal import Cryptography
internal import Locks

/// Takes over the refresh tokens of another system, which an import has brought.
///
/// A foreign token is the serial 0 of the session that it becomes. Its first presentation makes the session, with child 1 and
/// parent 0; every later one is decided by the table of rotation: a retry gets the same child, a lost answer a new one, and a
/// copy that is presented after its successor was used ends the session.
final class ForeignTokenService: UseCase {
    let context: ServiceContext

    init(_ context: ServiceContext) { self.context = context }

    /// Decides a refresh with a token that is not one of this server's, in a transaction. False: not a foreign token either.
    func exchange(_ attempt: RefreshAttempt) async throws(ServiceError) -> Bool {
        guard try await mayBeForeign(attempt.token, at: attempt.circumstances.time.now) else { return false }
        // A client that was answered 503 meanwhile must not find its token spent.
        if Task.isCancelled { throw .overloaded }
        let id = Identifier<Session>(random: context.random)
        let digest = sha256(Array(attempt.token.utf8))
        let exchange = try await inStore(
            await store.updateForeignToken(digest) { change in change.exchange(attempt, for: id) })
        switch exchange {
        case nil: return false
        case .decided(let verdict): attempt.record(verdict)
        case .spent(let sessionID):
            let found: Void? = try await inStore(
                await store.updateSession(sessionID) { change in attempt.settle(&change) })
            if found == nil { attempt.record(.failed(.refused(.unknownSession))) }
        }
        return true
    }

    /// Logs out a foreign token: one that waits is deleted, so that it becomes no session. Returns the session that it has
    /// become already. Throws `originNotAllowed` if its client does not allow the page.
    func logOut(
        _ text: String, ofClient clientID: String?, page: CallingPage?, from origin: Origin
    ) async throws(ServiceError) -> LogOut {
        let now = context.clock.now
        guard try await mayBeForeign(text, at: now) else { return .unknown }
        let digest = sha256(Array(text.utf8))
        let outcome = try await inStore(
            await store.updateForeignToken(digest) { change -> Result<LogOut, ServiceError> in
                guard let token = change.token else { return .success(.unknown) }
                if let clientID, token.clientID != clientID { return .failure(.unauthorizedClient) }
                if let page, let client = change.client {
                    do throws(ServiceError) { try page.admit(client) } catch { return .failure(error) }
                }
                if let exchange = token.exchange { return .success(.session(exchange.sessionID)) }
                change.events.append(
                    AuditEvent(
                        .sessionsEnded, at: now, by: origin, userID: token.userID, clientID: token.clientID,
                        deviceID: token.device.id, deviceName: token.device.label,
                        reason: EndReason.loggedOut.rawValue))
                change.token = nil
                return .success(.deleted)
            })
        return try outcome?.get() ?? .unknown
    }

    /// The result of logging out a foreign token.
    enum LogOut: Sendable {
        /// It is not a foreign token.
        case unknown
        case deleted
        /// It has become that session, which is still to be ended.
        case session(Identifier<Session>)
    }

    private func mayBeForeign(_ text: String, at now: Instant) async throws(ServiceError) -> Bool {
        if text.isEmpty || text.hasPrefix(RefreshTokenCoder.prefix) { return false }
        return try await inStore(await context.foreignTokens.exist(in: store, at: now))
    }
}

/// The result of presenting a foreign token.
enum ForeignTokenExchange: Sendable {
    /// It was not exchanged before, and this was decided.
    case decided(RefreshAttempt.Verdict)
    /// It is the serial 0 of that session.
    case spent(Identifier<Session>)
}

extension ForeignTokenChange {
    /// Exchanges the token for the session `id`, if the decision grants tokens and the token was not exchanged before.
    mutating func exchange(_ attempt: RefreshAttempt, for id: Identifier<Session>) -> ForeignTokenExchange {
        let (origin, time) = (attempt.circumstances.origin, attempt.circumstances.time)
        let now = time.now
        guard let token else { return .decided(.failed(.refused(.malformed))) }
        if let exchange = token.exchange { return .spent(exchange.sessionID) }
        if let expiresAt = token.expiresAt, now >= expiresAt {
            if time.earliest < expiresAt { return .decided(.failed(.store(.clockInDoubt))) }
            return .decided(.refused(.refused(.ended(.idleExpired)), token.userID))
        }
        let session = Session(
            id: id, userID: token.userID, clientID: token.clientID, device: token.device,
            scope: token.scope ?? client?.scope ?? .empty, startedAt: min(token.startedAt, now), epoch: token.epoch,
            childAnsweredAt: now, childRequestKey: attempt.requestKey)
        var change = SessionChange(
            SessionRecord(session: session, user: user, client: client, settings: settings))
        let verdict = attempt.verdict(on: &change)
        guard case .granted = verdict else { return .decided(verdict) }
        // A login on this device has started a newer session since.
        if living != nil { return .decided(.refused(.refused(.ended(.replaced)), token.userID)) }
        self.session = change.session
        self.token?.exchange = ForeignToken.Exchange(sessionID: id, at: now)
        events.append(
            AuditEvent(.sessionStarted, at: now, by: origin, session: change.session, reason: ForeignToken.startReason))
        return .decided(verdict)
    }
}

extension RefreshPolicy {
    /// Whether the row of a foreign token can be deleted: a month after it was exchanged, or could have been for the last time.
    public func isForgotten(_ token: ForeignToken, at now: Instant) -> Bool {
        let last = token.startedAt + absoluteMaximum
        let end = token.exchange?.at ?? min(token.expiresAt ?? last, last)
        return now >= end + Self.tombstoneLifetime
    }
}

/// Remembers for a second whether there are foreign tokens at all, so that junk is refused without asking the store where
/// nothing was imported.
final class ForeignTokenPresence: Sendable {
    /// The time for which an answer of the store is used.
    static let beliefSpan = Duration.seconds(1)

    private let last = Locked<(exist: Bool, at: Instant)?>(nil)

    func exist(in store: any Store, at now: Instant) async throws(StoreError) -> Bool {
        if let last = last.withLock({ $0 }), now >= last.at, now - last.at < Self.beliefSpan { return last.exist }
        let exist = !(try await store.foreignTokens(after: nil, limit: 1)).isEmpty
        last.withLock { $0 = (exist, now) }
        return exist
    }
}
