import Sessions
import Testing

private let far = Fixture.start + .seconds(400 * 86_400)

extension Store {
    fileprivate func feed(
        after cursor: Int64 = 0, at now: Instant = Fixture.start, limit: Int = 100
    ) async throws(StoreError) -> [Revocation] {
        try await revocations(after: cursor, at: now, limit: limit)
    }

    /// The audit trail.
    func trail(after cursor: Int64 = 0) async throws(StoreError) -> [RecordedEvent] {
        try await events(after: cursor, limit: 200, userID: nil, sessionID: nil)
    }

    fileprivate func addUser(sessions devices: [String]) async throws -> (User, [Session]) {
        let user = Fixture.user()
        let isAdded = try await insertUser(user, from: .admin, events: [])
        #expect(isAdded)
        var sessions: [Session] = []
        for device in devices {
            let session = Fixture.session(of: user.id, device: device)
            _ = try await openSession(userID: user.id, clientID: session.clientID, deviceID: device) { opening in
                opening.session = session
            }
            sessions.append(session)
        }
        return (user, sessions)
    }
}

extension Revocation {
    /// What it says, wherever it stands.
    var unnumbered: Revocation {
        var revocation = self
        revocation.number = 0
        return revocation
    }
}

private func event(_ kind: AuditEvent.Kind, _ revokes: Revocation.Kind, of user: User? = nil) -> AuditEvent {
    var event = AuditEvent(kind, at: Fixture.start, by: Fixture.admin, userID: user?.id)
    event.revokes = revokes
    (event.tokenID, event.tokenEpoch) = ("\(revokes)", 7)
    return event
}

/// The feed of revocations.
let revocationRules: [StoreRule] = [
    StoreRule("each session that ends with its user's change is in the feed and in the trail") { store in
        let (user, sessions) = try await store.addUser(sessions: ["a", "b", "c"])
        let at = Fixture.start + .seconds(9)
        _ = try await store.updateUser(.id(user.id)) { change in
            change.ending = UserChange.EndingSessions(.passwordChanged, at: at, except: sessions[1].id)
            change.events = [AuditEvent(.passwordChanged, at: at, by: Fixture.admin, userID: user.id)]
        }
        let feed = try await store.feed()
        #expect(Set(feed.map(\.sessionID)) == [sessions[0].id, sessions[2].id])
        for revocation in feed {
            #expect(revocation.kind == .sessionEnded && revocation.at == at && revocation.userID == user.id)
            #expect(revocation.reason == "password_changed" && revocation.clientID == Client.mobileID)
        }
        let trail = try await store.events(after: 0, limit: 9, userID: user.id, sessionID: nil).map(\.event)
        #expect(trail.map(\.kind) == [.passwordChanged, .sessionEnded, .sessionEnded])
        #expect(trail.allSatisfy { $0.actor == Fixture.admin.actor && $0.requestID == Fixture.admin.requestID })
    },
    StoreRule("what a change of a session, of settings or of a client revokes comes in the order of the changes") {
        store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let (_, sessions) = try await store.addUser(sessions: ["a"])
        _ = try await store.updateSession(sessions[0].id) { change in
            change.session.end(.loggedOut, at: Fixture.start)
            var ended = AuditEvent(.sessionEnded, at: Fixture.start, by: .system, session: change.session)
            ended.revokes = .sessionEnded
            change.events = [ended]
        }
        try await store.updateSettings { $0.events = [event(.allSessionsRevoked, .allSessionsEnded)] }
        try await store.updateClient("web") { $0.events = [event(.clientDeleted, .clientDeleted)] }
        let feed = try await store.feed()
        try #require(feed.map(\.kind) == [.sessionEnded, .allSessionsEnded, .clientDeleted])
        #expect(feed[0].sessionID == sessions[0].id)
        #expect(try await store.lastRevocation() >= feed[2].number)
    },
    StoreRule("the last event of the trail is known by its number, also after clean-up") { store in
        #expect(try await store.lastEvent() == 0)
        let event = AuditEvent(.settingsChanged, at: Fixture.start, by: Fixture.admin)
        try await store.append([event, event])
        let last = try await store.trail().last?.id
        #expect(try await store.lastEvent() == last)
        #expect(try await store.sweepEvents(before: far, limit: 1) == 1)
        #expect(try await store.lastEvent() == last)
    },
    StoreRule("the trail says of each event what the feed says of it, and of others nothing") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let (user, sessions) = try await store.addUser(sessions: ["a", "b", "c"])
        for kind in Revocation.Kind.allCases {
            let (told, untold) = (
                event(.settingsChanged, kind, of: user),
                AuditEvent(.settingsChanged, at: Fixture.start, by: .system, reason: "\(kind)")
            )
            try await store.updateSettings { $0.events = [untold, told] }
            try await store.updateClient("web") { $0.events = [told] }
            _ = try await store.updateUser(.id(user.id)) { $0.events = [told, untold] }
        }
        for session in sessions.prefix(2) {
            _ = try await store.updateSession(session.id) { change in
                change.session.end(.loggedOut, at: Fixture.start + .seconds(3))
                var ended = AuditEvent(
                    .sessionEnded, at: Fixture.start + .seconds(3), by: .system, session: session, reason: "logged_out")
                ended.revokes = .sessionEnded
                change.events = [AuditEvent(.sessionRestored, at: Fixture.start, by: .system), ended]
            }
        }
        _ = try await store.updateUser(.id(user.id)) { $0.deletes = true }
        let (trail, feed) = (try await store.trail(), try await store.feed().map(\.unnumbered))
        #expect(trail.compactMap(\.revocation) == feed)
        #expect(feed.count == 3 * Revocation.Kind.allCases.count + 3)
        #expect(feed.dropLast(3).allSatisfy { $0.tokenID == "\($0.kind)" && $0.tokenEpoch == 7 })
        #expect(trail.count == feed.count + 2 * Revocation.Kind.allCases.count + 2)
        let longLived = trail.first { $0.revocation?.kind == .lifetimesShortened }?.revocation
        #expect(longLived?.at == Fixture.start + .seconds(1) && longLived?.until == Fixture.start + .seconds(1_209_601))
    },
    StoreRule("the feed goes on behind each place, and no place comes twice") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let (user, _) = try await store.addUser(sessions: [])
        for _ in 0..<7 {
            _ = try await store.updateUser(.id(user.id)) { change in
                change.events = [event(.loginsDisabled, .userBlocked, of: user)]
            }
        }
        let all = try await store.feed()
        try #require(all.count == 7 && zip(all, all.dropFirst()).allSatisfy { $0.number < $1.number })
        for place in all.indices {
            #expect(try await store.feed(after: all[place].number) == Array(all[(place + 1)...]))
        }
        #expect(try await store.feed(after: all[0].number, limit: 2) == Array(all[1...2]))
    },
    StoreRule("a revocation matters until the last token of before has ended, also when their life is shortened") {
        store in
        let (user, _) = try await store.addUser(sessions: [])
        let day = Duration.seconds(86_400)
        try await store.updateClient("web") { change in
            var client = Fixture.client()
            client.accessTokenLifetime = .seconds(3 * 86_400)
            change.client = client
        }
        let block: @Sendable (inout UserChange) -> Void = { change in
            change.events = [event(.loginsDisabled, .userBlocked, of: user)]
        }
        _ = try await store.updateUser(.id(user.id), block)
        #expect(try await store.feed().last?.until == Fixture.start + day * 3)
        try await store.updateClient("web") { $0.client?.accessTokenLifetime = .seconds(3600) }
        _ = try await store.updateUser(.id(user.id), block)
        // The store's own clock says when it was shortened.
        let end = try #require(try await store.settings().earlierTokensEnd)
        #expect(
            try await store.feed(at: .init(secondsSinceEpoch: 0)).last?.until
                == max(end, Fixture.start + .seconds(3600)))
        let until = try #require(try await store.feed(at: .init(secondsSinceEpoch: 0)).first?.until)
        #expect(try await store.feed(at: until + .seconds(-1)).contains { $0.until == until })
        #expect(try await !store.feed(at: until).contains { $0.until == until })
    },
    StoreRule(
        "what is compared with the time of issue is a second later than the change is written, however long it waited"
    ) {
        store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let (user, _) = try await store.addUser(sessions: [])
        // The store's clock stands at the start.
        let (early, life) = (Fixture.start + .seconds(-9), Duration.seconds(1_209_600))
        func event(_ revokes: Revocation.Kind) -> AuditEvent {
            var event = AuditEvent(.settingsChanged, at: early, by: Fixture.admin, reason: "why")
            event.revokes = revokes
            return event
        }
        for kind in [Revocation.Kind.allSessionsEnded, .lifetimesShortened] {
            let event = event(kind)
            try await store.updateSettings { $0.events = [event] }
        }
        let (shortened, deleted, blocked) = (event(.lifetimesShortened), event(.clientDeleted), event(.userBlocked))
        try await store.updateClient("web") { $0.events = [shortened, deleted] }
        let gone = event(.userDeleted)
        _ = try await store.updateUser(.id(user.id)) { $0.events = [shortened, gone, blocked] }
        let feed = try await store.feed(at: early)
        let cutoff = Fixture.start + .seconds(1)
        #expect(feed.dropLast().map(\.at) == Array(repeating: cutoff, count: 6))
        #expect(feed.dropLast().allSatisfy { $0.until == cutoff + life })
        #expect(feed.map(\.reason) == Array(repeating: nil, count: 7))
        // Of these no token is good, whenever it was issued.
        #expect(feed.last?.at == early && feed.last?.until == Fixture.start + life)
    },
    StoreRule("a revocation that comes from another store is added at the end, if it holds here") { store in
        let (blocked, _) = try await store.addUser(sessions: [])
        _ = try await store.updateUser(.id(blocked.id)) { change in
            change.user.disabledByAdmin = User.LoginDisabling(effective: .immediate, since: Fixture.start)
            change.user.username = "berta"
        }
        let (free, sessions) = try await store.addUser(sessions: ["a", "b"])
        _ = try await store.updateSession(sessions[1].id) { $0.session.end(.loggedOut, at: Fixture.start) }
        let nobody = Fixture.userID()
        func revocation(
            _ kind: Revocation.Kind, _ user: Identifier<User>? = nil, session: Identifier<Session>? = nil,
            client: String? = nil
        ) -> Revocation {
            Revocation(
                number: 7, kind, at: Fixture.start, until: far, userID: user, sessionID: session, clientID: client,
                reason: "r")
        }
        var (ended, revoked) = (revocation(.clientTokensEnded), revocation(.clientTokenRevoked, client: "web"))
        (ended.tokenEpoch, revoked.tokenID) = (9, "jti")
        let revocations: [(Revocation, ImportOutcome)] = [
            (revocation(.sessionEnded, free.id, session: sessions[1].id, client: Client.mobileID), .written),
            (revocation(.sessionEnded, free.id, session: sessions[0].id), .kept),
            (revocation(.sessionEnded, nobody, session: Fixture.sessionID()), .written),
            (revocation(.userBlocked, blocked.id), .written), (revocation(.userBlocked, free.id), .kept),
            (revocation(.userUnblocked, blocked.id), .kept), (revocation(.userUnblocked, free.id), .written),
            (revocation(.userDeleted, nobody), .written), (revocation(.userDeleted, free.id), .kept),
            (revocation(.clientDeleted, client: "web"), .written), (revocation(.allSessionsEnded), .written),
            (revocation(.lifetimesShortened, free.id), .written), (ended, .written), (revoked, .written),
        ]
        for _ in 0..<2 {
            let last = try await store.lastRevocation()
            #expect(try await store.importRevocations(revocations.map(\.0)) == revocations.map(\.1))
            let added = try await store.feed(after: last)
            let expected = revocations.filter { $0.1 == .written }.map(\.0.unnumbered)
            #expect(added.map(\.unnumbered) == expected)
            #expect(zip(added, added.dropFirst()).allSatisfy { $0.number < $1.number })
        }
        // And what happens here comes after it.
        let last = try await store.feed().last?.number ?? 0
        try await store.updateSettings { $0.events = [event(.allSessionsRevoked, .allSessionsEnded)] }
        #expect(try #require(try await store.feed().last).number > last)
        #expect(try await store.importRevocations([]) == [])
    },
    StoreRule("what does not matter any more is swept, a step at a time, and numbers go on") { store in
        let (user, _) = try await store.addUser(sessions: [])
        try await store.updateClient("web") { $0.client = Fixture.client() }
        for _ in 0..<3 {
            _ = try await store.updateUser(.id(user.id)) { change in
                change.events = [event(.loginsDisabled, .userBlocked, of: user)]
            }
        }
        let last = try await store.lastRevocation()
        #expect(try await store.sweepRevocations(before: Fixture.start, limit: 9) == 0)
        #expect(try await store.sweepRevocations(before: far, limit: 2) == 2)
        #expect(try await store.sweepRevocations(before: far, limit: 2) == 1)
        #expect(try await store.sweepRevocations(before: far, limit: 2) == 0)
        #expect(try await store.lastRevocation() == last)
        _ = try await store.updateUser(.id(user.id)) { change in
            change.events = [event(.loginsEnabled, .userUnblocked, of: user)]
        }
        #expect(try #require(try await store.feed().first).number > last)
    },
    StoreRule("whoever follows the feed while many write misses nothing") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let (user, sessions) = try await store.addUser(sessions: (0..<40).map { "device-\($0)" })
        async let seen = {
            var seen: [Identifier<Session>?] = []
            var cursor: Int64 = 0
            // What is missed does not come any more.
            let deadline = ContinuousClock.now + .seconds(20)
            while seen.count < sessions.count, ContinuousClock.now < deadline {
                let page = try await store.feed(after: cursor, limit: 3)
                seen += page.map(\.sessionID)
                cursor = page.last?.number ?? cursor
            }
            return seen
        }()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, session) in sessions.enumerated() {
                group.addTask {
                    if number % 3 == 0 {
                        _ = try await store.updateUser(.id(user.id)) { change in
                            change.ending = UserChange.EndingSessions(
                                .revokedByUser, at: Fixture.start, deviceID: session.device.id)
                        }
                    } else {
                        _ = try await store.updateSession(session.id) { change in
                            change.session.end(.loggedOut, at: Fixture.start)
                            var ended = AuditEvent(.sessionEnded, at: Fixture.start, by: .system, session: session)
                            ended.revokes = .sessionEnded
                            change.events = [ended]
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(try await seen) == Set(sessions.map(\.id)))
    },
]
