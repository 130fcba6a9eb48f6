import JSON
import Dispatch
import Glibc
import HTTP
import Locks

@testable import sojourn

/// Clients that never stop refreshing, each with a session of its own and on a thread of its own: at one node or another, with
/// the token that was acknowledged last, and with the same again when no answer came.
final class ManyNodesLoad: Sendable {
    /// What came of it.
    struct Result: Sendable {
        var refreshed = 0
        /// 503 with Retry-After.
        var refused = 0
        /// The connection broke, or no server listened.
        var broken = 0
        /// Everything else: no client is to see it.
        var failures: [String] = []
        /// The longest wait for an answer, of whatever kind.
        var longestWait = Duration.zero
    }

    private let isOver = Locked(false)
    private let result = Locked(Result())
    private let nodes: Locked<[CrashServer]>
    private let stays: Locked<[ManyNodes.Stay]>
    private let group = DispatchGroup()

    /// Starts a client for each stay.
    init(_ stays: [ManyNodes.Stay], at nodes: [CrashServer]) {
        self.stays = Locked(stays)
        self.nodes = Locked(nodes)
        for index in stays.indices {
            DispatchQueue(label: "client \(index)").async(group: group) { [self] in
                while !isOver.withLock({ $0 }), sight.failures.isEmpty { step(index) }
            }
        }
    }

    /// What has come of it so far.
    var sight: Result { result.withLock { $0 } }

    /// One request; whether it was answered with tokens.
    @discardableResult
    private func step(_ index: Int) -> Bool {
        let token = stays.withLock { $0[index].refresh }
        let node = nodes.withLock { $0.randomElement() }
        let sent = ContinuousClock.now
        let answer = node?.refresh(token)
        let wait = ContinuousClock.now - sent
        let stay = try? ManyNodes.Stay(answer)
        if let stay { stays.withLock { $0[index] = stay } }
        result.withLock { result in
            result.longestWait = max(result.longestWait, wait)
            switch answer?.status {
            case 200 where stay != nil: result.refreshed += 1
            case 503 where answer?.retryAfter != nil: result.refused += 1
            case nil: result.broken += 1
            default:
                result.failures.append("client \(index): \(answer?.status ?? 0) \(answer?.json ?? .null)")
            }
        }
        // A refused client does not hammer.
        if stay == nil { usleep(5000) }
        return stay != nil
    }

    /// A node that was started again takes the place of the old one.
    func replace(_ index: Int, by node: CrashServer) { nodes.withLock { $0[index] = node } }

    /// Waits until so many more requests have got tokens.
    func awaitRefreshes(_ count: Int) async {
        let goal = sight.refreshed + count
        await wait { $0.refreshed >= goal }
    }

    /// Waits until `isTrue`, for a minute at most, or until something has failed.
    func wait(until isTrue: (Result) -> Bool) async {
        let deadline = ContinuousClock.now + .seconds(60)
        while !isTrue(sight), sight.failures.isEmpty, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Ends the clients; each refreshes once more with the token that it holds, as often as it takes to be answered.
    func end() async -> Result {
        isOver.withLock { $0 = true }
        await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
        for index in stays.withLock({ $0.indices }) {
            let deadline = ContinuousClock.now + .seconds(20)
            while sight.failures.isEmpty, !step(index) {
                if ContinuousClock.now > deadline { result.withLock { $0.failures.append("no answer at the end") } }
            }
        }
        return sight
    }
}
