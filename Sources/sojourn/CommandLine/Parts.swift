import Sessions

/// All rows of one kind, a part at a time, each read from behind the last row of the part before.
struct Parts<Row: Sendable> {
    /// Rows of one part.
    static var size: Int { 1000 }

    private let read: (Row?) async throws(StoreError) -> [Row]
    private var last: Row?
    private var isAtEnd = false

    /// - Parameter read: gives the rows after one, no more than `size`, and fewer only at the end.
    init(_ read: @escaping (_ last: Row?) async throws(StoreError) -> [Row]) { self.read = read }

    /// The next part, which can be empty; nil behind the last one.
    mutating func next() async throws(StoreError) -> [Row]? {
        if isAtEnd { return nil }
        let part = try await read(last)
        isAtEnd = part.count < Self.size
        last = part.last
        return part
    }
}

extension Parts<Revocation> {
    /// All that still matters at `now` in the feed of `store`.
    init(ofFeedIn store: any Store, at now: Instant) {
        self.init { last async throws(StoreError) in
            try await store.revocations(after: last?.number ?? 0, at: now, limit: Self.size)
        }
    }
}
