import Sessions
import Testing

extension Store {
    /// What trail and feed have since `place`, which goes on.
    fileprivate func news(after place: inout Place) async throws -> (feed: [Revocation], events: [AuditEvent]) {
        let feed = try await revocations(after: place.feed, at: Fixture.start, limit: 100)
        let trail = try await trail(after: place.trail)
        (place.feed, place.trail) = (feed.last?.number ?? place.feed, trail.last?.id ?? place.trail)
        // Receivers of events are told the same.
        #expect(trail.compactMap(\.revocation) == feed.map(\.unnumbered))
        for event in trail.map(\.event) { #expect(event.actor == "admin:local" && event.at == Fixture.start) }
        return (feed, trail.map(\.event))
    }

    /// The end of what there is.
    fileprivate func place() async throws(StoreError) -> Place {
        Place(feed: try await lastRevocation(), trail: try await trail().last?.id ?? 0)
    }
}

/// How far a follower has read.
private struct Place {
    var feed: Int64
    var trail: Int64
}

/// What an import ends is in the trail and in the feed of revocations, once, as if an admin had done it.
let importFeedRules: [StoreRule] = [
    StoreRule("a session that an import replaces, here or on its way, is in the feed") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let user = try await store.given(Fixture.user())
        let here = try await store.given(Fixture.session(of: user.id))
        let later = Fixture.session(of: user.id, at: Fixture.start + .seconds(50))
        let earlier = Fixture.session(of: user.id, at: Fixture.start + .seconds(20))
        let elsewhere = Fixture.session(of: user.id, device: "tablet")
        var place = try await store.place()
        #expect(try await store.importSessions([elsewhere, later, earlier]) == [.written, .written, .written])
        let (told, events) = try await store.news(after: &place)
        #expect(told.map(\.sessionID) == [here.id, earlier.id])
        for revocation in told {
            #expect(revocation.kind == .sessionEnded && revocation.reason == "replaced")
            #expect(revocation.userID == user.id && revocation.clientID == Client.mobileID)
            #expect(revocation.at == Fixture.start && revocation.until == Fixture.start + .seconds(1_209_600))
        }
        #expect(events.map(\.sessionID) == [here.id, earlier.id] && events.map(\.deviceID) == ["phone", "phone"])
        #expect(events.allSatisfy { $0.kind == .sessionEnded && $0.reason == "replaced" && $0.userID == user.id })
        #expect(try await store.session(here.id)?.session.ending?.at == later.startedAt)
        #expect(try await store.importSessions([elsewhere, later, earlier]) == [.kept, .kept, .kept])
        #expect(try await store.news(after: &place).events.isEmpty)
    },
    StoreRule("a session that lives here and comes ended is in the feed, one that comes as a tombstone is not") {
        store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let user = try await store.given(Fixture.user())
        var sessions: [Session] = []
        for device in ["a", "b", "c"] {
            sessions.append(try await store.given(Fixture.session(of: user.id, device: device)))
        }
        sessions[0].end(.loggedOut, at: Fixture.start + .seconds(9))
        // Its tokens have ended with it.
        sessions[1].end(.maxLifetimeReached, at: Fixture.start + .seconds(9))
        sessions[2].child += 1
        var tombstone = Fixture.session(of: user.id, device: "d")
        tombstone.end(.loggedOut, at: Fixture.start + .seconds(9))
        var place = try await store.place()
        for isFirst in [true, false] {
            let outcomes = try await store.importSessions(sessions + [tombstone])
            #expect(outcomes == Array(repeating: isFirst ? .written : .kept, count: 4))
            let (told, events) = try await store.news(after: &place)
            #expect(told.map(\.sessionID) == (isFirst ? [sessions[0].id] : []))
            #expect(told.allSatisfy { $0.reason == "logged_out" && $0.at == Fixture.start })
            #expect(events.map(\.sessionID) == (isFirst ? [sessions[0].id, sessions[1].id] : []))
            #expect(events.map(\.reason) == (isFirst ? ["logged_out", "max_lifetime_reached"] : []))
        }
    },
    StoreRule("a user's maximum that an import makes shorter is in the feed, a longer one and a new user's are not") {
        store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let day = Duration.seconds(86_400)
        var user = Fixture.user()
        var place = try await store.place()
        // Beyond the maximum of all, nothing becomes shorter.
        let steps: [(Duration?, isShorter: Bool)] = [
            (day * 9, false), (day * 8, true), (day * 8, false), (day * 10, false), (nil, false), (day * 300, false),
            (day, true),
        ]
        for (maximum, isShorter) in steps {
            user.offlineSessionMax = maximum
            user.profile.displayName = "\(place.trail) \(String(describing: maximum))"
            let isNew = try await store.user(.id(user.id)) == nil
            let outcomes = [
                try await store.importUsers([user], .replacing), try await store.importUsers([user], .replacing),
            ]
            #expect(outcomes == [[.written], [.kept]])
            let (told, events) = try await store.news(after: &place)
            #expect(events.map(\.kind) == (isNew ? [] : [.userChanged]))
            #expect(events.allSatisfy { $0.userID == user.id && $0.reason == "import" })
            try #require(told.count == (isShorter ? 1 : 0), "\(String(describing: maximum))")
            for revocation in told {
                #expect(revocation.kind == .lifetimesShortened && revocation.userID == user.id)
                #expect(revocation.clientID == nil && revocation.reason == nil)
                #expect(revocation.at == Fixture.start + .seconds(1))
                #expect(revocation.until == Fixture.start + .seconds(1_209_601))
            }
        }
        #expect(try await store.user(.id(user.id)) == user)
    },
    StoreRule("an address that an import changes is told with the one of before") { store in
        var user = try await store.given(Fixture.fullUser())
        var place = try await store.place()
        user.profile.email = "new@example.org"
        _ = try await store.importUsers([user], .replacing)
        let (told, events) = try await store.news(after: &place)
        #expect(told.isEmpty && events.map(\.kind) == [.userChanged, .emailChanged])
        #expect(events.last?.reason == "zoe@example.org>new@example.org")
    },
    StoreRule("logins that an import switches off with immediate effect, or on again, are in the feed") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let (now, later) = (
            User.LoginDisabling(effective: .immediate, since: Fixture.start, note: "lost"),
            User.LoginDisabling(effective: .onExpiry, since: Fixture.start)
        )
        var new = Fixture.user("berta")
        new.disabledByAdmin = now
        var user = try await store.given(Fixture.user())
        var place = try await store.place()
        let steps: [(byAdmin: User.LoginDisabling?, byUser: User.LoginDisabling?, Revocation.Kind?)] = [
            (later, nil, nil), (now, nil, .userBlocked), (now, now, nil), (nil, now, nil), (nil, later, .userUnblocked),
            (nil, now, .userBlocked), (nil, now, nil), (nil, nil, .userUnblocked),
        ]
        for (byAdmin, byUser, kind) in steps {
            (user.disabledByAdmin, user.disabledByUser) = (byAdmin, byUser)
            let outcome = try await store.importUsers([new, user], .replacing).last
            let (told, events) = try await store.news(after: &place)
            #expect(told.map(\.kind) == [kind].compactMap(\.self))
            let expected = user.loginRefusal == nil ? AuditEvent.Kind.loginsEnabled : .loginsDisabled
            #expect(events.map(\.kind) == (outcome == .kept ? [] : [expected]))
            #expect(events.allSatisfy { $0.reason == byAdmin?.note && $0.userID == user.id })
            for revocation in told {
                #expect(revocation.userID == user.id && revocation.at == Fixture.start)
                #expect(revocation.reason == nil)
            }
            #expect(try await store.user(.id(user.id)) == user)
        }
    },
]
