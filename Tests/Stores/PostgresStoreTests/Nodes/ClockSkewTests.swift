import Glibc
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// This machine's clock beside that of a real server, which is the same clock here: what it is set wrong by is what is found.
@Suite("PostgreSQL: the clocks of nodes") struct ClockSkewTests {
    /// This machine's clock, set wrong by that much.
    static func clock(shiftedBy shift: Duration = .zero) -> WallClock {
        let read = { @Sendable () -> Duration in
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) + shift
        }
        return WallClock({ Instant(secondsSinceEpoch: read().wholeSeconds) }, precisely: read)
    }

    @Test(
        "a clock that is set wrong is found out by the server and by the doctor",
        arguments: [0, 900, -900, 5000, -5000, 3_600_000])
    func shifted(milliseconds: Int) async throws {
        let shift = Duration.milliseconds(milliseconds)
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url) { $0.clock = Self.clock(shiftedBy: shift) }
        let survey = try PostgresStore.DatabaseReport(url: url, options: .init(clock: Self.clock(shiftedBy: shift)))
        for skew in [try await store.clockSkew(), survey.clockSkew] {
            // The database says microseconds.
            let bound = skew.error + .microseconds(2)
            #expect(skew.error >= .zero && skew.lead - shift <= bound && shift - skew.lead <= bound)
            #expect(skew.exceeds(ClockSkew.allowed(for: nil)) == (abs(milliseconds) > 1000))
        }
        await store.close()
    }

    @Test("a difference of more than a quarter of the rotation interval is too much, as far as a slow answer shows it")
    func bound() {
        var settings = SessionSettings.defaults
        let rows: [(interval: Int, lead: Int, error: Int, isTooLarge: Bool)] = [
            (0, 0, 0, false), (0, 1000, 0, false), (0, 1001, 0, true), (0, -1000, 0, false), (4, -1001, 0, true),
            (20, 5000, 0, false), (20, 5001, 0, true), (20, -5400, 400, false), (20, -5401, 400, true),
            (20, 0, 9000, false), (20, 8000, 9000, false), (20, -8000, 9000, false),
        ]
        for row in rows {
            settings.rotationInterval = .seconds(row.interval)
            let skew = ClockSkew(lead: .milliseconds(row.lead), error: .milliseconds(row.error))
            #expect(skew.exceeds(ClockSkew.allowed(for: settings)) == row.isTooLarge, "\(row)")
        }
    }
}
