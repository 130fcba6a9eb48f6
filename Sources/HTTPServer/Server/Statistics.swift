import Locks
import Synchronization

extension HTTPServer {
    /// The counters of the server since its start, over all loops and listeners.
    public struct Statistics: Equatable, Sendable {
        /// Connections accepted, including refused ones.
        public var accepted = 0
        /// Connections open now.
        public var open = 0
        /// Requests handed to a handler.
        public var requests = 0
        /// Requests refused by the parser.
        public var protocolErrors = 0
        /// Connections ended because a client was too slow to send or to read; idle ones do not count.
        public var timeouts = 0
        /// Requests answered with 503 because the handler took too long.
        public var handlerTimeouts = 0
        /// Connections refused because there were too many.
        public var rejected = 0
        /// Handshakes of TLS that succeeded.
        public var handshakes = 0
        /// Handshakes that resumed an earlier session.
        public var resumedHandshakes = 0
        /// Handshakes that failed: no common version or cipher, a missing certificate, or no TLS client at all.
        public var handshakeFailures = 0
        /// Pauses in accepting because no descriptors were left.
        public var acceptPauses = 0
        /// Requests in handlers now, including those with a client that has disconnected.
        public var pending = 0
        /// Long polls and streams in progress now.
        public var streaming = 0
        /// The bytes that `Configuration.maximumBufferedBytes` limits, now.
        public var bufferedBytes = 0
        /// How often each limit was reached.
        public var reached: [Limit: Int] = [:]
        /// Connections open now on each loop.
        public var openByLoop: [Int] = []
    }
}

/// The counters of one loop. They are read without a lock.
final class Counters: Sendable {
    let accepted = Atomic<Int>(0)
    let open = Atomic<Int>(0)
    let requests = Atomic<Int>(0)
    let protocolErrors = Atomic<Int>(0)
    let timeouts = Atomic<Int>(0)
    let handlerTimeouts = Atomic<Int>(0)
    let rejected = Atomic<Int>(0)
    let acceptPauses = Atomic<Int>(0)
    let handshakes = Atomic<Int>(0)
    let resumedHandshakes = Atomic<Int>(0)
    let handshakeFailures = Atomic<Int>(0)
    let pending = Atomic<Int>(0)
    let streaming = Atomic<Int>(0)
    /// By the raw value of the limit. A lock is enough here, because refusals are rare.
    private let reached = Locked([Int](repeating: 0, count: HTTPServer.Limit.allCases.count))

    /// Counts that a client reached a limit.
    func count(_ limit: HTTPServer.Limit) { reached.withLock { $0[limit.rawValue] += 1 } }

    func add(to sum: inout HTTPServer.Statistics) {
        sum.accepted += accepted.load(ordering: .relaxed)
        sum.open += open.load(ordering: .relaxed)
        sum.requests += requests.load(ordering: .relaxed)
        sum.protocolErrors += protocolErrors.load(ordering: .relaxed)
        sum.timeouts += timeouts.load(ordering: .relaxed)
        sum.handlerTimeouts += handlerTimeouts.load(ordering: .relaxed)
        sum.rejected += rejected.load(ordering: .relaxed)
        sum.acceptPauses += acceptPauses.load(ordering: .relaxed)
        sum.handshakes += handshakes.load(ordering: .relaxed)
        sum.resumedHandshakes += resumedHandshakes.load(ordering: .relaxed)
        sum.handshakeFailures += handshakeFailures.load(ordering: .relaxed)
        sum.pending += pending.load(ordering: .relaxed)
        sum.streaming += streaming.load(ordering: .relaxed)
        sum.openByLoop.append(open.load(ordering: .relaxed))
        let reached = reached.withLock { $0 }
        for limit in HTTPServer.Limit.allCases { sum.reached[limit, default: 0] += reached[limit.rawValue] }
    }
}

extension Atomic where Value == Int {
    /// Adds one. Relaxed order loses no count; only the order among counters is undefined.
    borrowing func increment() { add(1, ordering: .relaxed) }
    /// Subtracts one.
    borrowing func decrement() { subtract(1, ordering: .relaxed) }
}
