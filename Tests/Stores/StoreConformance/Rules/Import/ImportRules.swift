import Sessions
import Testing

/// Reading everything, part by part.
let exportRules: [StoreRule] = [
    StoreRule("sessions are exported in the order of their ids, whole, tombstones and those of the deleted included") {
        store in
        let anna = try await store.given(Fixture.fullUser())
        let bert = try await store.given(Fixture.user("bert"))
        var expected = [try await store.given(Fixture.fullSession(of: anna.id))]
        for number in 0..<6 {
            var session = try await store.given(Fixture.session(of: bert.id, device: "d\(number)"))
            session.end(.userDeleted, at: Fixture.start + .seconds(9))
            expected.append(session)
        }
        _ = try await store.updateUser(.id(bert.id)) { change in
            change.deletes = true
            change.ending = UserChange.EndingSessions(.userDeleted, at: Fixture.start + .seconds(9))
        }
        expected.sort { $0.id.bytes.lexicographicallyPrecedes($1.id.bytes) }
        var exported: [Session] = []
        var sizes: [Int] = []
        repeat {
            let part = try await store.exportSessions(after: exported.last?.id, limit: 3)
            exported += part
            sizes.append(part.count)
        } while sizes.last == 3 && sizes.count < 10
        #expect(exported == expected)
        #expect(sizes == [3, 3, 1])
    },
    StoreRule("an export of nothing is at its end at once") { store in
        let sessions = try await store.exportSessions(after: nil, limit: 5)
        #expect(sessions.isEmpty)
        #expect(try await store.foreignTokens(after: nil, limit: 5).isEmpty)
    },
]

/// Writing what another store held: again and again without harm, and what has gone further wins.
let importRules: [StoreRule] = [
    StoreRule("imported users come back with every member, and in an import that replaces again with every change") {
        store in
        var user = Fixture.fullUser()
        let outcomes = try await store.importUsers([user, Fixture.user("bert")])
        #expect(outcomes == [.written, .written])
        #expect(try await store.user(.id(user.id)) == user)
        #expect(try await store.importUsers([user]) == [.kept])
        user.username = "Zoe"
        user.passwordHash = nil
        user.disabledByAdmin = nil
        #expect(try await store.importUsers([user], .replacing) == [.written])
        #expect(try await store.user(.username("zoe")) == user)
    },
    StoreRule("an imported user whose username is taken is left out, and the others are not") { store in
        let anna = try await store.given(Fixture.user("anna"))
        let outcomes = try await store.importUsers([
            Fixture.user("bert"), Fixture.user("ANNA"), Fixture.user("carl"), Fixture.user("Bert"),
        ])
        #expect(outcomes == [.written, .usernameTaken, .written, .usernameTaken])
        #expect(
            try await store.users(matching: nil, after: nil, limit: 9).items.map(\.username) == [
                "anna", "bert", "carl",
            ])
        #expect(try await store.user(.username("anna")) == anna)
    },
    StoreRule("in one batch a name that one user gives up is free for the next, and not before") { store in
        let anna = try await store.given(Fixture.user("anna"))
        var zoe = anna
        zoe.username = "zoe"
        let other = Fixture.user("anna")
        #expect(try await store.importUsers([other, zoe, other], .replacing) == [.usernameTaken, .written, .written])
        #expect(try await store.user(.username("anna")) == other)
        #expect(try await store.user(.username("zoe")) == zoe)
        let outcomes = try await store.importUsers([zoe, other, anna], .replacing)
        #expect(outcomes == [.kept, .kept, .usernameTaken])
    },
    StoreRule("users are found by many names at once, however these are written") { store in
        let anna = try await store.given(Fixture.user("anna"))
        let zoe = try await store.given(Fixture.user("Zoë"))
        let ids = try await store.userIDs(named: ["anna", "ANNA", "zoë", "bert"])
        #expect(ids == ["anna": anna.id, "ANNA": anna.id, "zoë": zoe.id])
        #expect(try await store.userIDs(named: []).isEmpty)
    },
    StoreRule("imported sessions come back with every member, and are found by their user") { store in
        let user = try await store.given(Fixture.fullUser())
        let living = Fixture.fullSession(of: user.id)
        var ended = Fixture.session(of: user.id, device: "old")
        ended.end(.loggedOut, at: Fixture.start + .seconds(3))
        #expect(try await store.importSessions([living, ended]) == [.written, .written])
        #expect(try await store.importSessions([living, ended]) == [.kept, .kept])
        #expect(try await store.stored(living.id) == living)
        #expect(try await store.session(living.id)?.user == user)
        let listed = try await store.sessions(of: user.id, after: nil, limit: 9).items.map(\.session)
        #expect(Set(listed) == [living, ended])
        let rotated = try await store.updateSession(living.id) { change -> Session in
            change.session.child += 1
            return change.session
        }
        #expect(try await store.stored(living.id) == rotated)
    },
    StoreRule("a tombstone can be imported without its user, a living session cannot") { store in
        let living = Fixture.session(of: Fixture.userID())
        var ended = Fixture.session(of: Fixture.userID())
        ended.end(.userDeleted, at: Fixture.start)
        #expect(try await store.importSessions([living, ended]) == [.unknownUser, .written])
        #expect(try await store.session(living.id) == nil)
        #expect(try await store.stored(ended.id) == ended)
        #expect(try await store.session(ended.id)?.user == nil)
        // No later user inherits it.
        let user = try await store.given(Fixture.user())
        #expect(try await store.sessions(of: user.id, after: nil, limit: 9).items.isEmpty)
    },
    StoreRule("an import never turns back a session: serials only go up, and an end is final") { store in
        let user = try await store.given(Fixture.user())
        var early = Fixture.session(of: user.id)
        early.child = 5
        var late = early
        (late.parent, late.child, late.childAnsweredAt) = (6, 7, Fixture.start + .seconds(60))
        var over = late
        over.end(.revokedByAdmin, at: Fixture.start + .seconds(70))
        var overOtherwise = late
        overOtherwise.end(.loggedOut, at: Fixture.start + .seconds(80))
        #expect(try await store.importSessions([early, late, early]) == [.written, .written, .kept])
        #expect(try await store.stored(early.id) == late)
        #expect(try await store.importSessions([over, late, overOtherwise]) == [.written, .kept, .kept])
        #expect(try await store.stored(early.id) == over)
    },
    StoreRule("of two imported sessions on one device the later login lives, in whatever order they come") { store in
        for isOrdered in [true, false] {
            let user = try await store.given(Fixture.user("anna-\(isOrdered)"))
            let first = Fixture.session(of: user.id)
            let second = Fixture.session(of: user.id, at: Fixture.start + .seconds(50))
            let elsewhere = Fixture.session(of: user.id, device: "tablet")
            let outcomes = try await store.importSessions(
                isOrdered ? [first, elsewhere, second] : [second, elsewhere, first])
            #expect(outcomes == [.written, .written, .written])
            #expect(
                try await store.stored(first.id).ending
                    == Session.Ending(reason: .replaced, at: Fixture.start + .seconds(50)))
            #expect(try await store.stored(second.id) == second)
            #expect(try await store.stored(elsewhere.id) == elsewhere)
        }
    },
    StoreRule("an import leaves the provider's word about a session as it is: no export has it") { store in
        let user = try await store.given(Fixture.user())
        var session = Fixture.session(of: user.id)
        _ = try await store.openSession(
            userID: user.id, clientID: session.clientID, deviceID: session.device.id
        ) { [session] opening in
            opening.session = session
            opening.session?.confirmation = ProviderConfirmation(provider: "acme", at: Fixture.start)
        }
        (session.parent, session.child, session.childAnsweredAt) = (6, 7, Fixture.start + .seconds(60))
        #expect(try await store.importSessions([session]) == [.written])
        session.confirmation = ProviderConfirmation(provider: "acme", at: Fixture.start)
        #expect(try await store.stored(session.id) == session)
    },
    StoreRule("an import of nothing is no error") { store in
        let outcomes = try await store.importUsers([])
        #expect(outcomes.isEmpty)
        #expect(try await store.importSessions([]).isEmpty)
        #expect(try await store.importForeignTokens([]).isEmpty)
    },
]
