import Dispatch
import EventLoops
import Locks

/// Where handshakes compute: a signature with RSA takes a millisecond or more, in which a loop answers a hundred requests.
/// As many compute at a time as there are threads for it, so many may wait, and no more.
public final class HandshakeQueue: Sendable {
    /// One step of one handshake.
    public typealias Job = @Sendable () -> Void

    private struct State {
        var idleThreads: [Int]
        var waiting: [Job] = []
        /// Where the oldest one is that still waits; what lies before it is taken away now and then.
        var head = 0
    }

    private let threads: [DispatchQueue]
    private let maximumWaiting: Int
    private let state: Locked<State>

    /// Makes the queue; its threads come with the first job.
    ///
    /// - Parameters:
    ///   - width: steps at a time; 0: one per core that is online.
    ///   - maximumWaiting: a core does a thousand full handshakes per second with RSA of 2048 bits, and thrice as many with P-256: the last one of these
    ///     waits a second, well within the time that a handshake has.
    public init(width: Int = 0, maximumWaiting: Int = 1024) {
        threads = (0..<(width > 0 ? width : EventLoopGroup.coreCount)).map { DispatchQueue(label: "handshakes-\($0)") }
        self.maximumWaiting = maximumWaiting
        state = Locked(State(idleThreads: Array(threads.indices)))
    }

    /// Has a job done soon, in the order in which they come; false if too many wait already.
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

    /// Does a job and all that wait behind it.
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
