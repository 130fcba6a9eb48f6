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

    /// What comes of the wait of a password.
    private enum Turn: Sendable {
        case hash
        /// It has waited for too long.
        case late
        /// Another password has its place.
        case displaced
    }

    private struct Work: Sendable {
        let since: ContinuousClock.Instant
        /// Gets what comes of the wait. The second parameter frees the place, before the result is handed over.
        let run: @Sendable (Turn, () -> Void) -> Void
    }

    private struct State {
        var queue: PasswordHashQueue<Work>
        /// The threads that hash nothing at present.
        var idle: [DispatchQueue]
        /// How many passwords of each priority were refused a place, or have lost it.
        var refused: [Priority: Int] = [:]
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
                queue: PasswordHashQueue<Work>(pendingMax: pendingMax),
                idle: (0..<max(1, width)).map { DispatchQueue(label: "password-hasher-\($0)") }))
        self.now = now
    }

    /// How many passwords of that priority wait, or are being hashed.
    public func pending(_ priority: Priority) -> Int { state.withLock { $0.queue.pending(priority) } }

    /// How many passwords of that priority were refused a place in the queue, or have lost it to another one.
    public func refused(_ priority: Priority) -> Int { state.withLock { $0.refused[priority, default: 0] } }

    /// Whether a password that comes now has to wait.
    var isBusy: Bool { state.withLock { $0.idle.isEmpty } }

    /// The error in a new password, as the end of a sentence that begins with its name; nil if it is valid.
    public static func problem(with password: String) -> String? {
        if password.utf8.contains(0) { return "must not contain a NUL character" }
        let normalized = Text.normalized(password)
        if normalized.unicodeScalars.count < lengthMin { return "must have at least \(lengthMin) characters" }
        if normalized.utf8.count > byteCountMax { return "must have at most \(byteCountMax) bytes" }
        return nil
    }

    /// The PHC string of a password that `problem` has passed.
    func hash(_ password: String, for requester: Requester) async throws(ServiceError) -> String {
        let bytes = Array(Text.normalized(password).utf8)
        return try await run(for: requester) { [scrypt] in try? scrypt.hash(bytes) }
    }

    /// Returns true if `verify` accepts `text` as a hash: one of this server or of another system.
    public static func canVerify(_ text: String) -> Bool {
        Scrypt.isHash(text) || ForeignPasswordHash(text) != nil
    }

    /// Returns true if `password` matches the hash `phc`. A nil `phc` takes the same time and returns false, so that a caller
    /// cannot distinguish an unknown user from a wrong password. Throws `passwordQueueFull` and `overloaded`.
    ///
    /// The hash of another system is verified beside a scrypt of nothing: the answer waits for the longer of the two, which is
    /// the scrypt, so that the duration does not tell imported users from others.
    func verify(
        _ password: String, against phc: String?, for requester: Requester
    ) async throws(ServiceError) -> Bool {
        let bytes = Array(Text.normalized(password).utf8)
        let isPossible = bytes.count <= Self.byteCountMax && !bytes.contains(0)
        let work = isPossible ? bytes : []
        let isRight = try await run(for: requester) { [scrypt] () -> Bool? in
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
        if !isRight {
            let now = now()
            state.withLock { $0.queue.noteWrong(from: requester, at: now) }
        }
        return isRight
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

    /// The result of `work`. Throws `passwordQueueFull` if it has no place in the queue, and `overloaded` if its turn comes too
    /// late or it has no result.
    private func run<Value: Sendable>(
        for requester: Requester, _ work: @escaping @Sendable () -> Value?
    ) async throws(ServiceError) -> Value {
        // The request may have been answered 503 before this password of several.
        if Task.isCancelled { throw .overloaded }
        let start = now()
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, ServiceError>, Never>) in
            let waiting = Work(since: start) { turn, leave in
                let result: Result<Value, ServiceError> =
                    switch turn {
                    case .hash: work().map { .success($0) } ?? .failure(.overloaded)
                    case .late: .failure(.overloaded)
                    case .displaced: .failure(.passwordQueueFull)
                    }
                leave()
                continuation.resume(returning: result)
            }
            let (rejected, idle) = state.withLock { state in
                let rejected = Self.enter(waiting, of: requester, &state)
                return (rejected, state.idle.popLast())
            }
            rejected?.run(.displaced) {}
            if let idle { idle.async { self.takeTurns(on: idle) } }
        }
        return try result.get()
    }

    /// Has `work` wait. Returns the work that gets no turn: one that has lost its place, or this one.
    private static func enter(_ work: Work, of requester: Requester, _ state: inout State) -> Work? {
        switch state.queue.admit(work, of: requester, at: work.since) {
        case .waiting(_, displaced: nil): return nil
        case .waiting(let priority, displaced: let displaced?):
            state.refused[priority, default: 0] += 1
            return displaced
        case .refused(let priority):
            state.refused[priority, default: 0] += 1
            return work
        }
    }

    /// Hashes on `thread` until no password waits.
    private func takeTurns(on thread: DispatchQueue) {
        while let (work, place) = state.withLock({ state in
            let next = state.queue.next()
            if next == nil { state.idle.append(thread) }
            return next
        }) {
            let isInTime = now() - work.since <= Self.waitMax
            if isInTime { state.withLock { $0.queue.taken(by: place.priority) } }
            work.run(isInTime ? .hash : .late) { state.withLock { $0.queue.leave(place) } }
        }
    }
}
