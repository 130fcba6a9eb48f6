import Sessions
import Testing

private let lease = Duration.seconds(30)

extension Store {
    /// As a node does: the first one makes the row.
    fileprivate func take(by node: String, at seconds: Int, _ name: String = "mails") async throws -> Int64? {
        let now = Fixture.start + .seconds(seconds)
        return try await updateDelivery(name) { progress in
            var current = progress ?? DeliveryProgress(since: now)
            guard current.take(by: node, at: now, for: lease) else { return nil }
            progress = current
            return current.cursor
        }
    }

    fileprivate func advance(to cursor: Int64, by node: String) async throws -> Bool {
        try await updateDelivery("mails") { $0?.advance(to: cursor, by: node) ?? false }
    }

    fileprivate func delivery() async throws -> DeliveryProgress? { try await updateDelivery("mails") { $0 } }
}

/// How far the webhook has come, and which node sends.
let deliveryRules: [StoreRule] = [
    StoreRule("the webhook's progress is absent at first, then kept with every member, and what is not changed stays") {
        store in
        #expect(try await store.delivery() == nil)
        var progress = DeliveryProgress(since: Fixture.start)
        (progress.cursor, progress.holder) = (1 << 40, "node-ä")
        progress.heldUntil = Fixture.start + .seconds(31)
        progress.failingSince = Fixture.start + .seconds(-7)
        try await store.updateDelivery("mails") { [progress] in $0 = progress }
        #expect(try await store.delivery() == progress)
        progress.failingSince = nil
        progress.cursor += 1
        try await store.updateDelivery("mails") { [progress] in $0 = progress }
        #expect(try await store.delivery() == progress)
    },
    StoreRule("of two nodes one has the lease, until it runs out, and then the other goes on from the cursor") {
        store in
        let cursor = try await store.take(by: "a", at: 0)
        #expect(cursor == 0)
        #expect(try await store.take(by: "b", at: 0) == nil)
        #expect(try await store.advance(to: 5, by: "a"))
        #expect(try await store.take(by: "b", at: 29) == nil)
        #expect(try await store.take(by: "b", at: 30) == 5)
        #expect(try await store.take(by: "a", at: 31) == nil)
        // Looking again keeps the lease: in time it is renewed.
        #expect(try await store.take(by: "b", at: 50) == 5)
        #expect(try await store.take(by: "a", at: 79) == nil)
        #expect(try await store.take(by: "a", at: 80) == 5)
    },
    StoreRule("whoever has lost the lease of the webhook moves nothing, and nobody moves it back") { store in
        #expect(try await store.take(by: "a", at: 0) == 0)
        #expect(try await store.take(by: "b", at: 30) == 0)
        #expect(try await store.advance(to: 9, by: "b"))
        #expect(try await !store.advance(to: 11, by: "a"))
        #expect(try await !store.advance(to: 8, by: "b"))
        let since = try await store.updateDelivery("mails") {
            $0?.fail(by: "a", at: Fixture.start, for: .seconds(300), lease)
        }
        #expect(since == nil)
        try await store.updateDelivery("mails") { $0?.leave("a", at: Fixture.start) }
        let progress = try #require(try await store.delivery())
        #expect(progress.cursor == 9 && progress.holder == "b" && progress.failingSince == nil)
        #expect(progress.heldUntil == Fixture.start + .seconds(60))
    },
    StoreRule("a node that fails keeps the webhook for as long as it waits, and one that leaves hands it over at once")
    {
        store in
        #expect(try await store.take(by: "a", at: 0) == 0)
        for second in [3, 7] {
            let since = try await store.updateDelivery("mails") { progress in
                progress?.fail(by: "a", at: Fixture.start + .seconds(second), for: .seconds(100), lease)
            }
            #expect(since == Fixture.start + .seconds(3))
        }
        #expect(try await store.take(by: "b", at: 136) == nil)
        try await store.updateDelivery("mails") { $0?.leave("a", at: Fixture.start + .seconds(20)) }
        #expect(try await store.take(by: "b", at: 20) == 0)
        #expect(try await store.advance(to: 1, by: "b"))
        #expect(try await store.delivery()?.failingSince == nil)
    },
    StoreRule("of many nodes that ask for the webhook at once, one gets it") { store in
        let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
            for node in 0..<16 { group.addTask { try await store.take(by: "node-\(node)", at: 0) != nil } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(winners == 1)
    },
    StoreRule("webhooks are apart by their names, byte by byte, are listed, and can be forgotten") { store in
        #expect(try await store.deliveries().isEmpty)
        for name in ["mails", "Mails", "mails-2", ""] {
            let cursor = try await store.take(by: name, at: 0, name)
            #expect(cursor == 0)
        }
        #expect(try await store.advance(to: 5, by: "mails"))
        let all = try await store.deliveries()
        #expect(all.mapValues(\.cursor) == ["mails": 5, "Mails": 0, "mails-2": 0, "": 0])
        #expect(all.allSatisfy { name, progress in progress.holder == name })
        #expect(try await store.delivery() == all["mails"])
        try await store.updateDelivery("mails") { $0 = nil }
        #expect(try await store.delivery() == nil)
        #expect(try await store.deliveries().count == 3)
        try await store.updateDelivery("mails") { $0 = nil }
        // A receiver that comes back begins anew.
        #expect(try await store.take(by: "b", at: 0) == 0)
    },
]
