import Sessions
import Testing

/// A memory of one event.
func memory(_ event: AuditEvent) -> ImportMode {
    var memory = ImportLedger()
    memory.note(event)
    return .keeping(memory)
}

/// What is here stays, unless an import is to replace it.
let importKeepingRules: [StoreRule] = [
    StoreRule("a user who is here stays as they are, and an import that replaces sets every member") { store in
        let here = try await store.given(Fixture.fullUser())
        var there = here
        there.username = "Zoe"
        there.profile.phoneNumber = nil
        there.passwordHash = "$scrypt$ln=17,r=8,p=1$c2FsdB$aGFzaA"
        there.offlineSessionMax = .seconds(9000)
        there.wrongPasswords = nil
        (there.disabledByAdmin, there.disabledByUser) = (nil, nil)
        #expect(try await store.importUsers([here, there]) == [.kept, .differs])
        #expect(try await store.user(.id(here.id)) == here)
        #expect(try await store.trail().isEmpty)
        #expect(try await store.importUsers([there], .replacing) == [.written])
        #expect(try await store.user(.id(here.id)) == there)
    },
    StoreRule("wrong passwords that were counted here make no other user") { store in
        var user = try await store.given(Fixture.fullUser())
        user.wrongPasswords = nil
        #expect(try await store.importUsers([user]) == [.kept])
        #expect(try await store.user(.id(user.id))?.wrongPasswords?.count == 7)
    },
    StoreRule("logins that are off in the file are off, and those that are off here stay so") { store in
        let (now, later) = (
            User.LoginDisabling(effective: .immediate, since: Fixture.start, note: "lost"),
            User.LoginDisabling(effective: .onExpiry, since: Fixture.start)
        )
        let rows: [(here: User.LoginDisabling?, there: User.LoginDisabling?, after: User.LoginDisabling?)] = [
            (nil, now, now), (nil, later, later), (later, now, now), (now, later, now), (now, nil, now),
            (later, nil, later),
            (nil, nil, nil),
        ]
        for (number, row) in rows.enumerated() {
            var user = Fixture.user("user-\(number)")
            (user.disabledByAdmin, user.disabledByUser) = (row.here, nil)
            user = try await store.given(user)
            var other = user
            (other.disabledByAdmin, other.disabledByUser) = (row.there, row.there)
            other.passwordHash = "another"
            // That the password is another one is told in any case.
            let outcome = row.there == nil ? ImportOutcome.differs : .writtenInPart
            #expect(try await store.importUsers([other]) == [outcome])
            #expect(try await store.importUsers([other]) == [.differs])
            (user.disabledByAdmin, user.disabledByUser) = (row.after, row.there)
            #expect(try await store.user(.id(user.id)) == user)
        }
    },
    StoreRule("logins that were switched on here later than off in the file stay on") { store in
        let user = try await store.given(Fixture.user())
        var other = user
        other.disabledByAdmin = User.LoginDisabling(effective: .immediate, since: Fixture.start + .seconds(9))
        for (seconds, outcome) in [(10, ImportOutcome.differs), (9, .differs), (8, .written)] {
            let event = AuditEvent(
                .loginsEnabled, at: Fixture.start + .seconds(seconds), by: Fixture.admin, userID: user.id)
            #expect(try await store.importUsers([other], memory(event)) == [outcome])
            #expect((try await store.user(.id(user.id))?.loginRefusal == nil) == (outcome == .differs))
        }
        // Their own switch lifts their own disabling, and none that an admin made.
        let own = AuditEvent(
            .loginsEnabled, at: Fixture.start + .seconds(20), by: Origin(actor: Origin.userActor), userID: user.id)
        other.disabledByUser = other.disabledByAdmin
        other.disabledByAdmin?.effective = .onExpiry
        _ = try await store.updateUser(.id(user.id)) { change in
            (change.user.disabledByAdmin, change.user.disabledByUser) = (nil, nil)
        }
        #expect(try await store.importUsers([other], memory(own)) == [.writtenInPart])
        let merged = try await store.user(.id(user.id))
        #expect(merged?.disabledByAdmin == other.disabledByAdmin && merged?.disabledByUser == nil)
    },
    StoreRule("a user who was deleted here stays so, whoever has the name; one who came back is there") { store in
        let user = Fixture.user()
        let event = AuditEvent(.userDeleted, at: Fixture.start, by: Fixture.admin, userID: user.id)
        let outcomes = try await store.importUsers([user], memory(event))
        #expect(outcomes == [.differs])
        #expect(try await store.user(.id(user.id)) == nil)
        #expect(try await store.importUsers([user], .replacing) == [.written])
        #expect(try await store.importUsers([user], memory(event)) == [.kept])
    },
    StoreRule("a foreign token that waits here is replaced by one that was used, and in an import that replaces by any")
    {
        store in
        let user = try await store.given(Fixture.user())
        let token = Fixture.foreignToken(1, of: user.id)
        #expect(try await store.importForeignTokens([token]) == [.written])
        let other = Fixture.fullForeignToken(1, of: user.id)
        #expect(try await store.importForeignTokens([other]) == [.kept])
        #expect(try await store.foreignTokens(after: nil, limit: 9) == [token])
        #expect(try await store.importForeignTokens([other], .replacing) == [.written])
        #expect(try await store.foreignTokens(after: nil, limit: 9) == [other])
        var spent = token
        spent.exchange = ForeignToken.Exchange(sessionID: Fixture.sessionID(), at: Fixture.start)
        #expect(try await store.importForeignTokens([spent]) == [.written])
        #expect(try await store.importForeignTokens([other], .replacing) == [.kept])
        #expect(try await store.foreignTokens(after: nil, limit: 9) == [spent])
    },
    StoreRule("a foreign token from before everything was ended here waits for nobody; one that was used tells so") {
        store in
        let user = try await store.given(Fixture.user())
        let token = Fixture.foreignToken(1, of: user.id)
        let end = memory(AuditEvent(.allSessionsRevoked, at: token.startedAt, by: Fixture.admin))
        #expect(try await store.importForeignTokens([token], end) == [.differs])
        #expect(try await store.foreignTokens(after: nil, limit: 9).isEmpty)
        var spent = token
        spent.exchange = ForeignToken.Exchange(sessionID: Fixture.sessionID(), at: Fixture.start)
        #expect(try await store.importForeignTokens([spent], end) == [.written])
        let earlier = memory(AuditEvent(.allSessionsRevoked, at: token.startedAt - .seconds(1), by: Fixture.admin))
        let other = Fixture.foreignToken(2, of: user.id)
        #expect(try await store.importForeignTokens([other], earlier) == [.written])
    },
    StoreRule("of the trail an import remembers what was ended, step by step, and of users what they lost") { store in
        let (user, other) = (Fixture.userID(), Fixture.userID())
        let kinds: [(AuditEvent.Kind, String?)] = [
            (.loginFailed, nil), (.userDeleted, nil), (.sessionStarted, nil), (.sessionStarted, "login"),
            (.sessionStarted, "foreign_token"), (.sessionEnded, "logged_out"), (.sessionsEnded, "revoked_by_admin"),
            (.loginsDisabled, nil), (.loginsEnabled, nil), (.userChanged, nil), (.clientDeleted, nil),
            (.adminKeyDeleted, "ab"), (.signingKeyWithdrawn, "cd"), (.identityUnlinked, "acme"),
            (.passwordChanged, nil), (.allSessionsRevoked, nil), (.loginRefused, nil),
        ]
        for id in [user, other] {
            try await store.append(
                kinds.map { AuditEvent($0, at: Fixture.start, by: Fixture.admin, userID: id, reason: $1) })
        }
        let places = try await store.trail().map(\.id)
        var steps = [try await store.remembered(after: 0, limit: 3)]
        for _ in 0..<4 { steps.append(try await store.remembered(after: steps.last?.place ?? 0, limit: 10)) }
        #expect(steps.map(\.place) == [2, 12, 22, 32, 33].map { places[$0] })
        #expect(steps.map(\.events.count) == [0, 3, 1, 4, 0])
        #expect(
            steps.flatMap(\.events).prefix(4).map(\.event.kind) == [
                .clientDeleted, .adminKeyDeleted, .signingKeyWithdrawn, .allSessionsRevoked,
            ])
        #expect(try await store.remembered(after: places[33], limit: 10) == LedgerStep([], to: places[33]))
        let ofUser = try await store.remembered(of: [user])
        #expect(
            ofUser.map(\.event.kind) == [
                .userDeleted, .sessionStarted, .sessionsEnded, .loginsEnabled, .identityUnlinked, .passwordChanged,
            ])
        #expect(ofUser.allSatisfy { $0.event.userID == user })
        #expect(try await store.remembered(of: [other, user]).count == 12)
        #expect(try await store.remembered(of: []).isEmpty)
    },
]
