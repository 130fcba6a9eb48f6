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

    @Test(
        "a code that is exchanged while its phone login ends starts no session that outlives it",
        arguments: PhoneBrowserEnds.Side.allCases)
    func exchangeMeanwhile(side: PhoneBrowserEnds.Side) async throws {
        let database = try PostgresServer.shared.newDatabase()
        let (store, other) = (try openStore(database), try openStore(database))
        try await PhoneBrowserEnds.whileCodeIsExchanged(from: side, in: store, on: other)
        await store.close()
        await other.close()
    }
}
