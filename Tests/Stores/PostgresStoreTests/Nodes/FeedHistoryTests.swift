import PostgresFixture
import PostgresStore
import Repository
import Sessions
import StoreConformance
import Testing

/// Readers that follow the trail and the feed with cursors, while transactions of several writers are open across each other's
/// commits.
@Suite("PostgreSQL: readers of the feed", .timeLimit(.minutes(5)))
struct FeedHistoryTests {
    private static let now = Instant(secondsSinceEpoch: 1_800_000_000)
    private static let clientID = Client.mobileID

    /// An end of a session that names its writer, its transaction and its place there.
    private static func end(_ writer: Int, _ transaction: Int, _ place: Int) -> RevokingEvent {
        let event = AuditEvent(
            .sessionEnded, at: now, by: .system, clientID: clientID, reason: "\(writer).\(transaction).\(place)")
        return RevokingEvent(
            event: event, revocation: Revocation(.sessionEnded, of: event, at: now, until: now + .seconds(99)))
    }

    /// A reader with a cursor.
    private struct Reader: Sendable {
        enum Way: CaseIterable, Sendable { case trail, ends, feed }

        let way: Way
        var cursor: Int64 = 0
        var seen: [String] = []

        /// Reads the next page. False if there was none.
        mutating func read(_ store: PostgresStore, limit: Int) async throws -> Bool {
            let page: [(number: Int64, reason: String?)] =
                switch way {
                case .trail:
                    try await store.events(after: cursor, limit: limit, userID: nil, sessionID: nil)
                        .map { ($0.id, $0.event.reason) }
                case .ends:
                    try await store.sessionEnds(ofClient: clientID, after: cursor, limit: limit)
                        .map { ($0.id, $0.event.reason) }
                case .feed:
                    try await store.revocations(after: cursor, at: now, limit: limit).map { ($0.number, $0.reason) }
                }
            #expect(page.allSatisfy { $0.number > cursor })
            cursor = page.last?.number ?? cursor
            seen += page.map { $0.reason ?? "" }
            return !page.isEmpty
        }

        /// Expects that each of `reasons` was seen once, and those of a transaction in their order.
        func expect(_ reasons: [String]) {
            #expect(seen.count == reasons.count, "\(way)")
            #expect(Set(seen) == Set(reasons), "\(way)")
            let byTransaction = Dictionary(grouping: seen) { $0.split(separator: ".").prefix(2).joined(separator: ".") }
            for reasons in byTransaction.values {
                let places = reasons.compactMap { $0.split(separator: ".").last.flatMap { Int($0) } }
                #expect(places == places.sorted(), "\(way)")
            }
        }
    }

    @Test(
        "each event is read once, with the order of its transaction, whatever commits in between",
        arguments: SeededGenerator.seeds(Lane.isFull ? 20 : 3))
    func history(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        var open: [HeldTransaction?] = [nil, nil, nil]
        var written = [[String]](repeating: [], count: open.count)
        var committed: [String] = []
        var readers = Reader.Way.allCases.map { Reader(way: $0) }
        var transactions = 0
        for _ in 0..<Lane.rounds(push: 150, full: 2_000) {
            let writer = Int.random(in: 0..<open.count, using: &random)
            if let transaction = open[writer] {
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    try transaction.rollBack()
                    (open[writer], written[writer]) = (nil, [])
                case 1:
                    try transaction.commit()
                    committed += written[writer]
                    (open[writer], written[writer]) = (nil, [])
                default:
                    let ends = (0..<Int.random(in: 1...3, using: &random)).map { place in
                        Self.end(writer, transactions, written[writer].count + place)
                    }
                    try transaction.add(ends)
                    written[writer] += ends.compactMap(\.event.reason)
                }
            } else {
                transactions += 1
                open[writer] = try HeldTransaction(url)
            }
            let reader = Int.random(in: 0..<readers.count, using: &random)
            _ = try await readers[reader].read(store, limit: Int.random(in: 1...4, using: &random))
        }
        for transaction in open { try transaction?.commit() }
        committed += written.joined()
        for index in readers.indices {
            while try await readers[index].read(store, limit: 7) {}
            readers[index].expect(committed)
        }
        await store.close()
    }

    @Test("each event is read once at every node, while three nodes write at the same time")
    func concurrently() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let stores = try (0..<3).map { _ in try openStore(url) }
        let rounds = Lane.rounds(push: 40, full: 1_000)
        let reasons = stores.indices.flatMap { writer in
            (0..<rounds).flatMap { round in (0...round % 3).map { "\(writer).\(round).\($0)" } }
        }
        let readers = try await withThrowingTaskGroup(of: Reader?.self) { group in
            for (writer, store) in stores.enumerated() {
                for part in 0..<4 {
                    group.addTask {
                        for round in stride(from: part, to: rounds, by: 4) {
                            let ends = (0...round % 3).map { Self.end(writer, round, $0) }
                            try await store.write(TransactionScope(.nothing, queue: UInt8(part))) {
                                (transaction) throws(TransactionError) in transaction.append(ends)
                            }
                        }
                        return nil
                    }
                }
                for way in Reader.Way.allCases {
                    group.addTask {
                        var reader = Reader(way: way)
                        while reader.seen.count < reasons.count { _ = try await reader.read(store, limit: 9) }
                        _ = try await reader.read(store, limit: 9)
                        return reader
                    }
                }
            }
            return try await group.reduce(into: [Reader]()) { if let reader = $1 { $0.append(reader) } }
        }
        for reader in readers { reader.expect(reasons) }
        for way in Reader.Way.allCases {
            let orders = Set(readers.filter { $0.way == way }.map(\.seen))
            #expect(orders.count == 1, "every node has the same order")
        }
        for store in stores { await store.close() }
    }
}
