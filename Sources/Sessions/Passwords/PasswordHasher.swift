public import Cryptography
internal import Dispatch
internal import Locks

/// Hashes and verifies passwords outside the event loops, few at a time, because scrypt with N = 2^17 takes 128 MiB and a third
/// of a second for each password.
public final class PasswordHasher: Sendable {
    /// The smallest number of characters of a new password.
    public static let lengthMin = 8
    /// The largest password in bytes of UTF-8 after normalisation. All bytes are significant.
    public static let byteCountMax = Scrypt.longestPassword

    /// The time after which a waiting password is no longer hashed, because its sender was answered 503, and the hash would
    /// only delay the next passwords.
    static let waitMax = Duration.seconds(10)

    /// The sender of a password.
    public enum Sender: Hashable, Sendable {
        /// An unauthenticated caller: a login.
        case anybody
        /// A caller with a secret of that user beside the password: a session's token or a reset token.
        case user(Identifier<User>)

        var room: Room {
            switch self {
            case .anybody: .anybody
            case .user: .users
            }
        }
    }

    /// The two queues. A flood of logins leaves the queue of `users` free, which has priority.
    public enum Room: String, CaseIterable, Sendable {
        case users, anybody
    }

    private struct Work: Sendable {
        let since: ContinuousClock.Instant
        /// Runs the work; false means that it has waited too long.
        let run: @Sendable (Bool) -> Void
    }

    private struct State {
        var turns: PasswordHashQueue<Work>
        /// The queues that are idle.
        var idle: [DispatchQueue]
    }

    private let scrypt: Scrypt
    private let state: Locked<State>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// Creates a hasher that hashes `width` passwords at a time and lets `pendingMax` wait in each queue. Tests give a cheaper
    /// `scrypt`.
    public init(
        scrypt: Scrypt = .standard, width: Int = 2, pendingMax: Int = 64,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.scrypt = scrypt
        state = Locked(
            State(
                turns: PasswordHashQueue<Work>(pendingMax: pendingMax),
                idle: (0..<max(1, width)).map { DispatchQueue(label: "password-hasher-\($0)") }))
        self.now = now
    }

    /// The number of passwords of `room` that wait or are being hashed.
    public func pending(_ room: Room) -> Int { state.withLock { $0.turns.pending(room) } }

    /// The error in a new password, as the end of a sentence that begins with its name; nil if it is valid.
    public static func problem(with password: String) -> String? {
        if password.utf8.contains(0) { return "must not contain a NUL character" }
        let normalized = Text.normalized(password)
        if normalized.unicodeScalars.count < lengthMin { return "must have at least \(lengthMin) characters" }
        if normalized.utf8.count > byteCountMax { return "must have at most \(byteCountMax) bytes" }
        return nil
    }

    /// Returns the PHC string of a password that `problem` has accepted. Throws `overloaded`.
    public func hash(_ password: String, for sender: Sender = .anybody) async throws(ServiceError) -> String {
        let bytes = Array(Text.normalized(password).utf8)
        return try await run(for: sender) { [scrypt] in try? scrypt.hash(bytes) }
    }

    /// Returns true if `verify` accepts `text` as a hash: one of this server or of another system.
    public static func canVerify(_ text: String) -> Bool {
        Scrypt.isHash(text) || ForeignPasswordHash(text) != nil
    }

    /// Returns true if `password` matches the hash `phc`. A nil `phc` takes the same time and returns false, so that a caller
    /// cannot distinguish an unknown user from a wrong password. Throws `overloaded`.
    ///
    /// The hash of another system is verified in parallel to a scrypt of nothing. The longer of the two is the scrypt, so that
    /// imported users cannot be distinguished from others either.
    public func verify(
        _ password: String, against phc: String?, for sender: Sender = .anybody
    ) async throws(ServiceError) -> Bool {
        let bytes = Array(Text.normalized(password).utf8)
        let isPossible = bytes.count <= Self.byteCountMax && !bytes.contains(0)
        let work = isPossible ? bytes : []
        return try await run(for: sender) { [scrypt] () -> Bool? in
            // A password that no hash can have takes the same time and is wrong.
            guard isPossible, let phc else { return (try? scrypt.verifyAgainstNothing(work)).map { false } }
            if let foreign = ForeignPasswordHash(phc) {
                // Other systems did not normalise the password, so that both forms are tried.
                let typed = Array(password.utf8)
                let candidates = typed == work ? [work] : [work, typed]
                return Self.verify(candidates, against: foreign, beside: scrypt)
            }
            return try? scrypt.verify(work, against: phc)
        }
    }

    /// Returns true if the hash has weaker parameters than the current ones and should be replaced.
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

    /// The result of `work`. Throws `overloaded` if the queue is full, the wait was too long, or the work failed.
    private func run<Value: Sendable>(
        for sender: Sender, _ work: @escaping @Sendable () -> Value?
    ) async throws(ServiceError) -> Value {
        // A call can need several hashes, and its request may have been cancelled before this one.
        if Task.isCancelled { throw .overloaded }
        guard state.withLock({ $0.turns.admit(sender) }) else { throw .overloaded }
        defer { state.withLock { $0.turns.leave(sender) } }
        let start = now()
        let value: Value? = await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
            let waiting = Work(since: start) { isInTime in continuation.resume(returning: isInTime ? work() : nil) }
            let idle = state.withLock { state in
                state.turns.append(waiting, of: sender)
                return state.idle.popLast()
            }
            if let idle { idle.async { self.takeTurns(on: idle) } }
        }
        guard let value else { throw .overloaded }
        return value
    }

    /// Hashes on `queue` until no password waits.
    private func takeTurns(on queue: DispatchQueue) {
        while let (work, room) = state.withLock({ state in
            let next = state.turns.next()
            if next == nil { state.idle.append(queue) }
            return next
        }) {
            let isInTime = now() - work.since <= Self.waitMax
            if isInTime { state.withLock { $0.turns.taken(by: room) } }
            work.run(isInTime)
        }
    }
}
