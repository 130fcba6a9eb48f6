import Synchronization

extension HTTPServer {
    /// What the engine counted since its start, over all loops and listeners.
    public struct Statistics: Equatable, Sendable {
        /// Connections taken, rejected ones included.
        public var accepted = 0
        /// Connections open now.
        public var open = 0
        /// Requests handed to a handler.
        public var requests = 0
        /// Requests refused by the parser.
        public var protocolErrors = 0
        /// Connections ended because a client was too slow to send or to read; idle ones do not count.
        public var timeouts = 0
        /// Requests that the engine answered itself because the handler took too long.
        public var handlerTimeouts = 0
        /// Connections answered with 503 because there were too many.
        public var rejected = 0
        /// How often accepting paused because no descriptors were left.
        public var acceptPauses = 0
    }
}

/// The counters of one loop. Read by whoever asks, without a lock.
final class Counters: Sendable {
    let accepted = Atomic<Int>(0)
    let open = Atomic<Int>(0)
    let requests = Atomic<Int>(0)
    let protocolErrors = Atomic<Int>(0)
    let timeouts = Atomic<Int>(0)
    let handlerTimeouts = Atomic<Int>(0)
    let rejected = Atomic<Int>(0)
    let acceptPauses = Atomic<Int>(0)

    func add(to sum: inout HTTPServer.Statistics) {
        sum.accepted += accepted.load(ordering: .relaxed)
        sum.open += open.load(ordering: .relaxed)
        sum.requests += requests.load(ordering: .relaxed)
        sum.protocolErrors += protocolErrors.load(ordering: .relaxed)
        sum.timeouts += timeouts.load(ordering: .relaxed)
        sum.handlerTimeouts += handlerTimeouts.load(ordering: .relaxed)
        sum.rejected += rejected.load(ordering: .relaxed)
        sum.acceptPauses += acceptPauses.load(ordering: .relaxed)
    }
}

extension Atomic where Value == Int {
    /// Counts one more. Only order among the counters is given up for speed, no count is lost.
    borrowing func increment() { add(1, ordering: .relaxed) }
    /// Counts one less.
    borrowing func decrement() { subtract(1, ordering: .relaxed) }
}
