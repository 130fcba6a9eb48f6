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

    /// A password that has waited this long is not hashed any more, because its request was answered 503 meanwhile.
    static let waitMax = Duration.seconds(10)

    /// The origin of a password.
    public enum Requester: Hashable, Sendable {
        /// A login, which needs no secret but the password.
        case anonymous
        /// A request with another secret of that user: a token of a session, or a password reset token.
        case user(Identifier<User>)

        var priority: Priority {
            switch self {
            case .anonymous: .anonymous
            case .user: .users
            }
        }
    }

    /// The queue of a password: a flood of logins leaves the queue of users free, which is served first.
    public enum Priority: String, CaseIterable, Sendable {
        case users
        case anonymous = "anybody"
    }

    private struct Work: Sendable {
        let since: ContinuousClock.Instant
        /// Gets whether the work is in time.
        let run: @Sendable (Bool) -> Void
    }

    private struct State {
        var turns: PasswordHashQueue<Work>
        /// The queues that hash nothing at present.
        var idle: [DispatchQueue]
    }

    private let scrypt: Scrypt
    private let state: Locked<State>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// A hasher that works on `width` passwords at a time and lets `pendingMax` of each priority wait. A test gives a cheaper
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

    /// How many passwords of that priority wait, or are being hashed.
    public func pending(_ priority: Priority) -> Int { state.withLock { $0.turns.pending(priority) } }

    /// The error in a new password, as the end of a sentence that begins with its name; nil if it is valid.
    public static func problem(with password: String) -> String? {
        if password.utf8.contains(0) { return "must not contain a NUL character" }
        let normalized = Text.normalized(password)
        if normalized.unicodeScalars.count < lengthMin { return "must have at least \(lengthMin) characters" }
        if normalized.utf8.count > byteCountMax { return "must have at most \(byteCountMax) bytes" }
        return nil
    }

    /// The PHC string of a password that `problem` has passed.
    public func hash(_ password: String, for requester: Requester = .anonymous) async throws(ServiceError) -> String {
        let bytes = Array(Text.normalized(password).utf8)
        return try await run(for: requester) { [scrypt] in try? scrypt.hash(bytes) }
    }

    /// Returns true if `verify` accepts `text` as a hash: one of this server or of another system.
    public static func canVerify(_ text: String) -> Bool {
        Scrypt.isHash(text) || ForeignPasswordHash(text) != nil
    }

    /// Returns true if `password` matches the hash `phc`. A nil `phc` takes the same time and returns false, so that a caller
    /// cannot distinguish an unknown user from a wrong password. Throws `overloaded`.
    ///
    /// The hash of another system is verified beside a scrypt of nothing: the answer waits for the longer of the two, which is
    /// the scrypt, so that the duration does not tell imported users from others.
    public func verify(
        _ password: String, against phc: String?, for requester: Requester = .anonymous
    ) async throws(ServiceError) -> Bool {
        let bytes = Array(Text.normalized(password).utf8)
        let isPossible = bytes.count <= Self.byteCountMax && !bytes.contains(0)
        let work = isPossible ? bytes : []
        return try await run(for: requester) { [scrypt] () -> Bool? in
            // A password that no hash can have been made of costs the same and is wrong.
            guard isPossible, let phc else { return (try? scrypt.verifyAgainstNothing(work)).map { false } }
            if let foreign = ForeignPasswordHash(phc) {
                // Other systems hash the password without normalisation.
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

    /// The result of `work`; overloaded when there is none, or when its turn comes too late.
    private func run<Value: Sendable>(
        for requester: Requester, _ work: @escaping @Sendable () -> Value?
    ) async throws(ServiceError) -> Value {
        // The request may have been answered 503 before this password of several.
        if Task.isCancelled { throw .overloaded }
        guard state.withLock({ $0.turns.admit(requester) }) else { throw .overloaded }
        defer { state.withLock { $0.turns.leave(requester) } }
        let start = now()
        let value: Value? = await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
            let waiting = Work(since: start) { isInTime in continuation.resume(returning: isInTime ? work() : nil) }
            let idle = state.withLock { state in
                state.turns.append(waiting, of: requester)
                return state.idle.popLast()
            }
            if let idle { idle.async { self.takeTurns(on: idle) } }
        }
        guard let value else { throw .overloaded }
        return value
    }

    /// Hashes on `queue` until no password waits.
    private func takeTurns(on queue: DispatchQueue) {
        while let (work, priority) = state.withLock({ state in
            let next = state.turns.next()
            if next == nil { state.idle.append(queue) }
            return next
        }) {
            let isInTime = now() - work.since <= Self.waitMax
            if isInTime { state.withLock { $0.turns.taken(by: priority) } }
            work.run(isInTime)
        }
    }
}
