public import Cryptography
internal import Dispatch
internal import Locks
internal import Synchronization

/// Hashes and verifies passwords away from the event loops, a few at a time: scrypt with N = 2^17 takes 128 MiB and a
/// third of a second each, so that more at once would only exhaust the machine.
public final class PasswordHasher: Sendable {
    /// The fewest characters of a new password.
    public static let lengthMin = 8
    /// The most bytes of a password, in UTF-8 after normalisation; all of them are significant.
    public static let byteCountMax = Scrypt.longestPassword

    /// A password that has waited this long is not hashed any more: whoever sent it has been told to try again, and a
    /// hash for nobody would only make the next ones wait.
    static let waitMax = Duration.seconds(10)

    private let scrypt: Scrypt
    private let queues: [DispatchQueue]
    private let pendingMax: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let pending = Atomic<Int>(0)
    private let next = Atomic<Int>(0)

    /// A hasher that works on `width` passwords at a time and lets `pendingMax` wait. A test gives a cheaper `scrypt`.
    public init(
        scrypt: Scrypt = .standard, width: Int = 2, pendingMax: Int = 64,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.scrypt = scrypt
        queues = (0..<max(1, width)).map { DispatchQueue(label: "password-hasher-\($0)") }
        self.pendingMax = pendingMax
        self.now = now
    }

    /// What is wrong with a new password, as the end of a sentence that begins with its name; nil when it will do.
    public static func problem(with password: String) -> String? {
        if password.utf8.contains(0) { return "must not contain a NUL character" }
        let normalized = Text.normalized(password)
        if normalized.unicodeScalars.count < lengthMin { return "must have at least \(lengthMin) characters" }
        if normalized.utf8.count > byteCountMax { return "must have at most \(byteCountMax) bytes" }
        return nil
    }

    /// The PHC string of a password that `problem` has passed.
    public func hash(_ password: String) async throws(ServiceError) -> String {
        let bytes = Array(Text.normalized(password).utf8)
        return try await run { [scrypt] in try? scrypt.hash(bytes) }
    }

    /// Whether `text` is a hash that `verify` understands: one of ours, or of another system.
    public static func canVerify(_ text: String) -> Bool {
        Scrypt.isHash(text) || ForeignPasswordHash(text) != nil
    }

    /// Whether `password` is the one behind `phc`. A nil `phc` takes as long and answers false, so that an unknown user
    /// cannot be told from a wrong password.
    ///
    /// The hash of another system is verified beside a scrypt of nothing: whoever asks waits for the longer of the two,
    /// which is the scrypt, so that users who came from there cannot be told from others either.
    public func verify(_ password: String, against phc: String?) async throws(ServiceError) -> Bool {
        let bytes = Array(Text.normalized(password).utf8)
        let isPossible = bytes.count <= Self.byteCountMax && !bytes.contains(0)
        let work = isPossible ? bytes : []
        return try await run { [scrypt] () -> Bool? in
            // A password that no hash can have been made of costs the same and is wrong.
            guard isPossible, let phc else { return (try? scrypt.verifyAgainstNothing(work)).map { false } }
            if let foreign = ForeignPasswordHash(phc) {
                // Others did not normalise what was typed.
                let typed = Array(password.utf8)
                let candidates = typed == work ? [work] : [work, typed]
                return Self.verify(candidates, against: foreign, beside: scrypt)
            }
            return try? scrypt.verify(work, against: phc)
        }
    }

    /// Whether the password should be hashed again, because the parameters have risen since.
    public func needsRehash(_ phc: String) -> Bool { scrypt.needsRehash(phc) }

    private static func verify(
        _ candidates: [[UInt8]], against foreign: ForeignPasswordHash, beside scrypt: Scrypt
    ) -> Bool? {
        let isRight = Locked<Bool?>(nil)
        let hasWaited = Locked(false)
        DispatchQueue.concurrentPerform(iterations: 2) { part in
            if part == 0 {
                let result = (try? scrypt.verifyAgainstNothing(candidates[0])) != nil
                hasWaited.withLock { $0 = result }
            } else {
                let result = try? candidates.contains { candidate in try foreign.verify(candidate) }
                isRight.withLock { $0 = result }
            }
        }
        return hasWaited.withLock { $0 } ? isRight.withLock { $0 } : nil
    }

    /// What `work` comes to; overloaded when it came to nothing, or too late to its turn.
    private func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value?) async throws(ServiceError) -> Value {
        guard pending.add(1, ordering: .relaxed).newValue <= pendingMax else {
            pending.subtract(1, ordering: .relaxed)
            throw .overloaded
        }
        defer { pending.subtract(1, ordering: .relaxed) }
        let queue = queues[next.add(1, ordering: .relaxed).oldValue % queues.count]
        let (now, start) = (now, now())
        let value: Value? = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: now() - start > Self.waitMax ? nil : work()) }
        }
        guard let value else { throw .overloaded }
        return value
    }
}
