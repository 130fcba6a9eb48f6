import Locks
import PostgresFixture
import PostgresStore
import Sessions
import Telemetry
import Testing

@testable import Configuration
@testable import Doctor
@testable import Server
@testable import sojourn

/// What a server and `sojourn doctor` say of a clock that is not the database's.
@Suite("The clocks of nodes: log and metric", .timeLimit(.minutes(1)))
struct ClockComparisonTests {
    private let folder = StartingFolder()
    private let lines = Locked<[String]>([])

    private var logger: Logger {
        Logger(
            level: .info, sink: LogSink { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } },
            clock: { 0 })
    }

    private static func clock(ahead seconds: Int64) -> WallClock {
        WallClock(
            { WallClock.system.now + .seconds(seconds) }, precisely: { WallClock.system.sinceEpoch + .seconds(seconds) }
        )
    }

    @Test("a wrong clock is a warning each time and a number always; a right one is a number", arguments: [0, 30, -30])
    func compared(seconds: Int64) async throws {
        var options = PostgresStore.Options(clock: Self.clock(ahead: seconds))
        options.decisionDeadline = .seconds(60)
        let store = try PostgresStore(url: PostgresServer.shared.newDatabase(), options: options)
        let metrics = MetricsRegistry()
        let comparison = try #require(ClockComparison(.postgres(store), metrics, logger))
        for _ in 0..<2 { await comparison.compare() }
        let number = metrics.render().split(separator: "\n").last { $0.hasPrefix("sojourn_clock_skew_seconds ") }
        let value = try #require(number.flatMap { Double($0.split(separator: " ")[1]) })
        #expect(abs(value - Double(seconds)) < 15)
        let warnings = lines.withLock { $0 }
        #expect(warnings.count == (seconds == 0 ? 0 : 2))
        #expect(warnings.allSatisfy { $0.contains("keep time by NTP") && $0.contains("ahead_milliseconds") })
        let finding = PostgresCheck.clock(try await store.clockSkew())
        #expect(finding.result == (seconds == 0 ? .ok : .warn))
        #expect(
            finding.detail.contains(seconds < 0 ? "s behind the database's" : seconds > 0 ? "s ahead of the" : "s "))
        await store.close()
        // That is told, and changes nothing.
        await comparison.compare()
        #expect(lines.withLock { $0.last }?.contains("cannot be compared") == true)
    }

    @Test("a file has this machine's clock")
    func file() async throws {
        let application = try await Application.open(folder.configuration, StartingClock().environment())
        #expect(ClockComparison(application.database, application.metrics, .silent) == nil)
        await application.close()
    }
}
