import CLinux
import Glibc

/// Many phones that refresh once in an interval, each over a connection of its own for each request. After a refusal a phone
/// waits for as long as `Retry-After` says, or a second, and repeats its request.
final class PhoneCrowd {
    private struct Phone {
        var token: [UInt8]
        var connection: LoadConnection<PhoneRequest>?
        /// The moment of the next request, or of giving up the present one.
        var dueAt: Int64
        /// Since when it wants a new token; nil: it has one.
        var wantsSince: Int64?
        var isLoggedOut = false
    }

    private let ports: [UInt16]
    private let interval: Int64
    private let start: Int64
    private let set: Int32
    private var phones: [Phone]
    /// The phones by the moment at which something is due, in steps of ten milliseconds.
    private var due: [Int64: [Int]] = [:]
    private var step: Int64 = 0
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var events = [epoll_event](repeating: epoll_event(), count: 256)
    /// The number of requests in each second since the start.
    private(set) var requests: [Int] = [0]

    private static let stepNanoseconds: Int64 = 10_000_000
    private static let secondNanoseconds: Int64 = 1_000_000_000
    /// The time after which an app gives up a request.
    private static let patience: Int64 = 15_000_000_000

    init(ports: [UInt16], _ tokens: [[UInt8]], interval: Double) throws {
        (self.ports, self.interval, start) = (ports, Int64(interval * 1e9), monotonicNanoseconds())
        set = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard set >= 0 else { throw Failure.system("epoll_create1") }
        phones = []
        for (index, token) in tokens.enumerated() {
            let dueAt = Int64(Double(index) / Double(tokens.count) * interval * 1e9)
            phones.append(Phone(token: token, dueAt: dueAt))
            note(index, at: dueAt)
        }
    }

    deinit { close(set) }

    private var now: Int64 { monotonicNanoseconds() - start }

    /// The number of whole seconds since the start.
    var second: Int { Int(now / Self.secondNanoseconds) }

    var loggedOut: Int { phones.count { $0.isLoggedOut } }

    /// The number of phones that have waited for a token since a second before that one.
    func waitingForOutage(before second: Int) -> Int {
        let moment = Int64(second) * Self.secondNanoseconds
        return phones.count { phone in
            guard let since = phone.wantsSince else { return false }
            return since < moment && !phone.isLoggedOut
        }
    }

    /// Lets the phones act for that time, or until `isDone`, which is asked every second.
    func run(seconds: Int, until isDone: () -> Bool = { false }) throws {
        let end = now + Int64(seconds) * Self.secondNanoseconds
        var last = second
        while now < end {
            while step <= now / Self.stepNanoseconds {
                for index in due.removeValue(forKey: step) ?? [] { try act(index) }
                step += 1
            }
            try hear()
            if second != last {
                last = second
                if isDone() { return }
            }
        }
    }

    private func note(_ index: Int, at moment: Int64) {
        phones[index].dueAt = moment
        due[max(step, moment / Self.stepNanoseconds), default: []].append(index)
    }

    private func act(_ index: Int) throws {
        // A later moment was noted since.
        guard phones[index].dueAt / Self.stepNanoseconds <= step, !phones[index].isLoggedOut else { return }
        if phones[index].connection != nil { return retry(index, after: Self.secondNanoseconds) }
        let at = now
        phones[index].wantsSince = phones[index].wantsSince ?? at
        while requests.count <= second { requests.append(0) }
        requests[second] += 1
        do {
            let connection = try LoadConnection(
                port: ports[index % ports.count], PhoneRequest(token: phones[index].token))
            var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(index)))
            guard epoll_ctl(set, EPOLL_CTL_ADD, connection.number, &event) == 0 else {
                throw Failure.system("epoll_ctl")
            }
            try connection.ask(at: at)
            phones[index].connection = connection
            note(index, at: at + Self.patience)
        } catch { retry(index, after: Self.secondNanoseconds) }
    }

    private func retry(_ index: Int, after nanoseconds: Int64) {
        phones[index].connection = nil
        note(index, at: now + nanoseconds)
    }

    private func hear() throws {
        let count = epoll_wait(set, &events, Int32(events.count), 5)
        guard count >= 0 || errno == EINTR else { throw Failure.system("epoll_wait") }
        for position in 0..<max(0, Int(count)) {
            let index = Int(events[position].data.u64)
            guard let connection = phones[index].connection else { continue }
            switch connection.hear(at: now, &buffer) {
            case .waiting: break
            case .failed: retry(index, after: Self.secondNanoseconds)
            case .answered: take(connection.conversation.outcome, index)
            }
        }
    }

    private func take(_ outcome: PhoneRequest.Outcome?, _ index: Int) {
        switch outcome {
        case .token(let token)?:
            phones[index].token = token
            phones[index].wantsSince = nil
            retry(index, after: interval)
        case .later(let seconds)?: retry(index, after: Int64(seconds) * Self.secondNanoseconds)
        case .loggedOut?:
            phones[index].isLoggedOut = true
            phones[index].connection = nil
        case nil: retry(index, after: Self.secondNanoseconds)
        }
    }
}

/// One refresh of a phone.
struct PhoneRequest: Conversation {
    enum Outcome {
        case token([UInt8])
        /// To be repeated after so many seconds.
        case later(Int)
        case loggedOut
    }

    let request: [UInt8]
    private(set) var outcome: Outcome?

    init(token: [UInt8]) { request = RefreshChains([token]).request }

    mutating func accepts(_ answer: Answer, in bytes: [UInt8]) -> Bool {
        let span = bytes.span
        switch answer.status {
        case 200:
            guard let token = span.text(of: Self.refreshToken, in: answer.body) else { return false }
            outcome = .token(Array(bytes[token]))
        case 400, 401: outcome = .loggedOut
        default: outcome = .later(Self.retryAfter(bytes, before: answer.body.lowerBound) ?? 1)
        }
        return true
    }

    private static func retryAfter(_ bytes: [UInt8], before end: Int) -> Int? {
        guard let name = bytes.span.firstIndex(of: retryAfterName, in: 0..<end) else { return nil }
        let start = name + retryAfterName.count
        return bytes[start..<end].firstIndex(of: 0x0D).flatMap { bytes.span.number(in: start..<$0) }
    }

    private static let refreshToken = Array("\"refresh_token\"".utf8)
    private static let retryAfterName = Array("\r\nRetry-After: ".utf8)
}
