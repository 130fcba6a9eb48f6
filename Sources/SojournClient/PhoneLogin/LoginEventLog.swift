/// The events of a login session, from the first one on. Each reader gets all of them, in order, and ends after the last one.
public struct LoginSessionEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = LoginSessionEvent

    let log: LoginEventLog

    /// Reads the events from the first one on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(log: log) }

    /// One reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let log: LoginEventLog
        private var seen = 0

        init(log: LoginEventLog) { self.log = log }

        /// The next event; nil after the last one, and when the task is cancelled.
        public mutating func next() async -> LoginSessionEvent? {
            guard let event = await log.event(seen) else { return nil }
            seen += 1
            return event
        }
    }
}

/// The statuses of a login session, from `STARTING` on. Each reader gets all of them, in order, and ends after the final one.
public struct LoginStatuses: AsyncSequence, Sendable {
    /// A status.
    public typealias Element = LoginStatus

    let log: LoginEventLog

    /// Reads the statuses from the first one on.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: LoginSessionEvents(log: log).makeAsyncIterator())
    }

    /// One reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var events: LoginSessionEvents.AsyncIterator

        init(events: LoginSessionEvents.AsyncIterator) { self.events = events }

        /// The next status; nil after the final one, and when the task is cancelled.
        public mutating func next() async -> LoginStatus? {
            while let event = await events.next() {
                if case .state(let status) = event { return status }
            }
            return nil
        }
    }
}

/// What a login session has told so far, and the readers that wait for more. A session has a few dozen events at most, because
/// each is the answer to an act or a step towards the end.
final class LoginEventLog: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct Content {
        var events: [LoginSessionEvent] = []
        var status = LoginStatus(.starting)
        var details: LoginDetails?
        var isFinished = false
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
    }

    private let content = LockedState(Content())

    var status: LoginStatus { content.withLock { $0.status } }
    var details: LoginDetails? { content.withLock { $0.details } }
    var events: [LoginSessionEvent] { content.withLock { $0.events } }

    /// Adds events, and wakes the readers.
    func add(_ events: [LoginSessionEvent], _ status: LoginStatus, _ details: LoginDetails?, isFinished: Bool) {
        let waiters: [Waiter] = content.withLock { content in
            guard !content.isFinished else { return [] }
            (content.status, content.details, content.isFinished) = (status, details, isFinished)
            content.events += events
            guard !events.isEmpty || isFinished else { return [] }
            defer { content.waiters = [:] }
            return Array(content.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The event of that number, as soon as there is one; nil after the last one, or when the task is cancelled.
    func event(_ number: Int) async -> LoginSessionEvent? {
        while !Task.isCancelled {
            let (event, isFinished) = content.withLock { content in
                (content.events.count > number ? content.events[number] : nil, content.isFinished)
            }
            if event != nil || isFinished { return event }
            await wait(past: number)
        }
        return nil
    }

    /// Waits until there are more events than `number`, or none will come.
    private func wait(past number: Int) async {
        let id = content.withLock { content in
            content.lastWaiter += 1
            return content.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isWaiting = content.withLock { content in
                    if content.isFinished || content.events.count > number { return false }
                    content.waiters[id] = waiter
                    return true
                }
                if !isWaiting {
                    waiter.resume()
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
        waiter?.resume()
    }
}
