import Dispatch
import Glibc
import Synchronization

/// Connections that each send one byte of a head per second (slowloris), and reconnect after the server has ended them.
/// They run on a thread of their own until `stop`.
final class SlowSenders: Sendable {
    private static let bytes = Array(("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 4000)).utf8)
    /// Each tick serves a small part of the connections, so that the load hardly waits for them.
    private static let ticksPerSecond = 100

    private let isStopped = Atomic<Bool>(false)
    private let ended = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let queue = DispatchQueue(label: "slow-senders")

    /// Opens `count` connections to `port` of this machine.
    init(_ count: Int, port: UInt16) {
        if count > 0 { queue.async { self.run(count, port) } }
    }

    /// Ends the connections. Returns how many the server had ended before.
    func stop() throws -> Int {
        isStopped.store(true, ordering: .relaxed)
        // The queue is serial, so this waits for the last tick.
        queue.sync {}
        guard refused.load(ordering: .relaxed) == 0 else { throw Failure("a slow connection was not taken") }
        return ended.load(ordering: .relaxed)
    }

    private func run(_ count: Int, _ port: UInt16) {
        var senders = (0..<count).map { _ in (descriptor: open(port), sent: 0) }
        defer { for sender in senders { close(sender.descriptor) } }
        var next = 0
        while !isStopped.load(ordering: .relaxed) {
            for _ in 0..<max(1, count / Self.ticksPerSecond) {
                if !drip(senders[next].descriptor, senders[next].sent) {
                    ended.add(1, ordering: .relaxed)
                    close(senders[next].descriptor)
                    senders[next] = (open(port), 0)
                } else {
                    senders[next].sent += 1
                }
                next = (next + 1) % count
            }
            usleep(UInt32(1_000_000 / Self.ticksPerSecond))
        }
    }

    private func open(_ port: UInt16) -> Int32 {
        guard let descriptor = try? LoopbackAddress(port: port).connect() else {
            refused.add(1, ordering: .relaxed)
            return -1
        }
        LoopbackAddress.resetOnClose(descriptor)
        return descriptor
    }

    /// Sends one byte. Returns false if the server has answered or closed.
    private func drip(_ descriptor: Int32, _ sent: Int) -> Bool {
        var byte = Self.bytes[sent % Self.bytes.count]
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        guard send(descriptor, &byte, 1, flags) == 1 else { return false }
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
    }
}
