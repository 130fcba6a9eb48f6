import CLinux
import Glibc

/// What a round of load came to.
struct LoadResult {
    /// Right answers within the time.
    var completed = 0
    /// Right answers, with those that came after it.
    var answered = 0
    var errors = 0
    /// What was wrong first.
    var firstError: String?
    /// How long it lasted.
    var seconds = 0.0
    /// CPU time that the load itself took: what the server could not have.
    var ownCPUSeconds = 0.0
    /// Microseconds from request to answer, of every answer within the time.
    var latencies: [UInt32] = []

    var perSecond: Double { Double(completed) / seconds }
    /// CPU time of the load for one answer.
    var ownMicroseconds: Double { ownCPUSeconds * 1e6 / Double(max(1, answered)) }

    /// The latency, in milliseconds, that this share of the answers did not exceed.
    func latency(_ share: Double) -> Double {
        guard !latencies.isEmpty else { return 0 }
        let sorted = latencies.sorted()
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
    }
}

/// A closed loop of load on the calling thread: every connection asks, waits for the answer, and asks again.
///
/// The system's calls are used directly, because the load must cost a fraction of what it measures.
final class LoadGenerator<Dialogue: Conversation> {
    private let set: Int32
    private let connections: [LoadConnection<Dialogue>]
    private var broken: Set<Int> = []
    private var events = [epoll_event](repeating: epoll_event(), count: 256)
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// Connects to `port` of this machine once for every conversation.
    init(port: UInt16, _ conversations: [Dialogue]) throws {
        connections = try conversations.map { try LoadConnection(port: port, $0) }
        set = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard set >= 0 else { throw Failure.system("epoll_create1") }
        for (index, connection) in connections.enumerated() {
            var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(index)))
            guard epoll_ctl(set, EPOLL_CTL_ADD, connection.number, &event) == 0 else {
                throw Failure.system("epoll_ctl")
            }
        }
    }

    deinit { close(set) }

    /// Makes the connections end by a reset, which leaves no port behind, when this goes.
    func resetAtEnd() {
        for connection in connections { LoopbackAddress.resetOnClose(connection.number) }
    }

    /// Loads for that long, then waits for the answers that are on their way. A connection whose answer was wrong stays
    /// silent from then on.
    ///
    /// The load stays on the last core meanwhile; servers go where the system puts them. Else the threads of both push each
    /// other from core to core, and the figures tell of that.
    func run(seconds: Double) throws -> LoadResult {
        _ = CLinux_stay_on_core(Int32(sysconf(Int32(_SC_NPROCESSORS_ONLN))) - 1)
        defer { _ = CLinux_stay_on_core(-1) }
        var result = LoadResult()
        result.latencies.reserveCapacity(Int(seconds * 100_000))
        let ownCPU = nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) ?? 0
        let end = monotonicNanoseconds() + Int64(seconds * 1e9)
        var waiting = 0
        for (index, connection) in connections.enumerated() where !broken.contains(index) {
            try connection.ask(at: monotonicNanoseconds())
            waiting += 1
        }
        while waiting > 0 {
            let count = epoll_wait(set, &events, Int32(events.count), 15_000)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure("\(waiting) requests had no answer within 15 seconds") }
            for position in 0..<Int(count) {
                let index = Int(events[position].data.u64)
                waiting -= try turn(index, until: end, &result)
            }
        }
        result.seconds = seconds
        result.ownCPUSeconds = Double((nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) ?? 0) - ownCPU) / 1e9
        return result
    }

    /// Handles an event of one connection; returns 1 when it asks no more.
    private func turn(_ index: Int, until end: Int64, _ result: inout LoadResult) throws -> Int {
        let connection = connections[index]
        let now = monotonicNanoseconds()
        guard connection.isWaiting else { return 0 }
        switch connection.hear(at: now, &buffer) {
        case .waiting: return 0
        case .answered(let nanoseconds):
            result.answered += 1
            guard now < end else { return 1 }
            result.completed += 1
            result.latencies.append(UInt32(clamping: nanoseconds / 1000))
            try connection.ask(at: now)
            return 0
        case .failed(let reason):
            result.errors += 1
            result.firstError = result.firstError ?? reason
            broken.insert(index)
            // Else the end of the stream would be reported for ever.
            epoll_ctl(set, EPOLL_CTL_DEL, connection.number, nil)
            return 1
        }
    }
}
