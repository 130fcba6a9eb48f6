/// A queue of deadlines, each named by a small number (an index in the owner's table).
///
/// A connection moves its deadline several times per request, nearly always to a later moment. So the owner reports
/// only deadlines that become earlier (`watch` ignores the rest at the cost of a comparison). If a popped key is not
/// due yet, the owner watches it again until its real deadline. The queue is a binary heap that knows the position of
/// each key. It has at most one entry per key, so it never outgrows the owner's table.
public struct DeadlineQueue: Sendable {
    private static let absent: Int32 = -1

    private var heap: [(due: MonotonicInstant, key: Int32)] = []
    private var places: [Int32] = []

    /// Creates an empty queue.
    public init() {}

    /// The earliest moment for which a key is watched.
    public var next: MonotonicInstant? { heap.first?.due }

    /// Watches `key`, so that `popDue` returns it at `due` at the latest.
    public mutating func watch(_ key: Int, until due: MonotonicInstant) {
        while places.count <= key { places.append(Self.absent) }
        let place = Int(places[key])
        if place < 0 {
            heap.append((due, Int32(key)))
            places[key] = Int32(heap.count - 1)
            moveUp(from: heap.count - 1)
        } else if due < heap[place].due {
            heap[place].due = due
            moveUp(from: place)
        }
    }

    /// Returns one key that is due and stops watching it; nil if none is due.
    public mutating func popDue(now: MonotonicInstant) -> Int? {
        guard let first = heap.first, first.due <= now else { return nil }
        swapPlaces(0, heap.count - 1)
        heap.removeLast()
        places[Int(first.key)] = Self.absent
        moveDown(from: 0)
        return Int(first.key)
    }

    private mutating func moveUp(from start: Int) {
        var place = start
        while place > 0, heap[place].due < heap[(place - 1) / 2].due {
            swapPlaces(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func moveDown(from start: Int) {
        var place = start
        while true {
            var earliest = place
            for child in (2 * place + 1)...(2 * place + 2) where child < heap.count {
                if heap[child].due < heap[earliest].due { earliest = child }
            }
            if earliest == place { return }
            swapPlaces(place, earliest)
            place = earliest
        }
    }

    private mutating func swapPlaces(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        places[Int(heap[left].key)] = Int32(left)
        places[Int(heap[right].key)] = Int32(right)
    }
}
