import Locks
import Sessions
import StoreConformance
import Testing

@testable import SQLiteStore

@Suite("SQLite: growth of the log")
struct LogGrowthTests {
    @Test("a log that readers hold back is told of at the limit and at each doubling, and anew after it was copied")
    func thresholds() {
        var growth = LogGrowth(limit: 4120 * 100)
        let steps = [
            (99, 9), (100, 9), (150, 9), (199, 1), (200, 1), (399, 1), (400, 400), (500, 0), (99, 1), (100, 1),
        ]
        let told = steps.map { growth.noted(frames: $0, left: $1).map { $0 / 4120 } }
        #expect(told == [nil, 100, nil, nil, 200, nil, 400, nil, nil, 100])
        var copied = LogGrowth(limit: 4120)
        #expect(copied.noted(frames: 1_000_000, left: 0) == nil, "a log that is copied restarts")
    }

    @Test("a long read lets the log grow, which the observer hears and the size shows; without it the log restarts")
    func longRead() async throws {
        try await TemporaryFolder.with { folder in
            let told = Locked<[Int64]>([])
            let store = try folder.open { options in
                options.checkpointFrames = 8
                options.logWarningBytes = 100_000
                options.observer.logGrew = { bytes in told.withLock { $0.append(bytes) } }
            }
            func write(_ range: Range<Int>) async throws {
                for number in range {
                    _ = try await store.insertUser(Example.user("user-\(number)"), from: .admin, events: [])
                }
            }
            try await write(0..<60)
            #expect(told.withLock { $0 }.isEmpty)
            let usual = store.logBytes
            let reader = try Connection(path: folder.database, access: .readOnly, cacheKibibytes: 100)
            try reader.beginSnapshot()
            try await write(60..<160)
            let lengths = told.withLock { $0 }
            #expect(lengths.count >= 2 && lengths.first.map { $0 >= 100_000 } == true, "\(lengths)")
            #expect(zip(lengths, lengths.dropFirst()).allSatisfy { $1 >= 2 * $0 }, "\(lengths)")
            #expect(store.logBytes >= 400_000 && usual < 100_000)
            try reader.endSnapshot()
            try await write(160..<200)
            let grown = store.logBytes
            try await write(200..<300)
            #expect(told.withLock { $0 } == lengths)
            #expect(store.logBytes == grown, "the log restarts, and its file is used again")
            await store.close()
        }
    }

    @Test("a backup beside a long log makes no more pauses")
    func hurriedBackup() async throws {
        try await TemporaryFolder.with { folder in
            for (limit, pauses) in [(Int64.max, true), (0, false)] {
                let store = try folder.open { $0.logWarningBytes = limit }
                for number in 0..<40 {
                    _ = try await store.insertUser(Example.user("user-\(limit)-\(number)"), from: .admin, events: [])
                }
                let rested = Locked(0)
                var options = CopyOptions { _ in rested.withLock { $0 += 1 } }
                options.pagesPerStep = 4
                _ = try await store.backUp(to: folder.path + "/copy", replacing: true, by: .system, options)
                #expect((rested.withLock { $0 } > 0) == pauses)
                await store.close()
            }
        }
    }
}
