import Synchronization
import Testing

@testable import Telemetry

@Suite struct FailureLogTests {
    private let lines = Lines()
    private var logger: Logger { Logger(level: .info, format: .text, sink: lines.sink) { 0 } }

    /// A log without a timer: its seconds end by `flush`.
    private func log() -> FailureLog { FailureLog(logger, sleep: { _ in await Self.forever() }) }

    private static func forever() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }

    private var texts: [String] { lines.all.map { String($0.dropFirst("1970-01-01T00:00:00.000Z ".count).dropLast()) } }

    @Test("The first failure is written at once, and a second of further ones is one line with their number")
    func oneLineASecond() {
        let log = log()

        for number in 1...1000 { log.write(.error, "request failed", cause: "no database", ["request": .int(number)]) }
        #expect(texts == [#"error request failed cause="no database" request=1"#])
        #expect(log.flush())

        #expect(texts.dropFirst() == [#"error request failed cause="no database" request=1000 count=999"#])
        // A second without a failure ends the series: the next one is the first again.
        #expect(!log.flush() && !log.flush())
        log.write(.error, "request failed", cause: "no database")
        #expect(texts.count == 3 && texts.last?.contains("count") == false)
    }

    @Test("A failure just before the end of a second begins a series: the next ones are counted")
    func lateFirst() {
        let log = log()

        log.write(.error, "x", cause: "y")
        #expect(log.flush())
        log.write(.error, "x", cause: "y")
        #expect(texts == ["error x cause=y"])
        #expect(log.flush() && texts.last == "error x cause=y count=1")
    }

    @Test("Each route has a line of its own")
    func routes() {
        let log = log()

        for _ in 1...2 {
            for route in ["a", "b"] { log.write(.error, "x", cause: "y", route: route, ["route": .string(route)]) }
        }
        log.flush()

        #expect(
            texts == [
                "error x cause=y route=a", "error x cause=y route=b", "error x cause=y route=a count=1",
                "error x cause=y route=b count=1",
            ])
    }

    @Test("Other causes and other messages have lines of their own, and very many causes share one")
    func kinds() {
        let log = log()

        for cause in 1...100 { for message in ["a", "b"] { log.write(.warning, message, cause: "\(cause)") } }
        log.flush()

        #expect(texts.contains("warning a cause=1") && texts.contains("warning b cause=1"))
        #expect(texts.count < 40)
        let counted = texts.compactMap { $0.split(separator: "count=").dropFirst().first.flatMap { Int($0) } }
        let written = texts.count { !$0.contains("count=") }
        #expect(counted.reduce(0, +) + written == 200)
    }

    @Test("A task writes what is counted after each second, until one without a failure")
    func timer() async {
        let (ticks, tick) = AsyncStream.makeStream(of: Void.self)
        let (waits, waiting) = AsyncStream.makeStream(of: Duration.self)
        let log = FailureLog(
            logger,
            sleep: { time in
                waiting.yield(time)
                for await _ in ticks { return }
            })
        var wait = waits.makeAsyncIterator()

        log.write(.error, "x", cause: "y")
        log.write(.error, "x", cause: "y")
        #expect(await wait.next() == .seconds(1))
        tick.yield()
        #expect(await wait.next() == .seconds(1))
        #expect(texts == ["error x cause=y", "error x cause=y count=1"])
        log.write(.debug, "x", cause: "below the level")
        #expect(texts.count == 2)
    }
}

@Suite struct OutageTests {
    /// A clock that the test moves.
    private final class Clock: Sendable {
        let seconds = Atomic<Int>(0)
        private let start = ContinuousClock.now
        var now: ContinuousClock.Instant { start + .milliseconds(100 * seconds.load(ordering: .relaxed)) }

        /// Moves to so many tenths of a second after the start.
        func move(to tenths: Int) { seconds.store(tenths, ordering: .relaxed) }
    }

    private let clock = Clock()

    @Test("The first success after a quiet second tells how long the outage was, once")
    func report() {
        let outage = Outage(now: { [clock] in clock.now })
        #expect(outage.succeed() == nil)

        for tenth in 0...600 {
            clock.move(to: tenth)
            outage.fail()
        }
        // One connection works again, and another one not yet.
        clock.move(to: 604)
        #expect(outage.succeed() == nil)
        clock.move(to: 606)
        outage.fail()
        clock.move(to: 615)
        #expect(outage.succeed() == nil)
        clock.move(to: 616)

        #expect(outage.succeed() == Outage.Report(duration: .milliseconds(60_600), failures: 602))
        #expect(outage.succeed() == nil)
    }

    @Test("Conflicts between successes are no outage, however many they are")
    func conflicts() {
        let outage = Outage(now: { [clock] in clock.now })
        for tenth in stride(from: 0, to: 1000, by: 5) {
            clock.move(to: tenth)
            outage.fail()
            #expect(outage.succeed() == nil)
        }
        clock.move(to: 2000)
        #expect(outage.succeed() == nil)
    }
}
