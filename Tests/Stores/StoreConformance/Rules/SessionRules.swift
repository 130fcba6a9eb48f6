import Sessions
import Testing

/// Reading and changing one session.
let sessionRules: [StoreRule] = [
    StoreRule("a session comes back with every member") { store in
        let user = try await store.given(Fixture.fullUser())
        let session = try await store.given(Fixture.fullSession(of: user.id))
        let record = try await store.session(session.id)
        #expect(record == SessionRecord(session: session, user: user, client: nil, settings: Settings()))
    },
    StoreRule("an unknown session is nil, and its change is not run") { store in
        #expect(try await store.session(Fixture.sessionID()) == nil)
        let outcome: Bool? = try await store.updateSession(Fixture.sessionID()) { _ in true }
        #expect(outcome == nil)
        let isFound = try await store.changeSession(Fixture.sessionID()) { _ in
            Issue.record("changed")
        } preparing: {
            Issue.record("prepared")
        }
        #expect(!isFound)
    },
    StoreRule("every member that can change is written") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        let changed = try await store.updateSession(session.id) { change -> Session in
            change.session.device.name = "Küche"
            change.session.device.platform = "android"
            change.session.device.appVersion = "4.0"
            change.session.authenticationMode = .password
            change.session.presence = UserPresence(
                key: "ES256.x", provenAt: Fixture.start + .seconds(1), passwordAt: Fixture.start + .seconds(2),
                identityAt: Fixture.start + .seconds(3))
            change.session.encryptionKey = "P-256.x"
            change.session.parent = 8
            change.session.child = 9
            change.session.childAnsweredAt = Fixture.start + .seconds(60)
            change.session.childRequestKey = 0x8000_0000_0000_0001
            change.session.childConfirmedAt = Fixture.start + .seconds(62)
            change.session.ending = Session.Ending(reason: .loggedOut, at: Fixture.start + .seconds(61))
            return change.session
        }
        #expect(try await store.stored(session.id) == changed)
        let cleared = try await store.updateSession(session.id) { change -> Session in
            change.session.device.name = nil
            change.session.device.platform = nil
            change.session.device.appVersion = nil
            change.session.encryptionKey = nil
            change.session.childRequestKey = nil
            change.session.childConfirmedAt = nil
            return change.session
        }
        #expect(try await store.stored(session.id) == cleared)
    },
    StoreRule("presence is written beside a rotation, and goes") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        for presence in [UserPresence(passwordAt: Fixture.start + .seconds(3)), UserPresence()] {
            let changed = try await store.updateSession(session.id) { change -> Session in
                change.session.child += 1
                change.session.presence = presence
                return change.session
            }
            #expect(try await store.stored(session.id) == changed)
        }
    },
    StoreRule("an encryption key is written without any other change, and goes") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        for key in ["P-256.x", "P-256.y", nil] {
            let changed = try await store.updateSession(session.id) { change -> Session in
                change.session.encryptionKey = key
                return change.session
            }
            #expect(changed?.encryptionKey == key)
            #expect(try await store.stored(session.id) == changed)
        }
    },
    StoreRule("a rotation is written, with the largest serials") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        let rotated = try await store.updateSession(session.id) { change -> Session in
            change.session.parent = UInt64(Int64.max) - 1
            change.session.child = UInt64(Int64.max)
            change.session.childAnsweredAt = Fixture.start + .seconds(99)
            change.session.childRequestKey = 1
            return change.session
        }
        #expect(try await store.stored(session.id) == rotated)
        let confirmed = try await store.updateSession(session.id) { change -> Session in
            change.session.childConfirmedAt = Fixture.start + .seconds(100)
            return change.session
        }
        #expect(try await store.stored(session.id) == confirmed)
    },
    StoreRule("a change sees the user, the client and the settings of its moment") { store in
        let user = try await store.given(Fixture.fullUser())
        let session = try await store.given(Fixture.session(of: user.id, client: "web"))
        try await store.updateClient("web") { $0.client = Fixture.client() }
        try await store.updateSettings { $0.settings.sessions.refreshAfter = .seconds(17) }
        let seen = try await store.updateSession(session.id) { ($0.user, $0.client, $0.settings) }
        #expect(seen?.0 == user)
        #expect(seen?.1 == Fixture.client())
        #expect(seen?.2.sessions.refreshAfter == .seconds(17))
        #expect(seen?.2.epoch == 2)
        let record = try await store.session(session.id)
        #expect(record?.client == Fixture.client())
        #expect(record?.settings == seen?.2)
    },
    StoreRule("a change that leaves the session as it is still records its events") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        try await store.updateSession(session.id) { change in
            change.events = [AuditEvent(.loginRefused, at: Fixture.start, by: Fixture.admin, session: change.session)]
        }
        #expect(try await store.stored(session.id) == session)
        #expect(try await store.events(after: 0, limit: 10, userID: nil, sessionID: session.id).count == 1)
    },
]

/// Starting sessions: one lives on a device.
let openingRules: [StoreRule] = [
    StoreRule("a login sees user, client, settings and no previous session") { store in
        let user = try await store.given(Fixture.fullUser())
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let seen = try await store.openSession(userID: user.id, clientID: "web", deviceID: "phone") { $0 }
        #expect(seen?.user == user)
        #expect(seen?.client == Fixture.client())
        #expect(seen?.settings == Settings(epoch: 2))
        #expect(seen?.previous == nil)
    },
    StoreRule("a login of an unknown user is nil") { store in
        let outcome: Bool? = try await store.openSession(
            userID: Fixture.userID(), clientID: "web", deviceID: "phone"
        ) { _ in true }
        #expect(outcome == nil)
    },
    StoreRule("a refused login writes nothing but its events") { store in
        let user = try await store.given(Fixture.user())
        let first = try await store.given(Fixture.session(of: user.id))
        try await store.openSession(userID: user.id, clientID: first.clientID, deviceID: first.device.id) { opening in
            opening.events = [AuditEvent(.loginRefused, at: Fixture.start, by: Fixture.admin, userID: user.id)]
        }
        let page = try await store.sessions(of: user.id, after: nil, limit: 10)
        #expect(page.items.map(\.session) == [first])
        #expect(try await store.events(after: 0, limit: 10, userID: user.id, sessionID: nil).count == 1)
    },
    StoreRule("a login replaces the living session on its device, and no other") { store in
        let user = try await store.given(Fixture.user())
        let other = try await store.given(Fixture.user("bert"))
        let onPhone = try await store.given(Fixture.session(of: user.id))
        let untouched = [
            try await store.given(Fixture.session(of: user.id, device: "tablet")),
            try await store.given(Fixture.session(of: user.id, client: "web")),
            try await store.given(Fixture.session(of: other.id)),
        ]
        let next = Fixture.session(of: user.id, at: Fixture.start + .seconds(30))
        let previous = try await store.openSession(userID: user.id, clientID: next.clientID, deviceID: "phone") {
            opening -> Session? in
            opening.session = next
            return opening.previous
        }
        #expect(previous == onPhone)
        #expect(
            try await store.stored(onPhone.id).ending
                == Session.Ending(reason: .replaced, at: Fixture.start + .seconds(30)))
        #expect(try await store.stored(next.id) == next)
        for session in untouched { #expect(try await store.stored(session.id) == session) }
    },
    StoreRule("a login that continues the session on its device writes all that can change, and ends nothing") {
        store in
        let user = try await store.given(Fixture.user())
        let first = try await store.given(Fixture.session(of: user.id))
        let outcome = try await store.openSession(userID: user.id, clientID: first.clientID, deviceID: "phone") {
            opening -> Session? in
            guard var session = opening.previous else { return nil }
            session.device.name = "Küche"
            session.authenticationMode = .password
            session.presence = UserPresence(
                key: "ES256.x", provenAt: Fixture.start, passwordAt: Fixture.start + .seconds(5),
                identityAt: Fixture.start + .seconds(6))
            session.childAnsweredAt = Fixture.start + .seconds(5)
            session.renewedAt = Fixture.start + .seconds(5)
            session.childRequestKey = 7
            session.confirmation = ProviderConfirmation(provider: "acme", at: Fixture.start + .seconds(5))
            opening.continued = session
            return session
        }
        let continued = try #require(outcome ?? nil)
        #expect(try await store.stored(first.id) == continued)
        // A change of another node that has read the session before is not lost.
        try await store.updateSession(first.id) { $0.session.child += 1 }
        #expect(try await store.stored(first.id).child == first.child + 1)
        #expect(try await store.sessions(of: user.id, after: nil, limit: 10).items.map(\.session.id) == [first.id])
    },
    StoreRule("an ended session is not replaced: its reason stays") { store in
        let user = try await store.given(Fixture.user())
        let first = try await store.given(Fixture.session(of: user.id))
        try await store.updateSession(first.id) { $0.session.end(.loggedOut, at: Fixture.start + .seconds(3)) }
        let next = Fixture.session(of: user.id, at: Fixture.start + .seconds(30))
        let previous = try await store.openSession(userID: user.id, clientID: next.clientID, deviceID: "phone") {
            opening -> Session? in
            opening.session = next
            return opening.previous
        }
        #expect(previous == .some(nil))
        #expect(try await store.stored(first.id).ending?.reason == .loggedOut)
    },
]
