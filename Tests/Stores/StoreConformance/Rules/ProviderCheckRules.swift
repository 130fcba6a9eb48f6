import Sessions
import Testing

extension Fixture {
    /// What a provider is asked with about a session, with every member set.
    static func check(
        _ session: Session, dueAt: Instant = start + .seconds(100), provider: String = "acme"
    ) -> ProviderCheck {
        ProviderCheck(
            sessionID: session.id, provider: provider, subject: "u-é", clientID: "app",
            sealedToken: [0, 1, 0xFF], rotates: false, dueAt: dueAt, failingSince: start + .seconds(3), isInDoubt: true,
            revision: 7)
    }
}

extension Store {
    /// Starts a session that a provider is asked about.
    fileprivate func givenCheck(
        _ user: User, device: String = "phone", dueAt: Instant = Fixture.start + .seconds(100),
        provider: String = "acme"
    ) async throws -> ProviderCheck {
        let session = Fixture.session(of: user.id, device: device)
        let check = Fixture.check(session, dueAt: dueAt, provider: provider)
        let opened: Void? = try await openSession(
            userID: user.id, clientID: session.clientID, deviceID: device
        ) { opening in
            opening.session = session
            opening.providerCheck = check
        }
        guard opened != nil else { throw Unexpected("no such user") }
        return check
    }

    fileprivate func claim(
        _ limit: Int = 10, of provider: String = "acme", at seconds: Int = 100
    ) async throws -> [ProviderCheck] {
        let now = Fixture.start + .seconds(seconds)
        return try await claimProviderChecks(of: provider, dueBy: now, until: now + .seconds(60), limit: limit)
    }
}

/// What identity providers are asked with, and which node asks.
let providerCheckRules: [StoreRule] = [
    StoreRule("a check comes with its session and comes back with every member, null ones too") { store in
        let anna = try await store.given(Fixture.user())
        let check = try await store.givenCheck(anna)
        #expect(try await store.providerCheck(of: check.sessionID) == check)
        var less = check
        (less.sealedToken, less.failingSince, less.rotates, less.isInDoubt) = (nil, nil, true, false)
        let changed: Void? = try await store.updateProviderCheck(check.sessionID) { [less] in $0.check = less }
        #expect(changed != nil)
        #expect(try await store.providerCheck(of: check.sessionID) == less)
        let none = try await store.given(Fixture.session(of: anna.id, device: "tablet"))
        #expect(try await store.providerCheck(of: none.id) == nil)
        #expect(try await store.updateProviderCheck(Fixture.sessionID()) { _ in } == nil)
    },
    StoreRule("who takes checks on gets what is due of the provider, the longest due first, each once") { store in
        let anna = try await store.given(Fixture.user())
        var all: [ProviderCheck] = []
        for (number, seconds) in [30, 10, 20, 101].enumerated() {
            all.append(try await store.givenCheck(anna, device: "d\(number)", dueAt: Fixture.start + .seconds(seconds)))
        }
        _ = try await store.givenCheck(anna, device: "other", dueAt: Fixture.start, provider: "globex")
        #expect(try await store.claim(0).isEmpty)
        let first = try await store.claim(2)
        #expect(first.map(\.sessionID) == [all[1].sessionID, all[2].sessionID])
        // As they were, but for the number by which they are settled.
        #expect(first.allSatisfy { $0.isInDoubt && $0.revision == 8 && $0.dueAt < Fixture.start + .seconds(100) })
        let stored = try #require(try await store.providerCheck(of: all[1].sessionID))
        #expect(stored.dueAt == Fixture.start + .seconds(160) && stored.isInDoubt && stored.revision == 8)
        #expect(try await store.claim().map(\.sessionID) == [all[0].sessionID])
        #expect(try await store.claim().isEmpty)
        // When the lease is over, another one takes over.
        #expect(try await store.claim(at: 160).map(\.revision).sorted() == [8, 9, 9, 9])
    },
    StoreRule("a check that was not in doubt is handed out so, and is from then on") { store in
        let check = try await store.givenCheck(try await store.given(Fixture.user()))
        try await store.updateProviderCheck(check.sessionID) { $0.check?.isInDoubt = false }
        #expect(try await store.claim().map(\.isInDoubt) == [false])
        #expect(try await store.providerCheck(of: check.sessionID)?.isInDoubt == true)
    },
    StoreRule("of many who take checks on at once each gets others") { store in
        let anna = try await store.given(Fixture.user())
        for number in 0..<20 { _ = try await store.givenCheck(anna, device: "d\(number)") }
        let taken = try await withThrowingTaskGroup(of: [ProviderCheck].self) { group in
            for _ in 0..<10 { group.addTask { try await store.claim(4) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(taken.map(\.sessionID)).count == taken.count)
        let rest = try await store.claim(20)
        #expect(taken.count + rest.count == 20)
    },
    StoreRule("an answer is written to the session and its check together, with the events") { store in
        let anna = try await store.given(Fixture.user())
        let check = try await store.givenCheck(anna)
        let id = check.sessionID
        let confirmation = ProviderConfirmation(provider: "acme", at: Fixture.start + .seconds(9))
        try await store.updateProviderCheck(id) { change in
            change.session.confirmation = confirmation
            change.check?.dueAt = Fixture.start + .seconds(999)
        }
        #expect(try await store.stored(id).confirmation == confirmation)
        #expect(try await store.providerCheck(of: id)?.dueAt == Fixture.start + .seconds(999))
        // A refresh leaves it as it is.
        _ = try await store.updateSession(id) { $0.session.child += 1 }
        #expect(try await store.stored(id).confirmation == confirmation)
        try await store.updateProviderCheck(id) { change in
            change.session.end(.revokedByProvider, at: Fixture.start + .seconds(10))
            change.events.append(
                AuditEvent(.sessionEnded, at: Fixture.start, by: .system, session: change.session, reason: "why"))
        }
        let session = try await store.stored(id)
        #expect(session.ending?.reason == .revokedByProvider && session.child == 2)
        #expect(try await store.providerCheck(of: id) == nil)
        let events = try await store.events(after: 0, limit: 9, userID: nil, sessionID: id)
        #expect(events.map(\.event.reason) == ["why"])
    },
    StoreRule("a check goes with the end of its session, whoever writes it") { store in
        let anna = try await store.given(Fixture.user())
        var checks: [ProviderCheck] = []
        for device in ["a", "b", "c", "d"] { checks.append(try await store.givenCheck(anna, device: device)) }
        func has(_ index: Int) async throws -> Bool {
            try await store.providerCheck(of: checks[index].sessionID) != nil
        }
        _ = try await store.updateSession(checks[0].sessionID) { $0.session.end(.loggedOut, at: Fixture.start) }
        #expect(try await !has(0))
        // Another login on the same device.
        _ = try await store.givenCheck(anna, device: "b")
        #expect(try await !has(1))
        _ = try await store.updateUser(.id(anna.id)) { change in
            change.ending = UserChange.EndingSessions(.revokedByUser, at: Fixture.start, deviceID: "c")
        }
        #expect(try await !has(2))
        #expect(try await has(3))
        _ = try await store.updateUser(.id(anna.id)) { $0.deletes = true }
        #expect(try await !has(3))
        #expect(try await store.claim().isEmpty)
    },
]
