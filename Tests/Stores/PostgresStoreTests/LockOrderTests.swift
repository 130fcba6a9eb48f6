import Locks
import PostgresFixture
import StoreConformance
import Testing

@testable import PostgresStore

/// The order in which transactions lock rows: the server has to break no deadlock.
@Suite(.timeLimit(.minutes(3))) struct LockOrderTests {
    @Test("ends of sessions that hang together meet no deadlock, from whichever side they come")
    func endsFromEverySide() async throws {
        let failures = Locked<[String]>([])
        let store = try openStore(try PostgresServer.shared.newDatabase()) { options in
            options.observer = PostgresStore.Observer(failed: { text in failures.withLock { $0.append(text) } })
        }
        try await PhoneBrowserEnds.fromEverySide(in: store, rounds: 20)
        #expect(failures.withLock { $0 } == [])
        await store.close()
    }
}
