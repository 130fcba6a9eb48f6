/// How a refresh token of a session that is bound to a key was presented by who does not have that key.
public enum TokenMisuse: String, Hashable, Sendable {
    /// Without a proof of any key.
    case noKey = "no_key"
    /// With a proof of another key.
    case otherKey = "other_key"

    /// What it is that `provenKey` comes with a token of `session`; nil: none.
    init?(of session: Session, provenKey: String?) {
        guard let key = session.keyThumbprint, key != provenKey else { return nil }
        self = provenKey == nil ? .noKey : .otherKey
    }
}

extension TokenService {
    /// Tells the audit trail that a good refresh token has left its device, if it has. It ends nothing: without the
    /// key the copy renews nothing, and its owner need not log in again. Who asks on and on is told of once per session and rotation interval.
    func tellMisuse(
        of id: Identifier<Session>, provenKey: String?, from origin: Origin, at now: Instant
    ) async throws(ServiceError) {
        guard let record = try await inStore({ () async throws(StoreError) in try await store.session(id) }),
            let misuse = TokenMisuse(of: record.session, provenKey: provenKey)
        else { return }
        let interval = max(record.settings.sessions.rotationInterval, MisuseEventThrottle.intervalMin)
        guard context.misuses.claim(record.session, for: interval, at: now) else { return }
        let event = AuditEvent(
            .refreshTokenMisused, at: now, by: origin, session: record.session, reason: misuse.rawValue)
        do throws(ServiceError) {
            try await inStore { () async throws(StoreError) in try await store.append([event]) }
        } catch {
            context.misuses.giveBack(record.session)
            throw error
        }
    }
}
