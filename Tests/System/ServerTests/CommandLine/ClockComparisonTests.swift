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
        #expect(try #require(node.number("sojourn_clock_skew_allowed_seconds")) == 30)
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

    @Test("the doctor reads rows by the database's time", arguments: [600, -600])
    func doctor(seconds: Int64) async throws {
        let database = try PostgresServer.shared.newDatabase()
        let (node, folder) = (try Node("a", ahead: 0, on: database), StartingFolder())
        let machine = WallClock(
            { WallClock.system.now + .seconds(seconds) }, precisely: { WallClock.system.sinceEpoch + .seconds(seconds) }
        )
        let report = try PostgresStore.DatabaseReport(url: database, options: .init(clock: machine))
        let contents = ContentsCheck(
            configuration: folder.configuration, environment: [:], now: machine.now.secondsSinceEpoch)
        let findings = PostgresCheck(contents: contents, url: database).findings(in: report)
        #expect(findings.contains { $0.check == "clocks" && $0.result == .warn })
        // The migrations have just been applied.
        #expect(!findings.contains { $0.check == "clock" })
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
        for _ in 0..<2 {
            for node in nodes.reversed() { await node.compare() }
            // What was reported before, by whichever server, is no vote.
            #expect(nodes.allSatisfy { !$0.comparison.isOutvoted })
        }
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
        for _ in 0..<3 { for node in nodes { await node.compare() } }
        #expect(nodes.allSatisfy { !$0.comparison.isOutvoted && $0.comparison.excessiveLead != nil })
        for node in nodes {
            #expect(node.takeLines().contains { $0.contains("the database's clock, by which all nodes go") })
            await node.store.close()
        }
    }

    @Test(
        "after a fail-over to a primary with another time no node is outvoted by earlier reports, nor by nodes that are gone",
        arguments: [-60, -10, 10, 60])
    func failOver(seconds: Int64) async throws {
        let database = try PostgresServer.shared.newDatabase()
        let nodes = try (0..<3).map { try Node("node\($0)", ahead: 0, on: database) }
        // It told that it agrees with the primary, and is gone with it. Another one is killed and starts again.
        for name in ["gone", "earlier"] { _ = try await nodes[0].store.exchangeLeads(of: name, .zero) }
        try await nodes[0].store.updateSettings { $0.settings.sessions.rotationInterval = .seconds(20) }
        for node in nodes { await node.compare() }
        #expect(nodes.allSatisfy { $0.comparison.excessiveLead == nil })
        // The others do not compare meanwhile.
        nodes[0].set(ahead: seconds)
        for _ in 0..<9 { await nodes[0].compare() }
        #expect(nodes[0].comparison.excessiveLead != nil && !nodes[0].comparison.isOutvoted)
        for node in nodes { node.set(ahead: seconds) }
        for _ in 0..<6 {
            for node in nodes {
                await node.compare()
                #expect(node.comparison.excessiveLead != nil && !node.comparison.isOutvoted)
            }
        }
        for node in nodes { await node.store.close() }
    }

    @Test("a node that stops takes back what it has told")
    func stopping() async throws {
        let node = try Node("a", ahead: 0, on: PostgresServer.shared.newDatabase())
        await node.compare()
        #expect(try await node.store.exchangeLeads(of: "b", .zero).map(\.node) == ["a"])
        let run = Task { await node.comparison.run() }
        run.cancel()
        await run.value
        #expect(try await node.store.exchangeLeads(of: "b", .zero).isEmpty)
        await node.store.close()
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
