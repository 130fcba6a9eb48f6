import Cryptography
import Locks
import Testing

@testable import Sessions

/// What wakes a request that waits for news of a login: here nothing but the feed can, because time stands still.
@Suite(.timeLimit(.minutes(1))) struct PhoneLoginWatchTests {
    private final class Source: RevocationSource {
        private let rows = Locked<[Revocation]>([])

        func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation] {
            Array(rows.withLock { $0.filter { $0.number > cursor } }.prefix(limit))
        }

        func lastRevocation() async throws(StoreError) -> Int64 { rows.withLock { $0.last?.number ?? 0 } }
        func lastAssignedRevocation() async throws(StoreError) -> Int64 { try await lastRevocation() }

        func add(_ kind: Revocation.Kind, session: Identifier<Session>? = nil) {
            rows.withLock { rows in
                let end = Instant(secondsSinceEpoch: 2000)
                rows.append(
                    Revocation(
                        number: Int64(rows.count) + 1, kind, at: Instant(secondsSinceEpoch: 0), until: end,
                        sessionID: session))
            }
        }
    }

    private let source = Source()
    private let watch = PhoneLoginWatch(sleep: { _ in try? await Task.sleep(for: .seconds(3600)) })

    init() {
        watch.follow(RevocationFeed(source: source, clock: WallClock { Instant(secondsSinceEpoch: 1000) }))
    }

    /// A request that looks until `isOver` says so. Returns the number of its looks.
    private func look(_ id: Identifier<Session>, until isOver: Locked<Bool>) async throws -> Int {
        var looks = 0
        _ = try await watch.next(.login(id), patience: .seconds(3600)) { () async throws(ServiceError) in
            looks += 1
            return ((), isOver.withLock { $0 })
        }
        return looks
    }

    @Test(
        "the end of a session on any node wakes the request",
        arguments: [Revocation.Kind.sessionEnded, .allSessionsEnded])
    func ends(kind: Revocation.Kind) async throws {
        let (id, isOver) = (Identifier<Session>(random: .system), Locked(false))
        source.add(.sessionEnded, session: Identifier(random: .system))
        async let looks = look(id, until: isOver)
        while watch.waitingCount == 0 { await Task.yield() }
        isOver.withLock { $0 = true }
        source.add(kind, session: kind == .sessionEnded ? id : nil)
        let count = try await looks
        #expect(count > 1)
    }

    @Test("an end between the last look and the first question to the feed is not missed")
    func race() async throws {
        let (id, isOver) = (Identifier<Session>(random: .system), Locked(false))
        var looks = 0
        _ = try await watch.next(.login(id), patience: .seconds(3600)) { () async throws(ServiceError) in
            looks += 1
            let seen = isOver.withLock { $0 }
            // The session ends right after it was read, and the feed is asked after that only.
            if looks == 1 {
                isOver.withLock { $0 = true }
                source.add(.sessionEnded, session: id)
            }
            return ((), seen)
        }
        #expect(looks == 2)
    }
}
