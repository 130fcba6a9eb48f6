import Foundation
import SojournClient
import SojournTestKit
import Testing

/// A phone, and the server that it talks to, in virtual time.
struct Phone {
    let server: FakeServer
    let wire: Wire
    let store: TestStore
    let keys: TestKeys
    let gate: FakeGate
    let clock: ManualClock
    let sojourn: Sojourn

    /// A phone without a session; the server knows `anna` and `berta`, with the password `pw`.
    static func new(
        renewal: SojournConfiguration.Renewal = .refreshToken, wall: Int64? = nil, jitter: UInt8 = 0,
        platform: BiometryPlatform = .apple, _ edit: (inout SojournConfiguration) -> Void = { _ in }
    ) async throws -> Phone {
        let server = FakeServer()
        try await server.createUser("anna", password: "pw")
        try await server.createUser("berta", password: "pw")
        let clock = server.clock
        if let wall { clock.setWall(to: wall) }
        return Phone(
            server: server, wire: Wire(server), store: TestStore(), keys: TestKeys(), gate: FakeGate(platform),
            clock: clock, renewal, jitter, edit)
    }

    private init(
        server: FakeServer, wire: Wire, store: TestStore, keys: TestKeys, gate: FakeGate,
        clock: ManualClock, _ renewal: SojournConfiguration.Renewal, _ jitter: UInt8,
        _ edit: (inout SojournConfiguration) -> Void
    ) {
        (self.server, self.wire, self.store, self.keys, self.clock) = (server, wire, store, keys, clock)
        self.gate = gate
        var configuration = SojournConfiguration(server: server.url)
        configuration.renewal = renewal
        edit(&configuration)
        let numbers = Counter()
        // Eight bytes are a jitter, which is nothing here unless a test asks for it; all else is different each time.
        sojourn = Sojourn(
            configuration, store: store, keys: keys, gate: gate, transport: wire, clock: clock,
            random: { count in count == 8 ? Array(repeating: jitter, count: 8) : numbers.bytes(count) },
            pins: PINMaker(iterations: 10))
    }

    /// Another process on the same phone, or the same one after a new start.
    func other(
        renewal: SojournConfiguration.Renewal = .refreshToken, jitter: UInt8 = 0,
        _ edit: (inout SojournConfiguration) -> Void = { _ in }
    ) -> Phone {
        Phone(server: server, wire: wire, store: store, keys: keys, gate: gate, clock: clock, renewal, jitter, edit)
    }

    /// A phone on which `anna` is signed in.
    static func signedIn(
        renewal: SojournConfiguration.Renewal = .refreshToken, jitter: UInt8 = 0, mode: AuthenticationMode = .no,
        platform: BiometryPlatform = .apple, _ edit: (inout SojournConfiguration) -> Void = { _ in }
    ) async throws -> Phone {
        let phone = try await Phone.new(renewal: renewal, jitter: jitter, platform: platform, edit)
        try await phone.sojourn.signIn(username: "anna", password: "pw", mode: mode)
        return phone
    }

    /// What is stored; nil if there is no record.
    var record: SessionRecord? { store.record }
}

/// Different bytes each time, the same in every run.
private final class Counter: Sendable {
    private let last = Guarded<UInt64>(0)

    func bytes(_ count: Int) -> [UInt8] {
        let number = last.withLock { last in
            last += 1
            return last
        }
        return (0..<count).map { UInt8(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> UInt64($0 % 8 * 8)) }
    }
}

/// Lets other tasks run until `condition` holds.
func until(
    _ what: Comment, _ condition: () async -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async {
    // The limit is for a machine that is busy with other things: what is awaited comes within a millisecond.
    let end = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < end {
        if await condition() { return }
        await Task.yield()
    }
    Issue.record("it never was so: \(what)", sourceLocation: sourceLocation)
}

/// Lets other tasks run for a while, so that what must not happen could have happened.
func whileOthersRun() async {
    for _ in 0..<200 { await Task.yield() }
}
