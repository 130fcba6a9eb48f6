internal import Dispatch
internal import Locks

/// A request that waits for its response, and its caller's continuation, which is resumed once.
final class PendingRequest<Request: Sendable, Response: Sendable>: Sendable {
    typealias Answer = Result<Response, OutboundError>

    let request: Request
    let deadline: ContinuousClock.Instant
    private let continuation: Locked<CheckedContinuation<Answer, Never>?>

    init(
        _ request: Request, until deadline: ContinuousClock.Instant,
        _ continuation: CheckedContinuation<Answer, Never>
    ) {
        self.request = request
        self.deadline = deadline
        self.continuation = Locked(continuation)
    }

    var isAnswered: Bool { continuation.withLock { $0 == nil } }

    func answer(_ answer: Answer) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: answer)
    }
}

/// The threads on which requests block, and the queue in front of them. Each thread has one handle of libcurl, which
/// keeps a connection or two to the servers that it asked last.
final class WorkerThreads<Request: Sendable, Response: Sendable>: Sendable {
    typealias Pending = PendingRequest<Request, Response>
    /// Sends one request by a handle of libcurl, within a time.
    typealias Perform = @Sendable (EasyHandle, Request, Duration) -> Pending.Answer

    private struct State {
        var idle: [Int]
        var waiting: [Pending] = []
        /// The requests with callers that still wait, running or queued.
        var open: [Pending] = []
        var isSweeping = false
    }

    /// How late a caller may learn that its deadline has passed while libcurl hangs in a name look-up.
    private static var sweepInterval: DispatchTimeInterval { .milliseconds(100) }

    private let waitingMax: Int
    private let perform: Perform
    private let queues: [DispatchQueue]
    private let handles: [Locked<EasyHandle?>]
    private let deadlineQueue = DispatchQueue(label: "http-client-deadlines")
    private let state: Locked<State>

    init(width: Int, waitingMax: Int, perform: @escaping Perform) {
        (self.waitingMax, self.perform) = (waitingMax, perform)
        queues = (0..<width).map { DispatchQueue(label: "http-client-\($0)") }
        handles = (0..<width).map { _ in Locked(nil) }
        state = Locked(State(idle: Array(0..<width)))
    }

    /// Sends a request, and returns the answer by `deadline`, or `grace` after the task was cancelled.
    func send(
        _ request: Request, until deadline: ContinuousClock.Instant, grace: DispatchTimeInterval? = nil
    ) async throws(OutboundError) -> Response {
        let cut = Locked<(pending: Pending?, isCancelled: Bool)>((nil, false))
        let giveUp = { @Sendable [deadlineQueue] (pending: Pending) in
            guard let grace else { return }
            deadlineQueue.asyncAfter(deadline: .now() + grace) { pending.answer(.failure(.timedOut)) }
        }
        let answer: Pending.Answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let pending = Pending(request, until: deadline, continuation)
                let isCancelled = cut.withLock { cut in
                    cut.pending = pending
                    return cut.isCancelled
                }
                submit(pending)
                if isCancelled { giveUp(pending) }
            }
        } onCancel: {
            let pending = cut.withLock { cut in
                cut.isCancelled = true
                return cut.pending
            }
            if let pending { giveUp(pending) }
        }
        return try answer.get()
    }

    /// Queues a request, or answers it with `overloaded` if the queue is full.
    private func submit(_ pending: Pending) {
        let (worker, isFull, mustSweep) = state.withLock { state -> (Int?, Bool, Bool) in
            let worker = state.idle.popLast()
            if worker == nil, state.waiting.count >= waitingMax { return (nil, true, false) }
            if worker == nil { state.waiting.append(pending) }
            state.open.append(pending)
            defer { state.isSweeping = true }
            return (worker, false, !state.isSweeping)
        }
        if isFull { return pending.answer(.failure(.overloaded)) }
        if mustSweep { sweepLater() }
        if let worker { queues[worker].async { self.run(pending, on: worker) } }
    }

    /// Runs a request, then the requests that wait.
    private func run(_ first: Pending, on worker: Int) {
        var next: Pending? = first
        while let pending = next {
            pending.answer(handles[worker].withLock { handle in Self.ask(pending, with: &handle, perform) })
            next = state.withLock { state in
                state.open.removeAll { $0 === pending }
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                state.idle.append(worker)
                return nil
            }
        }
    }

    private static func ask(
        _ pending: Pending, with handle: inout sending EasyHandle?, _ perform: Perform
    ) -> Pending.Answer {
        let left = pending.deadline - .now
        guard left > .zero, !pending.isAnswered else { return .failure(.timedOut) }
        if handle == nil { handle = EasyHandle() }
        guard let handle else { return .failure(.failed) }
        return perform(handle, pending.request, left)
    }

    private func sweepLater() { deadlineQueue.asyncAfter(deadline: .now() + Self.sweepInterval) { self.sweep() } }

    /// Answers the requests with a deadline that has passed, running or queued.
    private func sweep() {
        let now = ContinuousClock.now
        let (late, mustGoOn) = state.withLock { state -> ([Pending], Bool) in
            let late = state.open.filter { $0.deadline < now }
            state.waiting.removeAll { $0.deadline < now }
            state.open.removeAll { $0.deadline < now }
            state.isSweeping = !state.open.isEmpty
            return (late, state.isSweeping)
        }
        for pending in late { pending.answer(.failure(.timedOut)) }
        if mustGoOn { sweepLater() }
    }
}
