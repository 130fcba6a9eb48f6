public import Sessions

/// Beginnings and ends of sessions that the observer of a store has to hear of.
public enum ObservedTransitions {
    /// All of them, in their order.
    public static let all: [SessionTransition] =
        Array(repeating: .start, count: 5)
        + [.end(.loggedOut), .end(.refreshTokenReused), .end(.revokedByAdmin), .end(.revokedByAdmin)]

    /// Begins sessions of one user, and ends them in all the ways of the store.
    public static func make(in store: some Store) async throws {
        let user = Fixture.user()
        _ = try await store.insertUser(user, from: .admin, events: [])
        var sessions: [Session] = []
        for device in ["a", "b", "c", "d", "e"] {
            let session = Fixture.session(of: user.id, device: device)
            _ = try await store.openSession(userID: user.id, clientID: Client.mobileID, deviceID: device) {
                $0.session = session
                $0.events.append(
                    AuditEvent(.sessionStarted, at: Fixture.start, by: Fixture.admin, session: session, reason: nil))
            }
            sessions.append(session)
        }
        @Sendable func end(_ session: Session, _ reason: EndReason) -> AuditEvent {
            AuditEvent(.sessionEnded, at: Fixture.start, by: Fixture.admin, session: session, reason: reason.rawValue)
        }
        // One alone, as a refresh ends it, and one with its companions.
        _ = try await store.updateSession(sessions[0].id) { change in
            change.session.end(.loggedOut, at: Fixture.start)
            change.events.append(end(change.session, .loggedOut))
        }
        _ = try await store.updateSessionAndCompanions(sessions[1].id, by: Fixture.admin) { change in
            change.session.end(.refreshTokenReused, at: Fixture.start)
            change.events.append(end(change.session, .refreshTokenReused))
        }
        // All that are left but one.
        let last = sessions[4].id
        _ = try await store.updateUser(.id(user.id)) { change in
            change.events = [AuditEvent(.sessionsEnded, at: Fixture.start, by: Fixture.admin, userID: user.id)]
            change.ending = UserChange.EndingSessions(.revokedByAdmin, at: Fixture.start, except: last)
        }
    }
}
