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

/// What servers and `sojourn doctor` say of a clock that is not the database's.
@Suite("The clocks of nodes: log, metric and readiness", .timeLimit(.minutes(1)))
struct ClockComparisonTests {
    /// A node on a machine that is so many seconds ahead of the database's.
    private final class Node: Sendable {
        let store: PostgresStore
        let metrics = MetricsRegistry()
        let comparison: ClockComparison
        private let ahead: Locked<Int64>
        private let passed = Locked(Duration.zero)
        private let lines = Locked<[String]>([])

        init(_ name: String, ahead seconds: Int64, on database: String) throws {
            let (ahead, passed, lines) = (Locked(seconds), passed, lines)
            self.ahead = ahead
            let shift = { @Sendable in Duration.seconds(ahead.withLock { $0 }) }
            var options = PostgresStore.Options(
                clock: WallClock(
                    { WallClock.system.now + shift() }, precisely: { WallClock.system.sinceEpoch + shift() }))
            options.followsDatabaseClock = true
            options.decisionDeadline = .seconds(60)
            store = try PostgresStore(url: database, options: options)
            let logger = Logger(
                level: .info,
                sink: LogSink { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } },
                clock: { 0 })
            let begin = ContinuousClock.now
            comparison = ClockComparison(store, metrics, logger, node: name) { passed.withLock { begin + $0 } }
        }

        func set(ahead seconds: Int64) { ahead.withLock { $0 = seconds } }

        /// The next comparison at which it tells the others.
        func compare() async {
            passed.withLock { $0 += ClockComparison.reportPeriod }
            await comparison.compare()
        }

        /// The lines of the log since the last call.
        func takeLines() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }

        func number(_ metric: String) -> Double? {
            let line = metrics.render().split(separator: "\n").last { $0.hasPrefix(metric + " ") }
            return line.flatMap { Double($0.split(separator: " ")[1]) }
        }
    }

    @Test("a wrong clock is said once, and shown always; the doctor tells of it", arguments: [0, 60, -60])
    func compared(seconds: Int64) async throws {
        let node = try Node("a", ahead: seconds, on: PostgresServer.shared.newDatabase())
        for _ in 0..<3 { await node.comparison.compare() }
        let value = try #require(node.number("sojourn_clock_skew_seconds"))
        #expect(abs(value - Double(seconds)) < 15)
        #expect(try #require(node.number("sojourn_clock_skew_allowed_seconds")) == (seconds == 0 ? 1 : 30))
        let lines = node.takeLines()
        #expect(lines.count == (seconds == 0 ? 0 : 1))
        #expect(lines.allSatisfy { $0.contains("keep time by NTP") && $0.contains("ahead_milliseconds") })
        // No other node says which clock is wrong.
        #expect(!node.comparison.isOutvoted)
        #expect((node.comparison.excessiveLead == nil) == (seconds == 0))
        let finding = PostgresCheck.clock(try await node.store.clockSkew(), nil)
        #expect(finding.result == (seconds == 0 ? .ok : .warn))
        #expect(
            finding.detail.contains(seconds < 0 ? "s behind the database's" : seconds > 0 ? "s ahead of the" : "s "))
        node.set(ahead: 0)
        await node.comparison.compare()
        #expect(node.takeLines().contains { $0.contains("again") } == (seconds != 0))
        #expect(node.comparison.excessiveLead == nil)
        await node.store.close()
    }

    @Test("a database that does not answer is said once, and changes nothing")
    func away() async throws {
        let node = try Node("a", ahead: 60, on: PostgresServer.shared.newDatabase())
        await node.comparison.compare()
        #expect(node.takeLines().count == 1)
        await node.store.close()
        // The difference is known from earlier answers, and what the other nodes say is not.
        for _ in 0..<3 { await node.comparison.compare() }
        let lines = node.takeLines()
        #expect(lines.count == 1 && lines[0].contains("cannot be compared"))
        #expect(node.comparison.excessiveLead != nil)
    }

    @Test("a node is not ready while the other nodes agree with the database, and is again when its clock is right")
    func outvoted() async throws {
        let database = try PostgresServer.shared.newDatabase()
        let nodes = try [60, 0, 0].enumerated().map { try Node("node\($0)", ahead: $1, on: database) }
        for node in nodes.reversed() { await node.compare() }
        #expect(nodes.map(\.comparison.isOutvoted) == [true, false, false])
        #expect(nodes[0].takeLines().contains { $0.contains("is not ready") })
        nodes[0].set(ahead: 0)
        await nodes[0].comparison.compare()
        #expect(!nodes[0].comparison.isOutvoted)
        for node in nodes { await node.store.close() }
    }

    @Test("if all nodes have the same other time, then the database's is wrong: all stay ready and say so")
    func wrongDatabase() async throws {
        let database = try PostgresServer.shared.newDatabase()
        let nodes = try [600, 601, 600].enumerated().map { try Node("node\($0)", ahead: $1, on: database) }
        for _ in 0..<2 { for node in nodes { await node.compare() } }
        #expect(nodes.allSatisfy { !$0.comparison.isOutvoted && $0.comparison.excessiveLead != nil })
        for node in nodes {
            #expect(node.takeLines().contains { $0.contains("the database's clock, by which all nodes go") })
            await node.store.close()
        }
    }

    @Test("a verdict for every way in which clocks can differ")
    func verdicts() {
        let rows: [(lead: Int, others: [Int], verdict: ClockVerdict)] = [
            (0, [], .right), (5, [60, 60], .right), (-5, [], .right), (6, [], .wrong), (-6, [], .wrong),
            (60, [0], .outvoted), (-60, [5], .outvoted), (60, [0, 60], .outvoted), (60, [0, -60, 60], .wrong),
            (60, [60, 61], .database), (60, [66], .wrong), (-600, [-600, -603, -597], .database),
            (60, [-60], .wrong),
        ]
        for row in rows {
            let verdict = ClockVerdict(
                .seconds(row.lead), row.others.map { .seconds($0) }, allowed: .seconds(5))
            #expect(verdict == row.verdict, "\(row)")
        }
        // Never all of them.
        for leads in [[60, -60], [60, 60], [60, 0], [60, 0, -60], [60, 60, 0, 0]] {
            let verdicts = leads.indices.map { index in
                var others = leads.map { Duration.seconds($0) }
                let lead = others.remove(at: index)
                return ClockVerdict(lead, others, allowed: .seconds(5))
            }
            #expect(!verdicts.allSatisfy { $0 == .outvoted }, "\(leads)")
        }
    }

    @Test("a file has this machine's clock")
    func file() async throws {
        let folder = StartingFolder()
        let environment = StartingClock().environment()
        let application = try await Application.open(folder.configuration, environment)
        #expect(ClockComparison(application, environment) == nil)
        await application.close()
    }
}
