import Glibc

/// The event loops of one process.
public struct EventLoopGroup: Sendable {
    /// The loops, all running.
    public let loops: [EventLoop]

    /// Starts the loops.
    ///
    /// - Parameters:
    ///   - count: the number of loops; by default one per online core.
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

    /// The number of online cores.
    public static var coreCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Makes each loop take a turn now.
    public func wake() { for loop in loops { loop.wake() } }

    /// Ends all loops and returns when their threads have left.
    public func stop() async { for loop in loops { await loop.stop() } }
}
