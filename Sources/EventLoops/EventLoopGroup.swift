import Glibc

/// The loops of one process.
public struct EventLoopGroup: Sendable {
    /// The loops, all running.
    public let loops: [EventLoop]

    /// Starts loops.
    ///
    /// - Parameters:
    ///   - count: how many; by default one per core that is online.
    ///   - clock: read once per turn of each loop.
    public init(
        count: Int = EventLoopGroup.coreCount, clock: @escaping MonotonicClock = MonotonicInstant.system
    ) throws(EventLoopError) {
        var loops: [EventLoop] = []
        for index in 0..<max(1, count) {
            loops.append(try EventLoop(label: "event-loop-\(index)", clock: clock))
        }
        self.loops = loops
    }

    /// The cores that are online.
    public static var coreCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Makes each loop take a turn now.
    public func wake() { for loop in loops { loop.wake() } }

    /// Ends all loops and returns when their threads have left.
    public func stop() async { for loop in loops { await loop.stop() } }
}
