import Dispatch
import Locks

/// One epoll loop on a Dispatch queue of its own; an executor for tasks and for actors.
///
/// Work that blocks must not run here, because it would stop every connection of the loop.
public final class EventLoop: SerialExecutor, TaskExecutor {
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var handlers: [UInt16: any EventHandler] = [:]
        var lastHandler: UInt16 = 0
        /// True if the loop is in a blocking poll, or about to enter one, so that the next job has to wake it.
        var isAsleep = false
        var isStopping = false
        var hasStopped = false
    }

    /// The batches of jobs that run before descriptors are polled again, so that tasks which keep enqueuing each other
    /// cannot starve the sockets.
    private static let batchesPerTurn = 16

    private let queue: DispatchQueue
    private let events: EventSet
    private let clock: MonotonicClock
    private let inbox = Locked(Inbox())

    /// Creates the loop and starts it. A running loop keeps itself alive until `stop()`.
    ///
    /// - Parameters:
    ///   - label: names the Dispatch queue, for debuggers.
    ///   - clock: read once per turn and passed to the handlers.
    public init(label: String, clock: @escaping MonotonicClock = MonotonicInstant.system) throws(EventLoopError) {
        events = try EventSet()
        queue = DispatchQueue(label: label)
        self.clock = clock
        queue.async { self.run() }
    }

    // MARK: Executor

    /// Runs the job on the loop's thread, after the jobs that wait already.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (wakes, isLate) = inbox.withLock { inbox in
            if inbox.hasStopped { return (false, true) }
            inbox.jobs.append(job)
            // One wake-up suffices until the loop is awake.
            defer { inbox.isAsleep = false }
            return (inbox.isAsleep, false)
        }
        if wakes { events.wake() }
        // A task that outlives the loop still has to end. The queue is free again, and it is serial too.
        if isLate { queue.async { self.runJob(job) } }
    }

    /// Traps unless the caller runs on the loop's thread.
    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    // MARK: Descriptors

    /// The current moment of the loop's clock.
    public var now: MonotonicInstant { clock() }

    /// Creates a registration for one handler and its descriptors.
    public func makeSource() -> EventSource {
        let id = inbox.withLock { inbox in
            // The id 0 is the loop's own.
            repeat { inbox.lastHandler &+= 1 } while inbox.lastHandler == 0 || inbox.handlers[inbox.lastHandler] != nil
            return inbox.lastHandler
        }
        return EventSource(loop: self, id: id)
    }

    func attach(_ handler: any EventHandler, _ id: UInt16) {
        inbox.withLock { $0.handlers[id] = handler }
        wake()
    }

    func detach(_ id: UInt16) { inbox.withLock { inbox in _ = inbox.handlers.removeValue(forKey: id) } }

    func add(_ descriptor: Int32, for interest: EventInterest, data: UInt64) throws(EventLoopError) {
        try events.add(descriptor, for: interest, data: data)
    }

    func remove(_ descriptor: Int32) { events.remove(descriptor) }

    /// Makes the loop take a turn now. Tests call it after they have moved the clock.
    public func wake() {
        let wakes = inbox.withLock { inbox in
            defer { inbox.isAsleep = false }
            return inbox.isAsleep
        }
        if wakes { events.wake() }
    }

    /// Ends the loop after the jobs that wait, and returns when its thread has left. It must not be called on the loop.
    public func stop() async {
        inbox.withLock { $0.isStopping = true }
        wake()
        // The queue is serial: this block runs after `run()` has returned.
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    // MARK: Turns

    private func run() {
        var buffer = EventBuffer()
        var ready: [ReadyEvent] = []
        var handlers: [UInt16: any EventHandler] = [:]
        while !hasEnded() {
            let mayBlock = inbox.withLock { inbox in
                inbox.isAsleep = inbox.jobs.isEmpty && !inbox.isStopping
                handlers = inbox.handlers
                return inbox.isAsleep
            }
            events.wait(&buffer, milliseconds: mayBlock ? millisecondsToWait(for: handlers) : 0)
            inbox.withLock { $0.isAsleep = false }
            let now = clock()
            for (id, handler) in handlers {
                buffer.copyEvents(of: id, to: &ready)
                handler.turn(ready, now: now)
            }
            runJobs()
        }
    }

    /// Returns the milliseconds until the first deadline of a handler; -1 if none has one.
    private func millisecondsToWait(for handlers: [UInt16: any EventHandler]) -> Int32 {
        var first: MonotonicInstant?
        for handler in handlers.values {
            guard let deadline = handler.nextDeadline() else { continue }
            first = min(deadline, first ?? deadline)
        }
        return first?.millisecondsAfter(clock()) ?? -1
    }

    private func runJobs() {
        for _ in 0..<Self.batchesPerTurn {
            let batch = inbox.withLock { inbox in
                let jobs = inbox.jobs
                inbox.jobs = []
                return jobs
            }
            if batch.isEmpty { return }
            for job in batch { runJob(job) }
        }
    }

    private func runJob(_ job: UnownedJob) {
        unsafe job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    private func hasEnded() -> Bool {
        inbox.withLock { inbox in
            guard inbox.isStopping, inbox.jobs.isEmpty else { return false }
            inbox.hasStopped = true
            inbox.handlers = [:]
            return true
        }
    }
}
