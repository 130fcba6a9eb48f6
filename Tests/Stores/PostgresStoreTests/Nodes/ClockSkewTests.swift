import Glibc
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// This machine's clock beside that of a real server, which is the same clock here: what it is set wrong by is what is found.
@Suite("PostgreSQL: the clocks of nodes") struct ClockSkewTests {
    private static func clock(shiftedBy shift: Duration) -> WallClock {
        let read = { @Sendable () -> Duration in
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) + shift
        }
        return WallClock({ Instant(secondsSinceEpoch: read().wholeSeconds) }, precisely: read)
    }

    @Test(
        "a clock that is set wrong is found out by the server and by the doctor",
        arguments: [0, 200, -200, 5000, -5000, 3_600_000])
    func shifted(milliseconds: Int) async throws {
        let shift = Duration.milliseconds(milliseconds)
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url) { $0.clock = Self.clock(shiftedBy: shift) }
        let survey = try PostgresStore.DatabaseReport(url: url, options: .init(clock: Self.clock(shiftedBy: shift)))
        for skew in [try await store.clockSkew(), survey.clockSkew] {
            // The database says microseconds.
            let bound = skew.error + .microseconds(2)
            #expect(skew.error >= .zero && skew.lead - shift <= bound && shift - skew.lead <= bound)
            #expect(skew.isTooLarge == (abs(milliseconds) > 250))
        }
        await store.close()
    }

    @Test("a difference of a quarter of the tolerance of tokens is too much, as far as a slow answer shows it")
    func bound() {
        let rows: [(lead: Int, error: Int, isTooLarge: Bool)] = [
            (0, 0, false), (250, 0, false), (251, 0, true), (-250, 0, false), (-251, 0, true), (650, 400, false),
            (651, 400, true), (-650, 400, false), (-651, 400, true), (0, 9000, false),
        ]
        for row in rows {
            let skew = ClockSkew(lead: .milliseconds(row.lead), error: .milliseconds(row.error))
            #expect(skew.isTooLarge == row.isTooLarge, "\(row)")
        }
        #expect(ClockSkew.tolerance * 4 == Revocation.leeway)
    }
}
