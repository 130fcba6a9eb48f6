/// The states of a session: the present one, then each change. A reader that is slow skips to the newest. Any number of loops
/// can read at once.
public struct SessionStates: AsyncSequence, Sendable {
    /// A state.
    public typealias Element = SessionState

    let box: StateBox

    /// Reads the states from now on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(box: box) }

    /// One reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let box: StateBox
        private var seen = 0

        init(box: StateBox) { self.box = box }

        /// The next state; nil when the task is cancelled or the `Sojourn` no longer exists.
        public mutating func next() async -> SessionState? {
            guard let (state, number) = await box.next(after: seen) else { return nil }
            seen = number
            return state
        }
    }
}

/// The last state, and the readers that wait for the next.
final class StateBox: Sendable {
    private typealias Waiter = CheckedContinuation<(SessionState, Int)?, Never>

    private struct Content {
        var state: SessionState
        /// Counts the states; the first has the number 1.
        var number = 1
        var isFinished = false
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
    }

    private let content: LockedState<Content>

    init(_ state: SessionState) { content = LockedState(Content(state: state)) }

    var state: SessionState { content.withLock { $0.state } }

    /// Sets the state, and wakes the readers if it is another one.
    func publish(_ state: SessionState) {
        let (waiters, number): ([Waiter], Int) = content.withLock { content in
            guard content.state != state, !content.isFinished else { return ([], 0) }
            content.state = state
            content.number += 1
            defer { content.waiters = [:] }
            return (Array(content.waiters.values), content.number)
        }
        for waiter in waiters { waiter.resume(returning: (state, number)) }
    }

    /// Ends every reader.
    func finish() {
        let waiters: [Waiter] = content.withLock { content in
            content.isFinished = true
            defer { content.waiters = [:] }
            return Array(content.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// The newest state with a higher number than `seen`, as soon as there is one; nil when the task is cancelled.
    func next(after seen: Int) async -> (SessionState, Int)? {
        let id = content.withLock { content in
            content.lastWaiter += 1
            return content.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isWaiting = content.withLock { content in
                    if content.isFinished || content.number > seen { return false }
                    content.waiters[id] = waiter
                    return true
                }
                if !isWaiting {
                    waiter.resume(returning: content.withLock { $0.isFinished ? nil : ($0.state, $0.number) })
                } else if Task.isCancelled {
                    // The handler may have run before the waiter was there.
                    cancel(id)
                }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        let waiter = content.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.resume(returning: nil)
    }
}
