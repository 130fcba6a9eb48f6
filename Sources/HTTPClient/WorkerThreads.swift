internal import Dispatch
internal import Locks

/// A request that waits for its response, and its caller's continuation, which is resumed once.
final class PendingRequest: Sendable {
    typealias Answer = Result<OutboundResponse, OutboundError>

    let request: OutboundRequest
    let deadline: ContinuousClock.Instant
    private let continuation: Locked<CheckedContinuation<Answer, Never>?>

    init(
        _ request: OutboundRequest, until deadline: ContinuousClock.Instant,
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
final class WorkerThreads: Sendable {
    private struct State {
        var idle: [Int]
        var waiting: [PendingRequest] = []
        /// The requests with callers that still wait, running or queued.
        var open: [PendingRequest] = []
        var isSweeping = false
    }

    /// How late a caller may learn that its deadline has passed while libcurl hangs in a name look-up.
    private static let sweepInterval = DispatchTimeInterval.milliseconds(100)

    private let options: HTTPClient.Options
    private let queues: [DispatchQueue]
    private let handles: [Locked<EasyHandle?>]
    private let deadlineQueue = DispatchQueue(label: "http-client-deadlines")
    private let state: Locked<State>

    init(_ options: HTTPClient.Options) {
        self.options = options
        queues = (0..<options.width).map { DispatchQueue(label: "http-client-\($0)") }
        handles = (0..<options.width).map { _ in Locked(nil) }
        state = Locked(State(idle: Array(0..<options.width)))
    }

    /// Queues a request, or answers it with `overloaded` if the queue is full.
    func submit(_ pending: PendingRequest) {
        let (worker, isFull, mustSweep) = state.withLock { state -> (Int?, Bool, Bool) in
            let worker = state.idle.popLast()
            if worker == nil, state.waiting.count >= options.waitingMax { return (nil, true, false) }
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
    private func run(_ first: PendingRequest, on worker: Int) {
        var next: PendingRequest? = first
        while let pending = next {
            pending.answer(handles[worker].withLock { handle in Self.ask(pending, with: &handle, options) })
            next = state.withLock { state in
                state.open.removeAll { $0 === pending }
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                state.idle.append(worker)
                return nil
            }
        }
    }

    private static func ask(
        _ pending: PendingRequest, with handle: inout sending EasyHandle?, _ options: HTTPClient.Options
    ) -> PendingRequest.Answer {
        let left = pending.deadline - .now
        guard left > .zero, !pending.isAnswered else { return .failure(.timedOut) }
        if handle == nil { handle = EasyHandle() }
        guard let handle else { return .failure(.failed) }
        do throws(OutboundError) {
            return .success(try handle.perform(pending.request, within: left, options))
        } catch {
            return .failure(error)
        }
    }

    private func sweepLater() { deadlineQueue.asyncAfter(deadline: .now() + Self.sweepInterval) { self.sweep() } }

    /// Answers the requests with a deadline that has passed, running or queued.
    private func sweep() {
        let now = ContinuousClock.now
        let (late, mustGoOn) = state.withLock { state -> ([PendingRequest], Bool) in
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
