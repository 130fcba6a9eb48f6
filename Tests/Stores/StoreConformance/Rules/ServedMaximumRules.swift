import Sessions
import Testing

private let day = Duration.seconds(86_400)

extension Store {
    /// Begins to serve by a file that allows so many days.
    fileprivate func serve(_ days: Int) async throws(StoreError) {
        try await updateSettings { $0.serve(RefreshPolicy(absoluteMaximum: day * days), at: Fixture.start) }
    }

    /// How long a session may live at a node with so many days in its file.
    fileprivate func maximum(at days: Int) async throws(StoreError) -> Duration {
        let settings = try await settings()
        return RefreshPolicy(absoluteMaximum: day * days).lifetimes(settings: settings, client: nil, user: nil).maximum
    }
}

/// What the configuration files of servers allow, one after the other.
let servedMaximumRules: [StoreRule] = [
    StoreRule("a shorter absolute maximum is every node's, and is told, once, however many begin together") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        try await store.updateSettings { $0.settings.sessions.offlineSessionMaxLimited = false }
        // What was before is unknown.
        try await store.serve(400)
        #expect(try await store.settings().servedMaximum == day * 400)
        #expect(try await store.trail().isEmpty)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { try await store.serve(300) } }
            try await group.waitForAll()
        }
        let trail = try await store.trail()
        #expect(trail.map(\.event.kind) == [.settingsChanged] && trail.first?.event.actor == "system")
        #expect(trail.first?.event.reason == "absolute_max_lifetime=25920000")
        let item = try await store.revocations(after: 0, at: Fixture.start, limit: 9)
        #expect(item.map(\.unnumbered) == trail.compactMap(\.revocation))
        #expect(item.map(\.kind) == [.lifetimesShortened] && item.first?.clientID == nil && item.first?.userID == nil)
        #expect(item.first?.at == Fixture.start + .seconds(1))
        #expect(try await store.maximum(at: 400) == day * 300)
        #expect(try await store.maximum(at: 200) == day * 200)
        // A longer one shortens nothing. Nor does it lengthen anything where the file is another one.
        try await store.serve(500)
        #expect(try await store.maximum(at: 500) == day * 500)
        #expect(try await store.maximum(at: 400) == day * 400)
        // Other changes leave it as it is.
        try await store.updateSettings { $0.settings.sessions.rotationInterval = .seconds(7) }
        try await store.updateClient("web") { $0.client?.epoch = 9 }
        #expect(try await store.settings().servedMaximum == day * 500)
        try await store.serve(499)
        #expect(try await store.trail().map { $0.revocation != nil } == [true, false, true])
    },
    StoreRule("an absolute maximum that no session could reach is kept and not told") { store in
        try await store.updateClient("web") { $0.client = Fixture.client() }
        for days in [400, 181, 180] { try await store.serve(days) }
        #expect(try await store.trail().map(\.revocation) == [nil, nil])
        // From here on it is what ends sessions.
        try await store.serve(179)
        #expect(try await store.trail().last?.revocation?.kind == .lifetimesShortened)
        #expect(try await store.maximum(at: 400) == day * 179)
    },
    StoreRule("a node takes no lifetimes under which one that serves with a shorter maximum would not start again") {
        store in
        try await store.updateSettings { change in
            change.settings.sessions.offlineSessionIdle = day * 10
            change.settings.sessions.offlineSessionMax = day * 20
        }
        let admin = try await DomainFixture(store, WallClock { Fixture.start }, absoluteMaximum: day * 400).admin
        func isTaken(_ edit: @escaping @Sendable (inout SessionSettings) -> Void) async -> Bool {
            (try? await admin.changeSettings(by: Fixture.admin, edit)) != nil
        }
        func isTakenOfClient(_ edit: @escaping @Sendable (inout Client) -> Void) async -> Bool {
            let change = try? await admin.changeClient("web", by: Fixture.admin) { client in
                edit(&client)
                return nil
            }
            return change != nil
        }
        _ = try await admin.createClient(id: "web", by: Fixture.admin) { _ in nil }
        // What is no node's yet is bounded by the file alone.
        for days in [40, 20] {
            #expect(await isTaken { $0.offlineSessionMax = day * days })
            #expect(await isTakenOfClient { $0.offlineSessionMax = day * days })
        }
        try await store.serve(30)
        for (days, isGood) in [(31, false), (30, true), (400, false)] {
            #expect(await isTaken { $0.offlineSessionMax = day * days } == isGood)
            #expect(await isTaken { $0.offlineSessionIdle = day * days } == isGood)
            #expect(await isTakenOfClient { $0.offlineSessionMax = day * days } == isGood)
            #expect(await isTakenOfClient { $0.offlineSessionIdle = day * days } == isGood)
        }
        // A longer one of another node allows no more than the file here.
        try await store.serve(500)
        for days in [400, 401] {
            #expect(await isTaken { $0.offlineSessionMax = day * days } == (days == 400))
            #expect(await isTakenOfClient { $0.offlineSessionMax = day * days } == (days == 400))
        }
    },
]
