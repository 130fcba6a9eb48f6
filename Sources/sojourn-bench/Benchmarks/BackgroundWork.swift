import Locks
import SQLiteStore
import Sessions

/// Work that a server does beside refreshes. It runs until its task is cancelled.
final class BackgroundWork: Sendable {
    private let store: SQLiteStore
    private let folder: String
    /// Sessions deleted per second, and MiB copied per second.
    private let rates = Locked<(deleted: [Double], copied: [Double])>(([], []))

    /// Creates work on `store`, of which the tombstones may be deleted.
    init(store: SQLiteStore, folder: String) {
        self.store = store
        self.folder = folder
    }

    /// The kinds of work with their names.
    var all: [(String, @Sendable () async throws -> Void)] {
        [("clean-up", { try await self.cleanUp() }), ("a backup", { try await self.backUp() })]
    }

    /// The amounts of work that were done.
    var figures: [Figure] {
        rates.withLock { rates in
            [
                rates.deleted.isEmpty ? nil : Figure("sessions deleted meanwhile", "per second", rates.deleted),
                rates.copied.isEmpty ? nil : Figure("copied meanwhile", "MiB per second", rates.copied),
            ].compactMap { $0 }
        }
    }

    /// Deletes as the server does by default: 256 sessions at a time, 5000 per second.
    private func cleanUp() async throws {
        let start = monotonicNanoseconds()
        var deleted = 0
        while !Task.isCancelled {
            deleted += try await SessionFiller(store: store).forgetTombstones(limit: 256).deleted
            try? await Task.sleep(for: .seconds(256.0 / 5000))
        }
        let perSecond = Double(deleted) * 1e9 / Double(monotonicNanoseconds() - start)
        if deleted > 0 { rates.withLock { $0.deleted.append(perSecond) } }
    }

    /// Makes one backup after the other, and waits for the last one.
    private func backUp() async throws {
        while !Task.isCancelled {
            let backup = try await store.backUp(to: folder + "/backup.sqlite", replacing: true, by: .system)
            let rate = Double(backup.bytes) / 1_048_576 / (backup.duration / .seconds(1))
            rates.withLock { $0.copied.append(rate) }
        }
    }
}
