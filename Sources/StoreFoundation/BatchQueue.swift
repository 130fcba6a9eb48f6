internal import Dispatch
internal import Locks

/// What became of a job that was brought to a queue.
public enum Admission: Sendable {
    /// It waits for its turn.
    case accepted
    /// Too many wait.
    case full
    /// The queue takes nothing more.
    case closed
}

/// A bounded queue of work for a thread that takes everything that waits, at once.
///
/// The work runs on a serial Dispatch queue: a thread is borrowed while there is work, and none is kept while there is
/// not. Whatever arrives while a batch runs forms the next one, so that batches grow exactly as far as the load asks.
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

    /// A queue that holds up to `pendingMax` jobs and hands them to `process`, up to `batchMax` at a time, in order.
    public init(label: String, pendingMax: Int, batchMax: Int, process: @escaping @Sendable ([Job]) -> Void) {
        queue = DispatchQueue(label: label)
        self.pendingMax = pendingMax
        self.batchMax = batchMax
        self.process = process
    }

    /// Puts `job` at the end.
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

    /// How many jobs wait.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether jobs are refused for good.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Accepts no more jobs, and runs `last` when all that were accepted have been processed. Once only: a second call
    /// does nothing but return false.
    public func close(_ last: @escaping @Sendable () -> Void) -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        // The queue is serial, and a drain that is scheduled empties all that was accepted before.
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
