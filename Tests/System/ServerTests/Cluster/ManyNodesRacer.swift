import JSON
import Dispatch
import HTTP
import Locks

@testable import sojourn

/// A client that asks one node the same thing again and again, on a thread of its own, and remembers of every answer whether the
/// request was sent after a change had been acknowledged elsewhere.
final class ManyNodesRacer: Sendable {
    enum Question: CaseIterable, Sendable { case refresh, profile, verify }

    /// What it saw.
    struct Sight: Sendable {
        /// Answers as if the change had not been made: to requests sent before it was acknowledged, and after.
        var unchanged = (before: 0, after: 0)
        /// Answers to requests sent after it was acknowledged that obey it.
        var obedient = 0
        /// Answers that are neither.
        var strange: [String] = []
    }

    private static let needed = 3
    private let sight = Locked(Sight())
    private let acknowledgement = Locked<ContinuousClock.Instant?>(nil)
    private let group = DispatchGroup()

    /// Begins to ask. `isUnchanged` says of an answer whether it is as before the change, nil if it is strange.
    init(
        _ question: Question, of stay: ManyNodes.Stay, at node: CrashServer,
        _ isUnchanged: @escaping @Sendable (CrashServer.Answer) -> Bool?
    ) {
        DispatchQueue(label: "racer").async(group: group) { [self] in
            var stay = stay
            while !isDone {
                let sent = ContinuousClock.now
                let answer = Self.ask(question, &stay, node)
                let isLate = acknowledgement.withLock { $0.map { sent > $0 } } ?? false
                sight.withLock { sight in
                    switch answer.flatMap({ isUnchanged($0) }) {
                    case true? where isLate: sight.unchanged.after += 1
                    case true?: sight.unchanged.before += 1
                    case false? where isLate: sight.obedient += 1
                    // Made, and on its way to the caller that asked for it.
                    case false?: break
                    case nil: sight.strange.append("\(question) \(answer?.status ?? 0) \(answer?.json ?? .null)")
                    }
                }
            }
        }
    }

    private var isDone: Bool {
        sight.withLock { $0.obedient >= Self.needed || $0.unchanged.after > 0 || !$0.strange.isEmpty }
    }

    private static func ask(
        _ question: Question, _ stay: inout ManyNodes.Stay, _ node: CrashServer
    ) -> CrashServer.Answer? {
        switch question {
        case .profile: return node.call(.get, "/v1/me", bearer: stay.access)
        case .verify: return node.call(.get, "/v1/verify", bearer: stay.access)
        case .refresh:
            let answer = node.refresh(stay.refresh)
            if let next = try? ManyNodes.Stay(answer) { stay = next }
            return answer
        }
    }

    /// Waits until the race is on.
    func awaitAnswers() async {
        while sight.withLock({ $0.unchanged.before < 2 && $0.strange.isEmpty }) {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// The change was acknowledged just now.
    func acknowledge() {
        let now = ContinuousClock.now
        acknowledgement.withLock { $0 = now }
    }

    /// Waits for the answers to a few more requests, and gives everything that was seen.
    func end() async -> Sight {
        await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
        return sight.withLock { $0 }
    }
}
