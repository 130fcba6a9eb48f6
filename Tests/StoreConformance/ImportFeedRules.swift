import Sessions
import Testing

extension Store {
    /// What the feed has after `place`, and how far it is then.
    fileprivate func news(after place: inout Int64) async throws(StoreError) -> [Revocation] {
        let news = try await revocations(after: place, at: Fixture.start, limit: 100)
        place = news.last?.number ?? place
        return news
    }
}

/// What an import ends is in the feed of revocations, once.
let importFeedRules: [StoreRule] = [
    StoreRule("a session that an import replaces, here or on its way, is in the feed") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let user = try await store.given(Fixture.user())
        let here = try await store.given(Fixture.session(of: user.id))
        let later = Fixture.session(of: user.id, at: Fixture.start + .seconds(50))
        let earlier = Fixture.session(of: user.id, at: Fixture.start + .seconds(20))
        let elsewhere = Fixture.session(of: user.id, device: "tablet")
        var place: Int64 = 0
        #expect(try await store.importSessions([elsewhere, later, earlier]) == [.written, .written, .written])
        let told = try await store.news(after: &place)
        #expect(told.map(\.sessionID) == [here.id, earlier.id])
        for revocation in told {
            #expect(revocation.kind == .sessionEnded && revocation.reason == "replaced")
            #expect(revocation.userID == user.id && revocation.clientID == Client.mobileID)
            #expect(revocation.at == later.startedAt && revocation.until == later.startedAt + .seconds(1_209_600))
        }
        #expect(try await store.importSessions([elsewhere, later, earlier]) == [.kept, .kept, .kept])
        #expect(try await store.news(after: &place).isEmpty)
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
        var place: Int64 = 0
        for isFirst in [true, false] {
            let outcomes = try await store.importSessions(sessions + [tombstone])
            #expect(outcomes == Array(repeating: isFirst ? .written : .kept, count: 4))
            let told = try await store.news(after: &place)
            #expect(told.map(\.sessionID) == (isFirst ? [sessions[0].id] : []))
            #expect(told.allSatisfy { $0.reason == "logged_out" && $0.at == Fixture.start + .seconds(9) })
        }
    },
    StoreRule("a user's maximum that an import makes shorter is in the feed, a longer one and a new user's are not") {
        store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let day = Duration.seconds(86_400)
        var user = Fixture.user()
        var place: Int64 = 0
        // Beyond the maximum of all, nothing becomes shorter.
        let steps: [(Duration?, isShorter: Bool)] = [
            (day * 9, false), (day * 8, true), (day * 8, false), (day * 10, false), (nil, false), (day * 300, false),
            (day, true),
        ]
        for (maximum, isShorter) in steps {
            user.offlineSessionMax = maximum
            user.profile.displayName = "\(place) \(String(describing: maximum))"
            let outcomes = try await store.importUsers([user])
            #expect(outcomes == [.written])
            let told = try await store.news(after: &place)
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
    StoreRule("logins that an import switches off with immediate effect, or on again, are in the feed") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let (now, later) = (
            User.LoginDisabling(effective: .immediate, since: Fixture.start, note: "lost"),
            User.LoginDisabling(effective: .onExpiry, since: Fixture.start)
        )
        var new = Fixture.user("berta")
        new.disabledByAdmin = now
        var user = try await store.given(Fixture.user())
        var place: Int64 = 0
        let steps: [(byAdmin: User.LoginDisabling?, byUser: User.LoginDisabling?, Revocation.Kind?)] = [
            (later, nil, nil), (now, nil, .userBlocked), (now, now, nil), (nil, now, nil), (nil, later, .userUnblocked),
            (nil, now, .userBlocked), (nil, now, nil), (nil, nil, .userUnblocked),
        ]
        for (byAdmin, byUser, kind) in steps {
            (user.disabledByAdmin, user.disabledByUser) = (byAdmin, byUser)
            _ = try await store.importUsers([new, user])
            let told = try await store.news(after: &place)
            #expect(told.map(\.kind) == [kind].compactMap(\.self))
            for revocation in told {
                #expect(revocation.userID == user.id && revocation.at == Fixture.start)
                #expect(revocation.reason == byAdmin?.note)
            }
            #expect(try await store.user(.id(user.id)) == user)
        }
    },
]
