internal import Dispatch
internal import Locks

/// The answer of a queue to a submitted job.
public enum Admission: Sendable {
    /// The job waits for its turn.
    case accepted
    /// The queue is full.
    case full
    /// The queue is closed.
    case closed
}

/// A bounded queue of work for a thread that takes all waiting jobs at once.
///
/// The work runs on a serial Dispatch queue, which uses a thread only while there is work. Jobs that arrive while a batch runs
/// form the next batch, so that batches grow with the load.
public final class BatchQueue<Job: Sendable>: Sendable {
    private struct State {
        var waiting: [Job] = []
        var isScheduled = false
        var isClosed = false
    }

    private let state = Locked(State())
    private let queue: DispatchQueue
    private let pendingMax: Int
    private let batchMax: Int
    private let process: @Sendable ([Job]) -> Void

    /// A queue of up to `pendingMax` jobs. It passes them to `process` in order, up to `batchMax` at a time.
    public init(label: String, pendingMax: Int, batchMax: Int, process: @escaping @Sendable ([Job]) -> Void) {
        queue = DispatchQueue(label: label)
        self.pendingMax = pendingMax
        self.batchMax = batchMax
        self.process = process
    }

    /// Appends `job` to the queue.
    public func submit(_ job: Job) -> Admission {
        let (admission, mustSchedule) = state.withLock { state -> (Admission, Bool) in
            if state.isClosed { return (.closed, false) }
            if state.waiting.count >= pendingMax { return (.full, false) }
            state.waiting.append(job)
            let mustSchedule = !state.isScheduled
            state.isScheduled = true
            return (.accepted, mustSchedule)
        }
        if mustSchedule { queue.async { self.drain() } }
        return admission
    }

    /// The number of waiting jobs.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether the queue refuses all further jobs.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Closes the queue, and runs `last` when all accepted jobs have been processed. Returns false without effect if the queue
    /// was closed before.
    public func close(_ last: @escaping @Sendable () -> Void) -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        // The queue is serial, and a scheduled drain processes all jobs that were accepted before.
        if isFirst { queue.async(execute: last) }
        return isFirst
    }

    private func drain() {
        while true {
            let batch = state.withLock { state -> [Job] in
                if state.waiting.isEmpty {
                    state.isScheduled = false
                    return []
                }
                if state.waiting.count <= batchMax {
                    defer {
                        state.waiting = []
                        state.waiting.reserveCapacity(min(batchMax, 64))
                    }
                    return state.waiting
                }
                defer { state.waiting.removeFirst(batchMax) }
                return Array(state.waiting.prefix(batchMax))
            }
            if batch.isEmpty { return }
            process(batch)
        }
    }
}
