import Locks
import Sessions
import Testing

private let policy = RefreshPolicy(absoluteMaximum: .seconds(31_536_000))
private let day = Duration.seconds(86_400)
private let idle = SessionSettings.defaults.offlineSessionIdle
private let month = RefreshPolicy.tombstoneLifetime

extension Store {
    /// One step of clean-up at a time that is certain.
    fileprivate func step(
        _ selection: SessionSelection, limit: Int = 100, at now: Instant, by policy: RefreshPolicy = policy
    ) async throws -> SessionSweep {
        try await sweepSessions(
            selection, limit: limit, by: policy, at: CleanUpTime(earliest: now, settled: now)
        ) { $0.page.backchannelLogoutURI != nil }
    }

    /// All that clean-up does about sessions at `now`. Returns the number of its steps.
    fileprivate func cleanUpSessions(limit: Int, at now: Instant, by policy: RefreshPolicy) async throws -> Int {
        let time = CleanUpTime(earliest: now, settled: now)
        var steps = 1
        while try await walkAlongSessions(limit: limit, by: policy, at: time, { _ in false }) { steps += 1 }
        for selection in [SessionSelection.due(by: now), .ended(by: now + (.zero - month))] {
            while try await step(selection, limit: limit, at: now, by: policy).looks == limit { steps += 1 }
            steps += 1
        }
        return steps
    }

    /// The sessions that are left.
    fileprivate func left(_ ids: [Identifier<Session>]) async throws -> [Identifier<Session>] {
        var left: [Identifier<Session>] = []
        for id in ids where try await session(id) != nil { left.append(id) }
        return left
    }
}

/// Clean-up in steps.
let sweepRules: [StoreRule] = [
    StoreRule("clean-up finds tombstones by the time of their end, in steps, and deletes those that are old enough") {
        store in
        let user = try await store.given(Fixture.user())
        var ids: [Identifier<Session>] = []
        for number in 0..<10 {
            ids.append(try await store.given(Fixture.session(of: user.id, device: "d\(number)")).id)
        }
        for (number, id) in ids.prefix(5).enumerated() {
            let end = Session.Ending(reason: .loggedOut, at: Fixture.start + .seconds(Int64(number)))
            _ = try await store.updateSession(id) { $0.session.ending = end }
        }
        let end = Fixture.start + .seconds(3)
        #expect(try await store.step(.ended(by: end), at: end + month + .seconds(-4)).deleted == 0)
        #expect(try await store.step(.ended(by: end), limit: 3, at: end + month).deleted == 3)
        #expect(try await store.step(.ended(by: end), limit: 3, at: end + month).deleted == 1)
        #expect(try await store.step(.ended(by: end), limit: 3, at: end + month) == SessionSweep())
        #expect(try await store.left(ids) == Array(ids.dropFirst(4)))
    },
    StoreRule("clean-up looks at a session when it may be over, and again when its refreshes let it be over") { store in
        let user = try await store.given(Fixture.user())
        var ids: [Identifier<Session>] = []
        for number in 0..<5 {
            ids.append(try await store.given(Fixture.session(of: user.id, device: "d\(number)")).id)
        }
        let renewed = Fixture.start + day
        _ = try await store.updateSession(ids[0]) { $0.session.renewedAt = renewed }
        let end = Fixture.start + idle
        #expect(try await store.step(.due(by: end + .seconds(-1)), at: end + .seconds(-1)) == SessionSweep())
        let first = try await store.step(.due(by: end), limit: 4, at: end)
        #expect(first.looks == 4 && first.moved == 4 && first.deleted == 0)
        #expect(try await store.step(.due(by: end), limit: 4, at: end).looks == 1)
        #expect(try await store.step(.due(by: end), limit: 4, at: end).looks == 0)
        // The first one is over a day later, and is forgotten after a month, as the others are.
        #expect(try await store.step(.due(by: end + day), at: end + day).moved == 1)
        #expect(try await store.step(.due(by: end + month), at: end + month).deleted == 4)
        #expect(try await store.left(ids) == [ids[0]])
        #expect(try await store.step(.due(by: end + month + day), at: end + month + day).deleted == 1)
    },
    StoreRule("a session about which the clock is in doubt is looked at again in an hour") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        let (earliest, settled) = (Fixture.start + idle + month, Fixture.start + idle + month + .seconds(-1))
        func look(_ earliest: Instant, _ settled: Instant) async throws -> SessionSweep {
            try await store.sweepSessions(
                .due(by: earliest), limit: 9, by: policy, at: CleanUpTime(earliest: earliest, settled: settled)
            ) { _ in false }
        }
        #expect(try await look(earliest, settled).moved == 1)
        #expect(try await look(earliest + .seconds(3599), earliest).looks == 0)
        #expect(try await look(earliest + .seconds(3600), earliest).deleted == 1)
        #expect(try await store.session(session.id) == nil)
    },
    StoreRule("what a provider is asked with goes with the session that clean-up forgets, and no other") { store in
        let user = try await store.given(Fixture.user())
        for device in ["forgotten", "kept"] {
            var session = Fixture.session(of: user.id, device: device)
            if device == "kept" { session.renewedAt = Fixture.start + month }
            let opened = session
            _ = try await store.openSession(userID: user.id, clientID: session.clientID, deviceID: device) { opening in
                (opening.session, opening.providerCheck) = (opened, Fixture.check(opened))
            }
        }
        let now = Fixture.start + idle + month
        #expect(try await store.step(.due(by: now), at: now).deleted == 1)
        let left = try await store.claimProviderChecks(of: "acme", dueBy: now, until: now, limit: 9)
        let kept = try await store.sessions(of: user.id, after: nil, limit: 9).items.map(\.session.id)
        #expect(kept.count == 1 && left.map(\.sessionID) == kept)
    },
    StoreRule("clean-up of nothing is at its end at once") { store in
        for selection in [SessionSelection.due(by: Fixture.start), .ended(by: Fixture.start)] {
            let step = try await store.step(selection, at: Fixture.start)
            #expect(step == SessionSweep())
        }
        let time = CleanUpTime(earliest: Fixture.start, settled: Fixture.start)
        let goesOn = try await store.walkAlongSessions(limit: 9, by: policy, at: time) { _ in true }
        #expect(!goesOn)
    },
    StoreRule("a device can be used again after its tombstone was deleted") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id))
        let now = Fixture.start + idle + month
        #expect(try await store.step(.due(by: now), at: now).deleted == 1)
        _ = try await store.given(Fixture.session(of: user.id))
        #expect(try await store.session(session.id) == nil)
    },
    StoreRule("an imported session is looked at when it may be over") { store in
        let user = try await store.given(Fixture.user())
        var session = Fixture.session(of: user.id)
        _ = try await store.importSessions([session])
        session.renewedAt = Fixture.start + day
        session.child += 1
        _ = try await store.importSessions([session])
        let end = Fixture.start + idle
        #expect(try await store.step(.due(by: end + .seconds(-1)), at: end + .seconds(-1)).looks == 0)
        #expect(try await store.step(.due(by: end), at: end).moved == 1)
        #expect(try await store.step(.due(by: end + day), at: end + day).looks == 1)
    },
]

/// The node that cleans up, and what shortens the lives of sessions.
let cleanUpRules: [StoreRule] =
    [
        StoreRule("one node has the lease of the clean-up, and another one takes it when it is over, or left") {
            store in
            let (start, lease) = (Fixture.start, Duration.seconds(90))
            #expect(try await store.takeCleanUp(by: "a", at: start, for: lease) == start + lease)
            #expect(try await store.takeCleanUp(by: "b", at: start + .seconds(89), for: lease) == nil)
            // A renewal that comes early writes nothing.
            #expect(try await store.takeCleanUp(by: "a", at: start + .seconds(44), for: lease) == start + lease)
            #expect(try await store.takeCleanUp(by: "a", at: start + .seconds(60), for: lease) == start + .seconds(150))
            #expect(try await store.takeCleanUp(by: "b", at: start + .seconds(149), for: lease) == nil)
            #expect(
                try await store.takeCleanUp(by: "b", at: start + .seconds(150), for: lease) == start + .seconds(240))
            #expect(try await store.takeCleanUp(by: "a", at: start + .seconds(151), for: lease) == nil)
            try await store.leaveCleanUp(by: "a", at: start + .seconds(152))
            #expect(try await store.takeCleanUp(by: "a", at: start + .seconds(153), for: lease) == nil)
            try await store.leaveCleanUp(by: "b", at: start + .seconds(154))
            #expect(try await store.takeCleanUp(by: "a", at: start + .seconds(154), for: lease) != nil)
            // A lease by a clock that was far ahead keeps no node away.
            _ = try await store.takeCleanUp(by: "a", at: start + .seconds(9000), for: lease)
            #expect(try await store.takeCleanUp(by: "b", at: start + .seconds(200), for: lease) != nil)
        },
        StoreRule("a change that ends sessions sooner lets clean-up walk along all of them, and a longer life does not")
        {
            store in
            let domain = try await DomainFixture(store, WallClock { Fixture.start })
            let time = CleanUpTime(earliest: Fixture.start, settled: Fixture.start)
            func walks() async throws -> Bool {
                let walks = try await store.read(.short) { (reader) throws(TransactionError) in
                    try reader.cleanUp().value()?.walkedTo != nil
                }
                while try await store.walkAlongSessions(limit: 1, by: policy, at: time, { _ in false }) {}
                return walks
            }
            let user = try await store.given(Fixture.user())
            for id in ["a", "b"] { _ = try await domain.admin.createClient(id: id, by: Fixture.admin) { _ in nil } }
            for client in ["a", "b"] { _ = try await store.given(Fixture.session(of: user.id, client: client)) }
            #expect(try await !walks())
            for (seconds, isSooner) in [(1_000_000, true), (1_100_000, false)] as [(Int64, Bool)] {
                _ = try await domain.admin.changeSettings(by: Fixture.admin) {
                    $0.offlineSessionIdle = .seconds(seconds)
                }
                #expect(try await walks() == isSooner)
            }
            for (seconds, isSooner) in [(900_000, true), (900_000, false), (950_000, false)] as [(Int64, Bool)] {
                _ = try await domain.admin.changeClient("a", by: Fixture.admin) { client in
                    client.offlineSessionIdle = .seconds(seconds)
                    return nil
                }
                #expect(try await walks() == isSooner)
            }
            try await domain.admin.revokeAllSessions(by: Fixture.admin)
            #expect(try await walks())
            // The sessions of a deleted client have the lifetimes of the settings.
            try await domain.admin.deleteClient("b", by: Fixture.admin)
            #expect(try await !walks())
            for (path, isSooner) in [("one", true), ("two", false)] {
                _ = try await domain.admin.changeClient("a", by: Fixture.admin) { client in
                    client.page.backchannelLogoutURI = "https://one.example/\(path)"
                    client.offlineSessionIdle = .seconds(1_200_000)
                    return nil
                }
                #expect(try await walks() == isSooner, "a new receiver hears of the ends of before")
            }
            try await domain.admin.deleteClient("a", by: Fixture.admin)
            #expect(try await walks())
            let served = RefreshPolicy(absoluteMaximum: .seconds(20_000_000))
            try await store.updateSettings { $0.serve(policy, at: Fixture.start) }
            _ = try await walks()
            _ = try await domain.admin.changeSettings(by: Fixture.admin) { $0.offlineSessionMaxLimited = false }
            #expect(try await !walks())
            try await store.updateSettings { $0.serve(served, at: Fixture.start) }
            #expect(try await walks())
        },
        StoreRule("changes that come more often than clean-up can walk along all sessions leave no session out") {
            store in
            let domain = try await DomainFixture(store, WallClock { Fixture.start })
            let time = CleanUpTime(earliest: Fixture.start, settled: Fixture.start)
            let user = try await store.given(Fixture.user())
            for device in ["a", "b", "c", "d"] {
                _ = try await store.given(Fixture.session(of: user.id, device: device))
            }
            for seconds in [1_000_000, 999_999, 999_998, 999_997] as [Int64] {
                _ = try await domain.admin.changeSettings(by: Fixture.admin) {
                    $0.offlineSessionIdle = .seconds(seconds)
                }
                let goesOn = try await store.walkAlongSessions(limit: 1, by: policy, at: time) { _ in false }
                #expect(goesOn)
            }
            let end = Fixture.start + .seconds(1_000_000)
            #expect(try await store.step(.due(by: end), at: end).looks == 4)
        },
        StoreRule("a look that has read a user's longer maximum does not move a session beyond the shorter one") {
            store in
            let domain = try await DomainFixture(store, WallClock { Fixture.start })
            _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
            let user = try await store.given(Fixture.user())
            let login = Fixture.start + (.zero - idle) + (.zero - day)
            _ = try await store.given(Fixture.session(of: user.id, at: login))
            let looks = try await store.write(.nothing) { (transaction) throws(TransactionError) in
                try transaction.looks(.due(by: Fixture.start), limit: 9).value()
            }
            #expect(looks.count == 1)
            _ = try await domain.admin.changeUser(.id(user.id), by: Fixture.admin) { user in
                user.offlineSessionMax = .seconds(3600)
                return nil
            }
            let later = looks.map { (look: $0, next: Fixture.start + day) }
            _ = try await store.write(.nothing) { (transaction) throws(TransactionError) in
                try transaction.move(later, forgetting: []).value()
            }
            #expect(try await store.step(.due(by: Fixture.start), at: Fixture.start).looks == 1)
        },
        StoreRule("a shorter maximum of a user is heeded at its next look, by a change as by an import") { store in
            let clock = WallClock { Fixture.start + day }
            let domain = try await DomainFixture(store, clock)
            _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
            for name in ["anna", "bert"] {
                let user = try await store.given(Fixture.user(name))
                let session = try await store.given(Fixture.session(of: user.id))
                let now = clock.now + day
                #expect(try await store.step(.due(by: now), at: now).looks == 0)
                if name == "anna" {
                    _ = try await domain.admin.changeUser(.id(user.id), by: Fixture.admin) { user in
                        user.offlineSessionMax = .seconds(3600)
                        return nil
                    }
                } else {
                    var imported = user
                    imported.offlineSessionMax = .seconds(3600)
                    _ = try await store.importUsers([imported], .replacing)
                }
                #expect(try await store.step(.due(by: now), at: now).looks == 1)
                // The row names the later end, of the idle time, when both have come.
                let end = session.startedAt + idle + month
                #expect(try await store.step(.due(by: end), at: end).deleted == 1)
            }
        },
        StoreRule("foreign tokens are found by their end, and no other is read") { store in
            let user = try await store.given(Fixture.user())
            let start = Fixture.start
            func token(_ number: UInt8, expires: Instant?, exchanged: Instant? = nil) -> ForeignToken {
                ForeignToken(
                    digest: [UInt8](repeating: number, count: 32), userID: user.id, clientID: Client.mobileID,
                    device: Device(id: "d\(number)"), startedAt: start, expiresAt: expires, epoch: 1,
                    exchange: exchanged.map { ForeignToken.Exchange(sessionID: Fixture.sessionID(), at: $0) })
            }
            let tokens = [
                token(1, expires: start + day), token(2, expires: nil), token(3, expires: start + day * 3),
                token(4, expires: start + day, exchanged: start + day * 2),
            ]
            _ = try await store.importForeignTokens(tokens)
            func swept(at now: Instant, limit: Int = 9) async throws -> Int {
                try await store.sweepForeignTokens(limit: limit, by: policy, at: now)
            }
            #expect(try await swept(at: start + day + month + .seconds(-1)) == 0)
            #expect(try await swept(at: start + day + month) == 1)
            #expect(try await swept(at: start + day * 3 + month, limit: 1) == 1)
            #expect(try await swept(at: start + day * 3 + month) == 1)
            #expect(try await store.foreignTokens(after: nil, limit: 9) == [tokens[1]])
            #expect(try await swept(at: start + .seconds(31_536_000) + month) == 1)
        },
    ]
    + (1...4).map { seed in
        StoreRule("whatever happens, clean-up forgets each session in its time, and none sooner; history \(seed)") {
            store in
            try await CleanUpHistory(store).play(SeededGenerator(seed: seed))
        }
    }

/// A history of logins, refreshes, ends and changes of settings, with clean-up between them.
private struct CleanUpHistory {
    private let store: any Store
    private let now = Locked(Fixture.start)

    init(_ store: any Store) { self.store = store }

    func play(_ generator: SeededGenerator) async throws {
        var generator = generator
        let domain = try await DomainFixture(store, WallClock { [now] in now.withLock { $0 } })
        let policy = domain.context.policy
        try await store.updateSettings { $0.serve(policy, at: Fixture.start) }
        let clients = [Client.mobileID, "tablet", "tv"]
        for id in clients { _ = try await domain.admin.createClient(id: id, by: Fixture.admin) { _ in nil } }
        let users = [try await store.given(Fixture.user("anna")), try await store.given(Fixture.user("bert"))]
        var ids: [Identifier<Session>] = []
        for number in 0..<90 {
            let now = now.withLock { now in
                now = now + .seconds(Int64.random(in: 0...400_000, using: &generator))
                return now
            }
            let days = Duration.seconds(86_400 * Int64.random(in: 2...60, using: &generator))
            let (user, client) = (users.randomElement(using: &generator)?.id, clients.randomElement(using: &generator))
            guard let user, let client else { return }
            switch Int.random(in: 0..<12, using: &generator) {
            case 0...3:
                let epoch = try await store.settings().epoch
                ids.append(
                    try await store.given(
                        Session(
                            id: Fixture.sessionID(), userID: user, clientID: client, device: Device(id: "d\(number)"),
                            startedAt: now, epoch: epoch)
                    ).id)
            case 4, 5:
                guard let id = ids.randomElement(using: &generator) else { continue }
                _ = try await store.updateSession(id) { change in
                    if policy.ending(of: change.record, at: now) == nil { change.session.renewedAt = now }
                }
            case 6:
                guard let id = ids.randomElement(using: &generator) else { continue }
                _ = try await store.updateSession(id) { $0.session.end(.loggedOut, at: now) }
            case 7:
                _ = try await domain.admin.changeSettings(by: Fixture.admin) { $0.offlineSessionIdle = days }
            case 8:
                _ = try await domain.admin.changeUser(.id(user), by: Fixture.admin) { user in
                    user.offlineSessionMax = days
                    return nil
                }
            case 9:
                if try await store.client(client) == nil { continue }
                _ = try await domain.admin.changeClient(client, by: Fixture.admin) { client in
                    client.offlineSessionMax = days
                    return nil
                }
            case 10 where number % 5 == 0: try await domain.admin.revokeAllSessions(by: Fixture.admin)
            case 10 where number % 5 == 1 && client == "tv":
                if try await store.client(client) != nil {
                    try await domain.admin.deleteClient(client, by: Fixture.admin)
                }
            default: ids = try await cleanUp(ids, at: now, by: policy)
            }
        }
        now.withLock { $0 = $0 + day * 500 }
        #expect(try await cleanUp(ids, at: now.withLock { $0 }, by: policy) == [])
    }

    /// Cleans up, and expects that exactly the forgotten sessions are gone.
    private func cleanUp(
        _ ids: [Identifier<Session>], at now: Instant, by policy: RefreshPolicy
    ) async throws -> [Identifier<Session>] {
        var expected: [Identifier<Session>] = []
        for id in ids {
            let record = try #require(try await store.session(id))
            if !policy.isForgotten(record, at: now) { expected.append(id) }
        }
        let steps = try await store.cleanUpSessions(limit: 7, at: now, by: policy)
        #expect(steps <= 3 * (ids.count / 7 + 2), "\(steps) steps for \(ids.count) sessions")
        #expect(try await store.left(ids) == expected)
        return expected
    }
}
