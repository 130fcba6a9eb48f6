import Cryptography
import Dispatch
import Locks
public import Sessions
import Testing

/// A hasher of passwords that holds one of them, while others pass.
public struct HeldHash: Sendable {
    /// It.
    public let passwords: PasswordHasher
    /// Is told that a hash has begun, which is the one to hold; nil while all pass.
    private let reached = Locked<AsyncStream<Void>.Continuation?>(nil)
    private let gate = DispatchSemaphore(value: 0)

    /// One that holds none yet. With a `width` of one, whatever follows what is held waits behind it.
    public init(width: Int = 64, pendingMax: Int = 64) throws {
        var scrypt = try #require(Scrypt(logN: 4, r: 8, p: 1))
        let (reached, gate) = (reached, gate)
        scrypt.observer = { _ in
            guard let begun = reached.withLock({ $0.take() }) else { return }
            begun.finish()
            gate.wait()
        }
        passwords = PasswordHasher(scrypt: scrypt, width: width, pendingMax: pendingMax)
    }

    /// Returns when so many passwords wait in that room or are held, or when that is too late.
    public func pending(
        _ count: Int, _ room: PasswordHasher.Priority, unless isTooLate: () -> Bool = { false }
    ) async {
        while passwords.pending(room) < count, !isTooLate() { await Task.yield() }
    }

    /// What `ask` comes to if its password is hashed while `body` runs.
    public func during<Value: Sendable>(
        _ ask: @escaping @Sendable () async -> Value, _ body: () async throws -> Void
    ) async throws -> Value {
        let value = await begun(ask)
        try await body()
        gate.signal()
        return await value.value
    }

    /// What `ask` comes to if its answer is given up while its password is hashed.
    public func givingUp<Value: Sendable>(_ ask: @escaping @Sendable () async -> Value) async -> Value {
        let value = await begun(ask)
        value.cancel()
        gate.signal()
        return await value.value
    }

    private func begun<Value: Sendable>(_ ask: @escaping @Sendable () async -> Value) async -> Task<Value, Never> {
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        reached.withLock { $0 = continuation }
        let value = Task { await ask() }
        for await _ in begun {}
        return value
    }
}
