import Cryptography
import Sessions
import StoreConformance

@testable import SQLiteStore

/// One client of a store that loses its power again and again: does one thing after the other, and remembers what was
/// acknowledged.
struct PowerCutWorker: Sendable {
    /// What a worker knows of the database. No other worker changes it.
    struct Facts: Hashable, Sendable {
        var user: User?
        var session: Session?
        /// Sessions that were ended before, the last ones.
        var past: [Session] = []
        /// How providers know the user, the oldest first.
        var identities: [Identity] = []
        /// Of the first worker only.
        var refreshAfter: Duration?
    }

    let number: Int
    private(set) var acknowledged = Facts()
    /// What was asked last and refused, or not answered: it may have happened.
    private(set) var pending: Facts?
    private(set) var acknowledgements = 0

    init(_ number: Int) { self.number = number }

    /// Does one thing after the other until one is refused, `count` at most.
    mutating func work(_ store: SQLiteStore, count: Int, using random: inout some RandomNumberGenerator) async {
        for _ in 0..<count {
            let next = choose(using: &random)
            do throws(StoreError) {
                try await change(store, to: next)
            } catch {
                pending = next
                return
            }
            acknowledged = next
            acknowledgements += 1
        }
    }

    private func choose(using random: inout some RandomNumberGenerator) -> Facts {
        var next = acknowledged
        guard var user = next.user else {
            next.user = Example.user("worker-\(number)")
            return next
        }
        guard var session = next.session, session.ending == nil else {
            if let session = next.session { next.past = next.past.suffix(4) + [session] }
            next.session = Example.session(of: user.id)
            return next
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            session.end(.revokedByAdmin, at: Example.start + .seconds(Int64(session.child)))
            next.session = session
        case 1:
            let note = "note \(UInt32.random(in: 0 ... .max, using: &random))"
            user.disabledByAdmin =
                user.disabledByAdmin == nil
                ? User.LoginDisabling(effective: .immediate, since: Example.start, note: note) : nil
            next.user = user
        case 2:
            if next.identities.count == 3 {
                next.identities.removeFirst()
            } else if let key = Identity.Key(
                provider: "acme", subject: "\(number)-\(UInt64.random(in: 0 ... .max, using: &random))")
            {
                next.identities.append(Identity(key, userID: user.id, linkedAt: Example.start))
            }
        case 3 where number == 0:
            next.refreshAfter = .seconds(Int64.random(in: 1...1000, using: &random))
        default:
            session.parent = session.child
            session.child += 1
            next.session = session
        }
        return next
    }

    private func change(_ store: SQLiteStore, to next: Facts) async throws(StoreError) {
        if let user = next.user, user != acknowledged.user {
            if acknowledged.user == nil {
                _ = try await store.insertUser(
                    user, from: .admin, events: [AuditEvent(.userCreated, at: Example.start, by: .system)])
            } else {
                let event = Self.event(
                    .loginsDisabled, user.disabledByAdmin == nil ? .userUnblocked : .userBlocked, user)
                _ = try await store.updateUser(.id(user.id)) { ($0.user, $0.events) = (user, [event]) }
            }
        } else if let user = next.user, next.identities != acknowledged.identities {
            try await change(store, to: next.identities, of: user)
        } else if let session = next.session, session != acknowledged.session {
            if acknowledged.session?.id == session.id {
                _ = try await store.updateSession(session.id) { change in
                    change.session = session
                    if session.ending != nil { change.events = [Self.event(.sessionEnded, .sessionEnded, session)] }
                }
            } else {
                try await store.openSession(
                    userID: session.userID, clientID: session.clientID, deviceID: session.device.id
                ) { $0.session = session }
            }
        } else if let refreshAfter = next.refreshAfter {
            try await store.updateSettings { $0.settings.sessions.refreshAfter = refreshAfter }
        }
    }

    private func change(
        _ store: SQLiteStore, to identities: [Identity], of user: User
    ) async throws(StoreError) {
        if let gone = acknowledged.identities.first(where: { !identities.contains($0) }) {
            _ = try await store.deleteIdentity(gone.key, of: user.id, events: [])
        } else if let new = identities.last {
            let event = AuditEvent(.identityLinked, at: Example.start, by: .system, userID: user.id)
            _ = try await store.insertIdentity(IdentityInsertion(new, events: [event]))
        }
    }

    private static func event(
        _ kind: AuditEvent.Kind, _ revokes: Revocation.Kind, _ user: User
    ) -> AuditEvent {
        var event = AuditEvent(kind, at: Example.start, by: .system, userID: user.id)
        event.revokes = revokes
        return event
    }

    private static func event(
        _ kind: AuditEvent.Kind, _ revokes: Revocation.Kind, _ session: Session
    ) -> AuditEvent {
        var event = AuditEvent(kind, at: Example.start, by: .system, session: session)
        event.revokes = revokes
        return event
    }

    /// What the database holds in place of what was acknowledged, nothing if all of it is there. Of what was not
    /// acknowledged, either outcome is taken over.
    mutating func losses(_ store: SQLiteStore) async throws(StoreError) -> [String] {
        var losses: [String] = []
        let candidates = [acknowledged] + [pending].compactMap { $0 }
        var found: Facts?
        for candidate in candidates where try await stands(candidate, in: store) { found = candidate }
        if let found {
            acknowledged = found
        } else {
            losses.append("worker \(number): acknowledged \(acknowledged), pending \(pending.map { "\($0)" } ?? "-")")
        }
        pending = nil
        return losses
    }

    /// Whether the database holds exactly `facts`.
    private func stands(_ facts: Facts, in store: SQLiteStore) async throws(StoreError) -> Bool {
        guard try await store.user(.username("worker-\(number)")) == facts.user else { return false }
        for session in facts.past + [facts.session].compactMap({ $0 }) {
            guard try await store.session(session.id)?.session == session else { return false }
        }
        // No session more than these: one that was not acknowledged is no fact.
        if let user = facts.user {
            let living = try await store.sessions(of: user.id, after: nil, limit: 1000).items.filter {
                $0.session.ending == nil
            }
            let expected = facts.session.map { $0.ending == nil ? 1 : 0 } ?? 0
            guard living.count == expected else { return false }
        }
        if let user = facts.user {
            let identities = try await store.identities(of: user.id)
            guard Set(identities) == Set(facts.identities), try await isTold(facts, of: user, by: store) else {
                return false
            }
        }
        guard let refreshAfter = facts.refreshAfter else { return true }
        return try await store.settings().sessions.refreshAfter == refreshAfter
    }

    /// Whether the feed tells once of each session that has ended, of none that lives, and whether the user is blocked.
    private func isTold(_ facts: Facts, of user: User, by store: SQLiteStore) async throws(StoreError) -> Bool {
        // All of it: without clients, there are no tokens for which it would matter.
        let feed = try await store.revocations(after: 0, at: Instant(secondsSinceEpoch: 0), limit: 100_000)
            .filter { $0.userID == user.id }
        let ended = feed.compactMap(\.sessionID)
        for session in facts.past + [facts.session].compactMap({ $0 }) {
            guard ended.count(where: { $0 == session.id }) == (session.ending == nil ? 0 : 1) else { return false }
        }
        let isBlocked = feed.last { $0.kind != .sessionEnded }?.kind == .userBlocked
        return isBlocked == (user.disabledByAdmin != nil)
    }
}
