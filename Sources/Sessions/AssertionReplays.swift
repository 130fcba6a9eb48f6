internal import Cryptography
internal import Locks

/// The assertions that clients have used up, as long as they could be used again (RFC 7523 section 3, `jti`).
///
/// Two generations, each as long as the longest life of an assertion: what is in neither has expired. Only what a client
/// has truly signed gets here, so that a stranger fills nothing; a full generation refuses rather than forgets.
final class AssertionReplays: Sendable {
    /// Of one generation: a few megabytes, and hundreds of assertions per second.
    static let countMax = 100_000

    private struct State {
        var startedAt: Int64 = .min
        var current: Set<[UInt8]> = []
        var previous: Set<[UInt8]> = []
    }

    private let state = Locked(State())
    private let generation: Int64

    /// `longest` is how many seconds an assertion lives at most.
    init(longest: Int64) { generation = longest }

    /// What came of an assertion.
    enum Outcome: Hashable, Sendable {
        /// It is new, and used up now.
        case fresh
        /// It was used before.
        case replayed
        /// There are more than can be remembered.
        case full
    }

    /// Uses up the assertion `id` of a client.
    func use(_ id: String, of client: String, at now: Instant) -> Outcome {
        // Client ids hold no NUL.
        let digest = Array(sha256(Array("\(client)\0\(id)".utf8)).prefix(16))
        let seconds = now.secondsSinceEpoch
        return state.withLock { state in
            if state.startedAt == .min {
                state.startedAt = seconds
            } else if seconds - state.startedAt >= generation {
                // After two generations of silence, what was remembered last has expired as well.
                state.previous = seconds - state.startedAt >= 2 * generation ? [] : state.current
                state.current = []
                state.startedAt = seconds
            }
            if state.current.contains(digest) || state.previous.contains(digest) { return .replayed }
            guard state.current.count < Self.countMax else { return .full }
            state.current.insert(digest)
            return .fresh
        }
    }
}
