import HTTP
import SojournClient
import SojournTestKit
import Testing

/// Ten thousand phones after an outage of a minute, in virtual time: the SDK's own `RenewalMachine` and `RetrySchedule` against the
/// server's own `RetryAfterPolicy`.
@Suite struct OutageStormTests {
    /// How the phones of an outage wait.
    enum Phones: String, CaseIterable, CustomTestStringConvertible {
        /// The SDK, with an access token that works.
        case withToken = "the SDK with a token that works"
        /// The SDK, after the access token has run out: each call wants a new one as soon as possible.
        case withoutToken = "the SDK without one"
        /// A client that does what `Retry-After` says, and nothing more.
        case obedient = "clients that know Retry-After alone"

        var testDescription: String { rawValue }
    }

    @Test(
        "After an outage of a minute the peak is three times the usual rate at most, and all are served within a minute",
        arguments: Phones.allCases, [1, 2] as [UInt64])
    func storm(_ phones: Phones, seed: UInt64) {
        var storm = Storm(phones, seed: seed)

        storm.run()

        #expect(storm.peak <= 3 * storm.usual, "\(storm.peak) a second instead of \(storm.usual)")
        #expect(
            storm.waitingCount == 0 && storm.lastServed <= .seconds(60), "\(storm.waitingCount), \(storm.lastServed)")
    }
}

/// A server that refuses all for a while, and phones with apps that ask for a token all the time.
private struct Storm {
    private static let phoneCount = 10_000
    /// Between two renewals of a phone: 150 a second come in all.
    private static let interval = Duration.seconds(66)
    private static let outage = Duration.seconds(100)..<Duration.seconds(160)
    private static let end = Duration.seconds(280)
    private static let step = Duration.milliseconds(20)

    private struct Phone {
        var machine: RenewalMachine<WalkRecord>?
        var retries = RetrySchedule()
        var isWaiting = false
    }

    private let kind: OutageStormTests.Phones
    private var random: SeededGenerator
    private var policy = RetryAfterPolicy()
    private var phones = Array(repeating: Phone(), count: phoneCount)
    /// The phones that act in each step.
    private var calendar: [[Int]] = Array(repeating: [], count: Int(end / step) + 1)
    private let start = ContinuousClock.now
    private(set) var lastServed = Duration.zero
    /// The requests of each second.
    private var counts = Array(repeating: 0, count: Int(end / .seconds(1)) + 1)

    init(_ kind: OutageStormTests.Phones, seed: UInt64) {
        self.kind = kind
        random = SeededGenerator(seed: seed)
        for phone in phones.indices { wake(phone, at: part(of: Self.interval)) }
    }

    /// The mean of a second before the outage.
    var usual: Int { counts[66..<100].reduce(0, +) / 34 }
    /// The most requests of a second since the outage began.
    var peak: Int { counts[100...].max() ?? 0 }
    /// The phones that wait for a renewal.
    var waitingCount: Int { phones.count { $0.isWaiting } }

    mutating func run() {
        for index in calendar.indices {
            for phone in calendar[index] { act(phone, at: Self.step * index) }
        }
    }

    private mutating func part(of longest: Duration) -> Duration {
        longest * Double.random(in: 0..<1, using: &random)
    }

    private mutating func wake(_ phone: Int, at time: Duration) {
        let index = Int((time / Self.step).rounded(.up))
        if calendar.indices.contains(index) { calendar[index].append(phone) }
    }

    /// Sends a request of the phone, and decides when it acts next.
    private mutating func act(_ phone: Int, at time: Duration) {
        counts[Int(time / .seconds(1))] += 1
        guard Self.outage.contains(time) else {
            if phones[phone].isWaiting { lastServed = time - Self.outage.upperBound }
            phones[phone] = Phone()
            return wake(phone, at: time + Self.interval * 0.95 + part(of: Self.interval * 0.1))
        }
        phones[phone].isWaiting = true
        let seconds = Int64(policy.seconds(at: start + time, random: random.next()))
        if kind == .obedient { return wake(phone, at: time + .seconds(seconds)) }
        wake(phone, at: time + wait(phone, after: seconds, at: time))
    }

    /// The wait of the SDK after an answer that refuses.
    private mutating func wait(_ phone: Int, after seconds: Int64, at time: Duration) -> Duration {
        let record = WalkRecord()
        var machine = phones[phone].machine ?? RenewalMachine<WalkRecord>(of: nil)
        if phones[phone].machine == nil { _ = machine.handle(.begin) }
        _ = machine.handle(.loaded(record))
        let output = machine.handle(
            .answered(.unreachable(Unreachable("status 503", status: 503, retryAfter: seconds))))
        if case .wait(let attempt, let retryAfter) = output {
            // The next attempt of the same renewal loads the record again.
            _ = machine.handle(.waited)
            phones[phone].machine = machine
            return RetrySchedule.wait(attempt: attempt, retryAfter: retryAfter, random: random.next())
        }
        phones[phone].machine = nil
        phones[phone].retries.noteFailure(at: time, retryAfter: seconds, random: random.next())
        return phones[phone].retries.hold(at: time, hasToken: kind == .withToken) ?? .zero
    }
}
