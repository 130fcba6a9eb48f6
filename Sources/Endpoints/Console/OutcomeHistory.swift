internal import Console
internal import Locks
public import Sessions

/// How refreshes and logins have come out at this node, and which sessions it has recorded to begin and end, minute by minute, in
/// memory. It costs the same however many there are.
public final class OutcomeHistory: Sendable {
    typealias Minute = OutcomeMinute
    typealias Subject = OutcomeMinute.Subject

    /// How many minutes are kept.
    static let length = 120

    private let clock: WallClock
    private let ring: Locked<[Minute?]>
    private let lastCommit = Locked(true)

    /// An empty history, which has the minutes of `clock`.
    public init(_ clock: WallClock) {
        self.clock = clock
        ring = Locked(Array(repeating: nil, count: Self.length))
    }

    /// Whether the last transaction of this node that wrote something was committed; true before the first one.
    var canCommit: Bool { lastCommit.withLock { $0 } }

    /// Records the end of a transaction that was to write something.
    public func note(commit isDone: Bool) { lastCommit.withLock { $0 = isDone } }

    private var present: Int64 { clock.now.secondsSinceEpoch / 60 }

    /// Counts beginnings and ends of sessions in the present minute.
    public func count(_ transitions: [SessionTransition]) {
        for transition in transitions {
            switch transition {
            case .start: count(.start, "started")
            case .end(let reason): count(.end, reason.rawValue)
            }
        }
    }

    /// Counts an outcome in the present minute.
    func count(_ subject: Subject, _ outcome: String) {
        let number = present
        let place = Int(number % Int64(Self.length))
        guard place >= 0 else { return }
        ring.withLock { ring in
            if ring[place]?.number != number { ring[place] = Minute(number: number) }
            ring[place]?.counts[subject.rawValue][outcome, default: 0] += 1
        }
    }

    /// The last `count` minutes, the oldest first, without the one that has not ended.
    func last(_ count: Int) -> [Minute] {
        let (number, known) = (present, ring.withLock { $0 })
        return (1...min(count, Self.length - 1)).reversed().map { age in
            let wanted = number - Int64(age)
            let place = Int(wanted % Int64(Self.length))
            guard place >= 0, let minute = known[place], minute.number == wanted else { return Minute(number: wanted) }
            return minute
        }
    }

    /// The minute that has not ended.
    var running: Minute {
        let number = present
        let place = Int(number % Int64(Self.length))
        guard place >= 0, let minute = ring.withLock({ $0[place] }), minute.number == number else {
            return Minute(number: number)
        }
        return minute
    }
}
