import FoundationEssentials
import Sessions
import SQLiteStore
import Testing

@testable import Configuration
@testable import Server

/// What a database that was restored from a backup says to the followers of the feed of the one before.
@Suite("The feed after a restore", .timeLimit(.minutes(3)))
struct RestoreFeedTests {
    private let folder = StartingFolder()
    private let clock = StartingClock()

    private func withFeed<Value>(
        _ body: (Application, RevocationFeed) async throws -> Value
    ) async throws -> Value {
        let application = try await Application.open(folder.configuration, clock.environment())
        let feed = RevocationFeed(source: application.context.store, clock: clock.wall)
        let value = try await body(application, feed)
        await application.close()
        return value
    }

    /// Ends something at a moment of its own. Returns the place behind it.
    private func end(_ application: Application, _ feed: RevocationFeed) async throws -> RevocationCursor {
        clock.advance(.seconds(1))
        try await Administration(application.context).revokeAllSessions(by: .system)
        return RevocationCursor(after: try #require(try await feed.page(after: .start, limit: 200)?.last))
    }

    @Test(
        "a follower that was told what is undone begins anew, however the backup came back", arguments: [true, false],
        [true, false])
    func undone(_ isCopied: Bool, _ outliveTheirSetting: Bool) async throws {
        if outliveTheirSetting {
            // Until the last token of before has ended, all that is revoked matters until then.
            try await withFeed { application, _ in
                _ = try await Administration(application.context).changeSettings(by: .system) { settings in
                    settings.offlineSessionIdle = .seconds(86_400)
                }
            }
        }
        let early = try await withFeed { try await end($0, $1) }
        let backup = folder.file("backup")
        try FileManager.default.copyItem(atPath: folder.file("db"), toPath: backup)
        let late = try await withFeed { application, feed in
            let late = try await end(application, feed)
            let isKnown = try await feed.knows(late)
            #expect(isKnown)
            return late
        }
        if isCopied {
            try FileManager.default.removeItem(atPath: folder.file("db"))
            try FileManager.default.copyItem(atPath: backup, toPath: folder.file("db"))
        } else {
            _ = try SQLiteStore.restore(backup, over: folder.file("db"), by: .system, clock: clock.wall)
        }
        try await withFeed { application, feed in
            #expect(try await feed.knows(early))
            #expect(try await !feed.knows(late))
            // A copy gives the same number again.
            let next = try await end(application, feed)
            #expect(!isCopied || next.number == late.number)
            #expect(try await !feed.knows(late))
            #expect(try await feed.knows(early))
            #expect(try await feed.knows(next))
        }
    }
}
