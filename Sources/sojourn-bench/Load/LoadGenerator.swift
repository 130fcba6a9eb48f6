import CLinux
import Glibc

/// The result of one round of load.
struct LoadResult {
    /// Right responses within the time.
    var completed = 0
    /// Right responses, including late ones.
    var answered = 0
    var errors = 0
    /// The text of the first error.
    var firstError: String?
    /// The duration in seconds.
    var seconds = 0.0
    /// The CPU seconds of the load itself, which the server could not use.
    var ownCPUSeconds = 0.0
    /// The microseconds from request to response, of every response within the time.
    var latencies: [UInt32] = []

    var perSecond: Double { Double(completed) / seconds }
    /// The CPU microseconds of the load per response.
    var ownMicroseconds: Double { ownCPUSeconds * 1e6 / Double(max(1, answered)) }

    /// Returns the latency in milliseconds that this share of the responses did not exceed.
    func latency(_ share: Double) -> Double {
        guard !latencies.isEmpty else { return 0 }
        let sorted = latencies.sorted()
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
    }
}

/// A closed loop of load on the calling thread: every connection sends a request, waits for the response, and sends the
/// next one.
///
/// It uses system calls directly, because the load must cost a fraction of what it measures.
final class LoadGenerator<Dialogue: Conversation> {
    private let set: Int32
    private var connections: [LoadConnection<Dialogue>] = []
    private let ports: [UInt16]
    private let sources: [UInt32]
    /// Whether a connection that the server has closed is replaced.
    private let reconnects: Bool
    private var broken: Set<Int> = []
    private var events = [epoll_event](repeating: epoll_event(), count: 256)
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// Connects to `port` of this machine once per conversation, from the addresses `sources` in turn.
    convenience init(
        port: UInt16, _ conversations: [Dialogue], sources: [UInt32] = [], reconnects: Bool = false
    ) throws {
        try self.init(ports: [port], conversations, sources: sources, reconnects: reconnects)
    }

    /// Connects to `ports` of this machine in turn, once per conversation.
    init(ports: [UInt16], _ conversations: [Dialogue], sources: [UInt32] = [], reconnects: Bool = false) throws {
        self.ports = ports
        self.sources = sources
        self.reconnects = reconnects
        set = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard set >= 0 else { throw Failure.system("epoll_create1") }
        connections.reserveCapacity(conversations.count)
        for (index, conversation) in conversations.enumerated() {
            connections.append(try connection(index, conversation))
        }
    }

    /// A new connection, which the epoll set knows by `index`.
    private func connection(_ index: Int, _ conversation: Dialogue) throws -> LoadConnection<Dialogue> {
        let source = sources.isEmpty ? nil : sources[index % sources.count]
        let connection = try LoadConnection(port: ports[index % ports.count], source: source, conversation)
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(index)))
        guard epoll_ctl(set, EPOLL_CTL_ADD, connection.number, &event) == 0 else {
            throw Failure.system("epoll_ctl")
        }
        return connection
    }

    /// Replaces a connection; its conversation goes on. Closing the old one removes it from the epoll set.
    private func reconnect(_ index: Int) throws {
        connections[index] = try connection(index, connections[index].conversation)
    }

    deinit { close(set) }

    /// Makes the connections end with a reset, which keeps no port busy, when this object is released.
    func resetAtEnd() {
        for connection in connections { LoopbackAddress.resetOnClose(connection.number) }
    }

    /// Generates load for the given time, then waits for the last responses. A connection with a wrong response sends
    /// nothing from then on.
    func run(seconds: Double) throws -> LoadResult {
        try measured(seconds: seconds) { result in
            let end = monotonicNanoseconds() + Int64(seconds * 1e9)
            var waiting = 0
            for index in connections.indices where !broken.contains(index) {
                try ask(index, at: monotonicNanoseconds())
                waiting += 1
            }
            while waiting > 0 {
                let count = try wait(nanoseconds: Self.longestWait)
                guard count > 0 else { throw Failure("\(waiting) requests had no answer within 15 seconds") }
                for position in 0..<count {
                    let index = Int(events[position].data.u64)
                    let now = monotonicNanoseconds()
                    switch try hear(index, at: now, until: end, &result) {
                    case .waiting: break
                    case .answered where now < end: try ask(index, at: now)
                    case .answered, .failed: waiting -= 1
                    }
                }
            }
        }
    }

    /// Sends `perSecond` requests per second at even intervals for the given time, independently of the responses. A
    /// latency counts from the instant at which its request was due, so waiting for a free connection counts as waiting
    /// for the server.
    ///
    /// - Parameter inTurn: whether the connections ask in turn, so that each source sends as much as the others.
    func run(seconds: Double, perSecond: Double, inTurn: Bool = false) throws -> LoadResult {
        guard perSecond > 0 else {
            throw Failure("the load before had no right response, so there is no rate to send at")
        }
        return try measured(seconds: seconds) { result in
            let start = monotonicNanoseconds()
            let end = start + Int64(seconds * 1e9)
            var idle = connections.indices.filter { !broken.contains($0) }
            var (asked, waiting) = (0, 0)
            while true {
                let due = start + Int64(Double(asked) * 1e9 / perSecond)
                if due >= end, waiting == 0 { return }
                guard waiting > 0 || !idle.isEmpty else { throw Failure(result.firstError ?? "no connection is left") }
                let pause = due < end && !idle.isEmpty ? due - monotonicNanoseconds() : Self.longestWait
                if pause <= 0, let index = inTurn ? idle.first : idle.last {
                    if inTurn { idle.removeFirst() } else { idle.removeLast() }
                    try ask(index, at: due)
                    (asked, waiting) = (asked + 1, waiting + 1)
                    continue
                }
                let count = try wait(nanoseconds: pause)
                guard count > 0 || pause < Self.longestWait else {
                    throw Failure("\(waiting) requests had no answer within 15 seconds")
                }
                for position in 0..<count {
                    let index = Int(events[position].data.u64)
                    switch try hear(index, at: monotonicNanoseconds(), until: .max, &result) {
                    case .waiting: continue
                    case .answered: idle.append(index)
                    case .failed: if reconnects { idle.append(index) }
                    }
                    waiting -= 1
                }
            }
        }
    }

    /// The longest wait for a response, in nanoseconds.
    private static var longestWait: Int64 { 15_000_000_000 }

    /// Runs `body` and adds its cost.
    ///
    /// The load stays on the last core meanwhile; the system places the servers. Otherwise the threads of both would
    /// push each other from core to core and distort the figures.
    private func measured(seconds: Double, _ body: (inout LoadResult) throws -> Void) rethrows -> LoadResult {
        _ = CLinux_stay_on_core(Int32(sysconf(Int32(_SC_NPROCESSORS_ONLN))) - 1)
        defer { _ = CLinux_stay_on_core(-1) }
        var result = LoadResult()
        result.latencies.reserveCapacity(Int(seconds * 100_000))
        let ownCPU = nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) ?? 0
        try body(&result)
        result.seconds = seconds
        result.ownCPUSeconds = Double((nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) ?? 0) - ownCPU) / 1e9
        return result
    }

    /// Waits for events, for the given time at most. Returns their number.
    private func wait(nanoseconds: Int64) throws -> Int {
        var time = duration(nanoseconds: nanoseconds)
        while true {
            let count = epoll_pwait2(set, &events, Int32(events.count), &time, nil)
            if count >= 0 { return Int(count) }
            guard errno == EINTR else { throw Failure.system("epoll_pwait2") }
        }
    }

    private func ask(_ index: Int, at now: Int64) throws {
        do { try connections[index].ask(at: now) } catch {
            guard reconnects else { throw error }
            try reconnect(index)
            try connections[index].ask(at: now)
        }
    }

    /// Reads what has arrived for one connection, and counts it.
    private func hear(
        _ index: Int, at now: Int64, until end: Int64, _ result: inout LoadResult
    ) throws -> LoadConnection<Dialogue>.Progress {
        let connection = connections[index]
        guard connection.isWaiting else {
            if reconnects, connection.isClosed(&buffer) { try reconnect(index) }
            return .waiting
        }
        let progress = connection.hear(at: now, &buffer)
        switch progress {
        case .waiting: break
        case .answered(let nanoseconds):
            result.answered += 1
            guard now < end else { break }
            result.completed += 1
            result.latencies.append(UInt32(clamping: nanoseconds / 1000))
        case .failed(let reason):
            result.errors += 1
            result.firstError = result.firstError ?? reason
            if reconnects {
                try reconnect(index)
                break
            }
            broken.insert(index)
            // Otherwise the end of the stream would be reported without end.
            epoll_ctl(set, EPOLL_CTL_DEL, connection.number, nil)
        }
        return progress
    }
}
