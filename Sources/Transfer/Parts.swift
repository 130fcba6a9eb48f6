internal import Sessions

/// All rows of one kind, read in parts; each part begins after the last row of the part before.
struct Parts<Row: Sendable> {
    /// The number of rows of one part.
    static var size: Int { 1000 }

    private let read: (Row?) async throws(StoreError) -> [Row]
    private var last: Row?
    private var isAtEnd = false

    /// - Parameter read: returns the rows after one, at most `size`, and fewer only at the end.
    init(_ read: @escaping (_ last: Row?) async throws(StoreError) -> [Row]) { self.read = read }

    /// The next part, which can be empty; nil after the last one.
    mutating func next() async throws(StoreError) -> [Row]? {
        if isAtEnd { return nil }
        let part = try await read(last)
        isAtEnd = part.count < Self.size
        last = part.last
        return part
    }
}

extension Parts<Revocation> {
    /// The revocations in the feed of `store` that still matter at `now`.
    init(ofFeedIn store: any Store, at now: Instant) {
        self.init { last async throws(StoreError) in
            try await store.revocations(after: last?.number ?? 0, at: now, limit: Self.size)
        }
    }
}
