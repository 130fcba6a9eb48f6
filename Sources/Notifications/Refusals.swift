internal import Locks

/// How often a receiver has refused the message that is next. Other failures between do not count, because a receiver that was down
/// has said nothing about the message. Copies share the count.
struct Refusals: Sendable {
    private struct Last {
        var id = ""
        var count = 0
    }

    private let last = Locked(Last())

    /// Counts one more refusal of the message `id`. Returns how many there are.
    func count(_ id: String) -> Int {
        last.withLock { last in
            if last.id != id { last = Last(id: id) }
            last.count += 1
            return last.count
        }
    }
}
