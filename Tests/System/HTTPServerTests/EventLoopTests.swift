import EventLoops
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventLoopTests {
    @Test func deadlinesComeInOrderAndOncePerKey() {
        var queue = DeadlineQueue()
        let keys = (0..<200).shuffled()
        for key in keys { queue.watch(key, until: MonotonicInstant(nanoseconds: Int64(key) * 10)) }
        for key in keys { queue.watch(key, until: MonotonicInstant(nanoseconds: Int64(key) * 10 + 5000)) }
        var popped: [Int] = []
        while let key = queue.popDue(now: MonotonicInstant(nanoseconds: 1000)) { popped.append(key) }
        #expect(popped == Array(0...100))
        #expect(queue.next == MonotonicInstant(nanoseconds: 1010))
    }

    @Test func anEarlierDeadlineMovesUpAndALaterOneIsIgnored() {
        var queue = DeadlineQueue()
        queue.watch(1, until: MonotonicInstant(nanoseconds: 100))
        queue.watch(2, until: MonotonicInstant(nanoseconds: 200))
        queue.watch(2, until: MonotonicInstant(nanoseconds: 50))
        queue.watch(1, until: MonotonicInstant(nanoseconds: 900))
        #expect(queue.popDue(now: MonotonicInstant(nanoseconds: 49)) == nil)
        #expect(queue.popDue(now: MonotonicInstant(nanoseconds: 50)) == 2)
        #expect(queue.popDue(now: MonotonicInstant(nanoseconds: 100)) == 1)
        #expect(queue.next == nil)
        queue.watch(2, until: MonotonicInstant(nanoseconds: 70))
        #expect(queue.popDue(now: MonotonicInstant(nanoseconds: 70)) == 2)
    }

    @Test func instantsDoNotOverflow() {
        let late = MonotonicInstant(nanoseconds: .max - 5)
        #expect(late + .seconds(1) == MonotonicInstant(nanoseconds: .max))
        #expect(MonotonicInstant(nanoseconds: 7) + .milliseconds(2) == MonotonicInstant(nanoseconds: 2_000_007))
        #expect(MonotonicInstant(nanoseconds: 7) + .seconds(Int64.max) == MonotonicInstant(nanoseconds: .max))
    }

    @Test func tasksFromEverywhereRunOnTheLoopOneAtATime() async throws {
        let loop = try EventLoop(label: "test")
        let counter = LoopCounter(loop)
        await withDiscardingTaskGroup { group in
            for _ in 0..<1000 {
                group.addTask {
                    await counter.increment()
                    await Task(executorPreference: loop) { await counter.increment() }.value
                }
            }
        }
        #expect(await counter.count == 2000)
        await loop.stop()
    }

    @Test func aTaskThatOutlivesItsLoopStillEnds() async throws {
        let loop = try EventLoop(label: "test")
        let gate = Gate()
        let late = Task(executorPreference: loop) {
            await gate.pass()
            return 42
        }
        await loop.stop()
        await gate.open()
        #expect(await late.value == 42)
    }
}

/// Confined to a loop.
private actor LoopCounter {
    private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private(set) var count = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func increment() {
        loop.checkIsolated()
        count += 1
    }
}
