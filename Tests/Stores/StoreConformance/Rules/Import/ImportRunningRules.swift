import Sessions
import Testing

/// Takes up all that the trail has at this moment, as an import does before a batch.
private func memory(of users: [User], in store: any Store) async throws -> ImportMode {
    var memory = ImportLedger()
    memory.note(try await store.remembered(after: 0, limit: 1000))
    for recorded in try await store.remembered(of: Set(users.map(\.id))) { memory.note(recorded.event) }
    return .keeping(memory)
}

/// What ends between the moment at which an import looks at the trail and the one at which it writes stays so.
let importRunningRules: [StoreRule] = [
    StoreRule("a user who is deleted while an import runs does not come back by it") { store in
        let users = [try await store.given(Fixture.user("anna")), try await store.given(Fixture.user("bert"))]
        let mode = try await memory(of: users, in: store)
        _ = try await store.updateUser(.id(users[0].id)) { change in
            change.deletes = true
            change.events = [AuditEvent(.userDeleted, at: Fixture.start, by: Fixture.admin, userID: users[0].id)]
        }
        #expect(try await store.importUsers(users, mode) == [.differs, .kept])
        #expect(try await store.user(.id(users[0].id)) == nil)
        #expect(try await store.importUsers(users, .replacing) == [.written, .kept])
    },
    StoreRule("logins that are switched on while an import runs stay on") { store in
        let user = try await store.given(Fixture.user())
        var disabled = user
        disabled.disabledByAdmin = User.LoginDisabling(effective: .immediate, since: Fixture.start)
        let mode = try await memory(of: [user], in: store)
        try await store.append([
            AuditEvent(.loginsEnabled, at: Fixture.start + .seconds(1), by: Fixture.admin, userID: user.id)
        ])
        #expect(try await store.importUsers([disabled], mode) == [.differs])
        #expect(try await store.user(.id(user.id))?.disabledByAdmin == nil)
    },
    StoreRule("an identity that is unlinked while an import runs stays so") { store in
        let user = try await store.given(Fixture.user())
        let key = try #require(Identity.Key(provider: "acme", subject: "1"))
        let identity = Identity(key, userID: user.id, linkedAt: Fixture.start)
        #expect(try await store.importIdentities([identity]) == [.written])
        let mode = try await memory(of: [user], in: store)
        let event = AuditEvent(
            .identityUnlinked, at: Fixture.start, by: Fixture.admin, userID: user.id, reason: "acme")
        #expect(try await store.deleteIdentity(key, of: user.id, events: [event]))
        #expect(try await store.importIdentities([identity], mode) == [.differs])
        #expect(try await store.identity(key) == nil)
        #expect(try await store.importIdentities([identity], .replacing) == [.written])
    },
    StoreRule("what waits or lives elsewhere, and whose like is ended while an import runs, does not begin to live") {
        store in
        let user = try await store.given(Fixture.user())
        let token = Fixture.foreignToken(1, of: user.id)
        let old = Fixture.session(of: user.id, device: "a")
        var new = Fixture.session(of: user.id, device: "b", at: Fixture.start + .seconds(60))
        let mode = try await memory(of: [user], in: store)
        try await store.append([
            AuditEvent(.sessionsEnded, at: Fixture.start + .seconds(9), by: Fixture.admin, userID: user.id)
        ])
        #expect(try await store.importForeignTokens([token], mode) == [.differs])
        #expect(try await store.importSessions([old, new], mode) == [.differs, .written])
        #expect(try await store.session(old.id) == nil)
        // Of what has ended it is good to know, and of what is here it was decided here.
        var ended = old
        ended.end(.loggedOut, at: Fixture.start + .seconds(5))
        new.device.name = "other"
        new.child += 1
        #expect(try await store.importSessions([ended, new], mode) == [.written, .written])
        #expect(try await store.importForeignTokens([token], .replacing) == [.written])
    },
    StoreRule("a session is over by what ended of its user, its client and its device, and by no start of a session") {
        store in
        let user = try await store.given(Fixture.user())
        let rows: [(kind: AuditEvent.Kind, client: String?, device: String?, reason: String?, isOver: Bool)] = [
            (.passwordChanged, nil, nil, nil, true), (.sessionsEnded, nil, nil, nil, true),
            (.sessionsEnded, nil, "phone", nil, true), (.sessionsEnded, nil, "tablet", nil, false),
            (.sessionsEnded, Client.mobileID, "phone", nil, true), (.sessionsEnded, "other", "phone", nil, false),
            (.sessionStarted, Client.mobileID, "phone", ForeignToken.startReason, false),
            (.allSessionsRevoked, nil, nil, nil, false), (.sessionEnded, nil, nil, nil, false),
        ]
        for row in rows {
            let event = AuditEvent(
                row.kind, at: Fixture.start, by: Fixture.admin, userID: user.id, clientID: row.client,
                deviceID: row.device, reason: row.reason)
            let session = Fixture.session(of: user.id)
            let outcomes = try await store.importSessions([session], memory(event))
            #expect(outcomes == [row.isOver ? .differs : .written], "\(row)")
        }
    },
]
