import Dispatch
import EventLoops
import Locks

/// The threads that compute handshakes, because a signature with RSA takes a millisecond or more, in which a loop
/// answers a hundred requests. Each thread computes one step at a time, and the number of waiting steps is limited.
public final class HandshakeQueue: Sendable {
    /// One step of one handshake.
    public typealias Job = @Sendable () -> Void

    private struct State {
        var idleThreads: [Int]
        var waiting: [Job] = []
        /// The index of the oldest waiting job. Jobs before it are removed in batches.
        var head = 0
    }

    private let threads: [DispatchQueue]
    private let maximumWaiting: Int
    private let state: Locked<State>

    /// Creates the queue. Its threads start with the first job.
    ///
    /// - Parameters:
    ///   - width: the steps computed at one time; 0 is one per online core.
    ///   - maximumWaiting: the steps that may wait. A core does a thousand full handshakes per second with RSA of 2048 bits,
    ///     and three times as many with P-256, so the last of 1024 waits one second, well within the time of a handshake.
    public init(width: Int = 0, maximumWaiting: Int = 1024) {
        threads = (0..<(width > 0 ? width : EventLoopGroup.coreCount)).map { DispatchQueue(label: "handshakes-\($0)") }
        self.maximumWaiting = maximumWaiting
        state = Locked(State(idleThreads: Array(threads.indices)))
    }

    /// Queues a job, first in, first out. Returns false if too many jobs wait.
    public func run(_ job: @escaping Job) -> Bool {
        let (isTaken, thread) = state.withLock { state -> (Bool, Int?) in
            if let thread = state.idleThreads.popLast() { return (true, thread) }
            guard state.waiting.count - state.head < maximumWaiting else { return (false, nil) }
            state.waiting.append(job)
            return (true, nil)
        }
        if let thread { threads[thread].async { self.work(job, thread) } }
        return isTaken
    }

    /// Runs a job, then the jobs that wait.
    private func work(_ first: @escaping Job, _ thread: Int) {
        var next: Job? = first
        while let job = next {
            job()
            next = state.withLock { state in
                guard state.head < state.waiting.count else {
                    state.waiting.removeAll(keepingCapacity: true)
                    state.head = 0
                    state.idleThreads.append(thread)
                    return nil
                }
                let job = state.waiting[state.head]
                state.head += 1
                if state.head > maximumWaiting {
                    state.waiting.removeFirst(state.head)
                    state.head = 0
                }
                return job
            }
        }
    }
}
