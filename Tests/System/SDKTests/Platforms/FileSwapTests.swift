import Foundation
import Repository
import SojournClient
import SojournTestKit
import Testing

/// Many tasks, each with a store of its own, on one file.
@Suite("Swaps of a file", .timeLimit(.minutes(3)))
struct FileSwapTests {
    /// A record that counts.
    private static func record(_ number: Int64) -> [UInt8] {
        var record = SessionRecord(deviceID: "d", retrySecret: [1])
        record.clockOffset = number
        return record.json
    }

    @Test("of swaps at once each has one winner: no count is lost, and none is made twice")
    func counting() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("swaps-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        // The file is not flushed, because this is about the order of the swaps, and a disk takes milliseconds for each.
        let first = FileStore(directory: folder, observe: { _ in }, flush: { _ in 0 })
        #expect(try await first.replace(nil, with: Self.record(0)))
        let (tasks, swaps) = (Int64(4), Int64(Lane.rounds(push: 250, full: 2500)))
        let won = Guarded<Set<Int64>>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    let store = FileStore(directory: folder, observe: { _ in }, flush: { _ in 0 })
                    var count = 0
                    while count < swaps {
                        let stored = try #require(try await store.load())
                        let next = try #require(try SessionRecord(parsing: stored.bytes).clockOffset) + 1
                        guard try await store.replace(stored.version, with: Self.record(next)) else { continue }
                        count += 1
                        #expect(won.withLock { $0.insert(next).inserted })
                    }
                }
            }
            try await group.waitForAll()
        }
        let last = try #require(try await first.load())
        #expect(try SessionRecord(parsing: last.bytes).clockOffset == tasks * swaps)
        #expect(won.withLock { $0.count } == Int(tasks * swaps))
    }
}
