// EventLoops owns the threads that wait for sockets: one epoll set per loop, each run on a Dispatch queue of its own.
// It knows descriptors only as numbers and never reads, writes or closes one; it knows nothing of HTTP.
//
// A loop is also an executor. An actor that names a loop as its executor is confined to the loop's thread: the
// loop calls it synchronously when descriptors are ready, its own tasks run there between two polls, and its state needs no lock.
//
// Reading order: EventLoop (a turn), EventHandler (who is called), EventSet (epoll), DeadlineQueue (many
// deadlines at no cost per change), MonotonicInstant (the injected clock), EventLoopGroup (one loop per core).

import Dispatch
import Locks

/// One epoll loop on a Dispatch queue of its own; an executor for tasks and for actors.
///
/// Work that blocks must not run here: it would stop every connection of the loop.
public final class EventLoop: SerialExecutor, TaskExecutor {
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var handlers: [UInt16: any EventHandler] = [:]
        var lastHandler: UInt16 = 0
        /// The loop is in, or on its way into, a poll that blocks: the next job has to wake it.
        var isAsleep = false
        var isStopping = false
        var hasStopped = false
    }

    /// How many batches of jobs run before descriptors get their turn again, so that tasks which keep
    /// enqueuing each other cannot starve the sockets.
    private static let batchesPerTurn = 16

    private let queue: DispatchQueue
    private let events: EventSet
    private let clock: MonotonicClock
    private let inbox = Locked(Inbox())

    /// Makes the loop and starts it. Call `stop()` to end it: a running loop keeps itself alive.
    ///
    /// - Parameters:
    ///   - label: names the Dispatch queue, for debuggers.
    ///   - clock: read once per turn and handed to the handlers.
    public init(label: String, clock: @escaping MonotonicClock = MonotonicInstant.system) throws(EventLoopError) {
        events = try EventSet()
        queue = DispatchQueue(label: label)
        self.clock = clock
        queue.async { self.run() }
    }

    // MARK: Executor

    /// Runs the job on the loop's thread, after the jobs already waiting.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (wakes, isLate) = inbox.withLock { inbox in
            if inbox.hasStopped { return (false, true) }
            inbox.jobs.append(job)
            // One wake-up is enough until the loop has woken up.
            defer { inbox.isAsleep = false }
            return (inbox.isAsleep, false)
        }
        if wakes { events.wake() }
        // A task that outlives the loop still has to end; the queue is free again and serial too.
        if isLate { queue.async { self.runJob(job) } }
    }

    /// Traps unless called on the loop's thread.
    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    // MARK: Descriptors

    /// The clock that was passed in.
    public var now: MonotonicInstant { clock() }

    /// Makes a place for one handler and its descriptors.
    public func makeSource() -> EventSource {
        let id = inbox.withLock { inbox in
            // 0 is the loop's own.
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

    /// Makes the loop take a turn now; a test calls it after it moved its clock.
    public func wake() {
        let wakes = inbox.withLock { inbox in
            defer { inbox.isAsleep = false }
            return inbox.isAsleep
        }
        if wakes { events.wake() }
    }

    /// Ends the loop after the jobs that wait, and returns when its thread has left. Not to be called on the loop.
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

    /// Until the first deadline of any handler; -1 if none has one.
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
