import Foundation
import SojournClient
import SojournTestKit

/// A store in memory that two processes of a phone share, which fails when a schedule says so.
final class SharedStore: SessionStore {
    private struct State {
        var record: StoredRecord?
        var version: UInt64 = 0
        var failures = 0
        var callCount = 0
        /// A rule that is broken on purpose: a swap that does not compare.
        var swapsBlindly = false
    }

    private let state = Guarded(State())

    /// How often the store was called.
    var callCount: Int { state.withLock { $0.callCount } }

    /// Has so many of the next calls fail.
    func fail(_ count: Int) { state.withLock { $0.failures = count } }

    /// Breaks the rule that only the presented version is replaced.
    func swapBlindly() { state.withLock { $0.swapsBlindly = true } }

    private func enter(_ state: inout State) throws(StoreError) {
        state.callCount += 1
        guard state.failures > 0 else { return }
        state.failures -= 1
        throw state.failures % 2 == 0 ? .locked : .failed(5, "the disk does not answer")
    }

    func load() async throws(StoreError) -> StoredRecord? {
        try state.withLock { state throws(StoreError) in
            try enter(&state)
            return state.record
        }
    }

    func replace(_ expected: RecordVersion?, with bytes: [UInt8]?) async throws(StoreError) -> Bool {
        try state.withLock { state throws(StoreError) in
            try enter(&state)
            guard state.record?.version == expected || state.swapsBlindly else { return false }
            state.version += 1
            let version = withUnsafeBytes(of: state.version) { RecordVersion(Array($0)) }
            state.record = bytes.map { StoredRecord(version: version, bytes: $0) }
            return true
        }
    }

    func setAside() async throws(StoreError) {}

    var changes: AsyncStream<Void> { AsyncStream { $0.finish() } }
}

/// A key with signatures that are worth nothing: the fake server does not look at them.
struct WorthlessKeys: DeviceKeyring {
    struct Key: DeviceKey {
        let publicKey = PublicJWK(curve: .ed25519, x: Array(repeating: 7, count: 32))
        func sign(_ message: [UInt8]) async throws(KeyError) -> [UInt8] { Array(repeating: 0, count: 64) }
    }

    func key(_ name: KeyName) async throws(KeyError) -> (any DeviceKey)? { Key() }
    func makeKey(_ name: KeyName) async throws(KeyError) -> any DeviceKey { Key() }
    func deleteKey(_ name: KeyName) async throws(KeyError) {}
}

/// A process of the phone's app, which can be killed: from then on nothing that it does has an effect.
final class VirtualProcess: Sendable {
    /// Passes requests and writes on until the process is killed. While the process stands still, nothing goes on.
    private final class Life: Sendable {
        private struct State {
            var isEnded = false
            var isFrozen = false
            /// Whether the process stands still at its next write, with the answer of a server in hand.
            var freezesAtWrite = false
            var waiters: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Guarded(State())

        var isEnded: Bool { state.withLock { $0.isEnded } }
        func freeze() { state.withLock { $0.isFrozen = true } }
        func freezeAtWrite() { state.withLock { $0.freezesAtWrite = true } }

        /// Waits at a write.
        func passWrite() async {
            state.withLock { state in
                if state.freezesAtWrite { (state.isFrozen, state.freezesAtWrite) = (true, false) }
            }
            await pass()
        }

        func goOn(ended: Bool = false) {
            let waiters = state.withLock { state in
                (state.isFrozen, state.freezesAtWrite) = (false, false)
                if ended { state.isEnded = true }
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }

        /// Waits while the process stands still.
        func pass() async {
            await withCheckedContinuation { waiter in
                let isFrozen = state.withLock { state in
                    if state.isFrozen { state.waiters.append(waiter) }
                    return state.isFrozen
                }
                if !isFrozen { waiter.resume() }
            }
        }
    }

    private struct MortalStore: SessionStore {
        let base: SharedStore
        let life: Life

        func load() async throws(StoreError) -> StoredRecord? {
            await life.pass()
            if life.isEnded { throw .failed(9, "killed") }
            let record = try await base.load()
            await life.pass()
            return record
        }
        func replace(_ expected: RecordVersion?, with bytes: [UInt8]?) async throws(StoreError) -> Bool {
            await life.passWrite()
            if life.isEnded { throw .failed(9, "killed") }
            return try await base.replace(expected, with: bytes)
        }
        func setAside() async throws(StoreError) {}
        var changes: AsyncStream<Void> { base.changes }
    }

    private struct MortalTransport: Transport {
        let base: any Transport
        let life: Life

        func send(_ request: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
            await life.pass()
            if life.isEnded { throw .cancelled }
            let answer: HTTPAnswer
            do throws(TransportFailure) { answer = try await base.send(request, within: limit) } catch {
                await life.pass()
                throw error
            }
            await life.pass()
            return answer
        }
    }

    let sojourn: Sojourn
    private let life = Life()

    /// A process with secrets and waits that `seed` determines.
    init(
        _ configuration: SojournConfiguration, _ store: SharedStore, _ transport: any Transport, _ clock: ManualClock,
        seed: UInt64
    ) {
        let generator = Guarded(SeededGenerator(seed: seed))
        sojourn = Sojourn(
            configuration, store: MortalStore(base: store, life: life), keys: WorthlessKeys(),
            transport: MortalTransport(base: transport, life: life), clock: clock,
            random: { count in
                generator.withLock { generator in
                    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
                }
            })
    }

    func kill() { life.goOn(ended: true) }

    /// Has the process stand still at the next load, request, answer or write.
    func freeze() { life.freeze() }

    /// Has the process stand still at the next write.
    func freezeAtWrite() { life.freezeAtWrite() }

    /// Has it go on.
    func thaw() { life.goOn() }
}
