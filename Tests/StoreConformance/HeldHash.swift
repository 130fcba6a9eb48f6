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

    /// One that holds none yet.
    public init() throws {
        var scrypt = try #require(Scrypt(logN: 4, r: 8, p: 1))
        let (reached, gate) = (reached, gate)
        scrypt.observer = { _ in
            guard let begun = reached.withLock({ $0.take() }) else { return }
            begun.finish()
            gate.wait()
        }
        // A queue for each: none stands behind the one that is held.
        passwords = PasswordHasher(scrypt: scrypt, width: 64)
    }

    /// What `ask` comes to if its password is hashed while `body` runs.
    public func during<Value: Sendable>(
        _ ask: @escaping @Sendable () async -> Value, _ body: () async throws -> Void
    ) async throws -> Value {
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        reached.withLock { $0 = continuation }
        let value = Task { await ask() }
        for await _ in begun {}
        try await body()
        gate.signal()
        return await value.value
    }
}
