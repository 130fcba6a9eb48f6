public import Cryptography
internal import Dispatch
internal import Locks

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

    /// Who sends a password.
    public enum Sender: Hashable, Sendable {
        /// Whoever may: a login, which anybody can send.
        case anybody
        /// Who has shown a secret of that user beside it: a token of a session, or one for a new password.
        case user(Identifier<User>)

        var room: Room {
            switch self {
            case .anybody: .anybody
            case .user: .users
            }
        }
    }

    /// Where passwords wait: a flood of those that anybody can send leaves room for the others, which go first.
    public enum Room: String, CaseIterable, Sendable {
        case users, anybody
    }

    private struct Work: Sendable {
        let since: ContinuousClock.Instant
        /// Told whether it is in time.
        let run: @Sendable (Bool) -> Void
    }

    private struct State {
        var turns: PasswordHashQueue<Work>
        /// Those that hash nothing.
        var idle: [DispatchQueue]
    }

    private let scrypt: Scrypt
    private let state: Locked<State>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// A hasher that works on `width` passwords at a time and lets `pendingMax` wait in each room. A test gives a cheaper `scrypt`.
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

    /// How many passwords wait in that room, or are being hashed.
    public func pending(_ room: Room) -> Int { state.withLock { $0.turns.pending(room) } }

    /// What is wrong with a new password, as the end of a sentence that begins with its name; nil when it will do.
    public static func problem(with password: String) -> String? {
        if password.utf8.contains(0) { return "must not contain a NUL character" }
        let normalized = Text.normalized(password)
        if normalized.unicodeScalars.count < lengthMin { return "must have at least \(lengthMin) characters" }
        if normalized.utf8.count > byteCountMax { return "must have at most \(byteCountMax) bytes" }
        return nil
    }

    /// The PHC string of a password that `problem` has passed.
    public func hash(_ password: String, for sender: Sender = .anybody) async throws(ServiceError) -> String {
        let bytes = Array(Text.normalized(password).utf8)
        return try await run(for: sender) { [scrypt] in try? scrypt.hash(bytes) }
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
    public func verify(
        _ password: String, against phc: String?, for sender: Sender = .anybody
    ) async throws(ServiceError) -> Bool {
        let bytes = Array(Text.normalized(password).utf8)
        let isPossible = bytes.count <= Self.byteCountMax && !bytes.contains(0)
        let work = isPossible ? bytes : []
        return try await run(for: sender) { [scrypt] () -> Bool? in
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
    private func run<Value: Sendable>(
        for sender: Sender, _ work: @escaping @Sendable () -> Value?
    ) async throws(ServiceError) -> Value {
        // Of several that one call needs, the answer may have been given up before this one.
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

    /// Hashes on `queue` until nobody waits.
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
