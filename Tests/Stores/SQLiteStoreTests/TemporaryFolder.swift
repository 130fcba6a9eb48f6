import FoundationEssentials
import Sessions

@testable import SQLiteStore

/// A folder for one test, deleted after it.
struct TemporaryFolder: Sendable {
    let path: String

    var database: String { path + "/test.sqlite" }

    /// Gives `body` a new folder.
    static func with(_ body: (TemporaryFolder) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/store-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        do {
            try await body(TemporaryFolder(path: path))
        } catch {
            try FileManager.default.removeItem(atPath: path)
            throw error
        }
        try FileManager.default.removeItem(atPath: path)
    }

    /// Opens the database, with options edited by `edit`.
    func open(_ edit: (inout SQLiteStore.Options) -> Void = { _ in }) throws -> SQLiteStore {
        var options = SQLiteStore.Options(clock: WallClock { Instant(secondsSinceEpoch: 1_800_000_000) })
        // Not a test of the deadline, unless it sets one: a busy machine may take long.
        options.decisionDeadline = .seconds(3600)
        edit(&options)
        return try SQLiteStore(path: database, options: options)
    }
}
