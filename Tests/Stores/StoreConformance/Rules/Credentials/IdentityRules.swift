import JOSE
import JSON
import Sessions
import Testing

extension Fixture {
    static func identity(_ subject: String, of user: Identifier<User>, provider: String = "acme") throws -> Identity {
        Identity(try #require(Identity.Key(provider: provider, subject: subject)), userID: user, linkedAt: start)
    }

    static func linked(_ user: Identifier<User>) -> [AuditEvent] {
        [AuditEvent(.identityLinked, at: start, by: admin, userID: user)]
    }
}

extension Store {
    fileprivate func insert(
        _ identity: Identity
    ) async throws -> IdentityInsertion.Outcome {
        try await insertIdentity(IdentityInsertion(identity, events: Fixture.linked(identity.userID)))
    }

    fileprivate func eventCount(of user: Identifier<User>) async throws -> Int {
        try await events(after: 0, limit: 99, userID: user, sessionID: nil).count { $0.event.kind == .identityLinked }
    }
}

/// Users, as identity providers know them.
let identityRules: [StoreRule] = [
    StoreRule("an identity comes back with every member, by its name, by its user, and part by part") { store in
        let (anna, ben) = (try await store.given(Fixture.user()), try await store.given(Fixture.user("ben")))
        // Bytes decide, not languages: a capital letter comes before a small one, and is another.
        let all = [
            try Fixture.identity("B", of: anna.id), try Fixture.identity("a", of: ben.id),
            try Fixture.identity("b", of: anna.id), try Fixture.identity("a", of: anna.id, provider: "globex"),
        ]
        for identity in all.reversed() { #expect(try await store.insert(identity) == .inserted) }
        for identity in all { #expect(try await store.identity(identity.key) == identity) }
        #expect(try await store.identities(of: anna.id) == [all[0], all[2], all[3]])
        #expect(try await store.identities(after: nil, limit: 3) == Array(all.prefix(3)))
        #expect(try await store.identities(after: all[2].key, limit: 3) == [all[3]])
        #expect(try await store.identity(try Fixture.identity("A", of: ben.id).key) == nil)
    },
    StoreRule("an identity that somebody has is left to them, and nothing is written") { store in
        let anna = try await store.given(Fixture.user())
        let ben = try await store.given(Fixture.user("ben"))
        #expect(try await store.insert(try Fixture.identity("1", of: anna.id)) == .inserted)
        #expect(try await store.insert(try Fixture.identity("1", of: ben.id)) == .taken(by: anna.id))
        #expect(try await store.identities(of: ben.id).isEmpty)
        #expect(try await store.eventCount(of: ben.id) == 0)
    },
    StoreRule("an identity of nobody is not written; a user can have several") { store in
        let nobody = Fixture.userID()
        #expect(try await store.insert(try Fixture.identity("1", of: nobody)) == .unknownUser)
        let anna = try await store.given(Fixture.user())
        #expect(try await store.insert(try Fixture.identity("1", of: anna.id)) == .inserted)
        #expect(try await store.insert(try Fixture.identity("2", of: anna.id)) == .inserted)
        #expect(try await store.eventCount(of: anna.id) == 2)
    },
    StoreRule("an identity is taken from its user alone") { store in
        let (anna, ben) = (try await store.given(Fixture.user()), try await store.given(Fixture.user("ben")))
        let identity = try Fixture.identity("1", of: anna.id)
        #expect(try await store.insert(identity) == .inserted)
        #expect(try await !store.deleteIdentity(identity.key, of: ben.id, events: Fixture.linked(ben.id)))
        #expect(try await store.eventCount(of: ben.id) == 0)
        #expect(try await store.deleteIdentity(identity.key, of: anna.id, events: Fixture.linked(anna.id)))
        #expect(try await store.eventCount(of: anna.id) == 2)
        #expect(try await store.identity(identity.key) == nil)
        #expect(try await !store.deleteIdentity(identity.key, of: anna.id, events: []))
    },
    StoreRule("a deleted user takes their identities along") { store in
        let anna = try await store.given(Fixture.user())
        let identity = try Fixture.identity("1", of: anna.id)
        #expect(try await store.insert(identity) == .inserted)
        _ = try await store.updateUser(.id(anna.id)) { $0.deletes = true }
        #expect(try await store.identity(identity.key) == nil)
        #expect(try await store.identities(after: nil, limit: 9).isEmpty)
    },
    StoreRule("imported identities are added, kept, or left out with their user") { store in
        let anna = try await store.given(Fixture.user())
        let (known, other) = (try Fixture.identity("1", of: anna.id), try Fixture.identity("2", of: anna.id))
        #expect(try await store.importIdentities([known]) == [.written])
        let outcomes = try await store.importIdentities([
            known, try Fixture.identity("3", of: Fixture.userID()), other,
        ])
        #expect(outcomes == [.kept, .unknownUser, .written])
        #expect(try await store.identities(of: anna.id) == [known, other])
    },
    StoreRule("a user's claims come back as they were, and go") { store in
        var user = Fixture.user()
        user.claims = try UserClaims(["role": .string("admin"), "level": .integer(3)])
        _ = try await store.given(user)
        #expect(try await store.user(.id(user.id)) == user)
        _ = try await store.updateUser(.id(user.id)) { $0.user.claims = nil }
        #expect(try await store.user(.id(user.id))?.claims == nil)
    },
]
