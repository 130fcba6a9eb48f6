/// What one step of clean-up came to.
public struct SweepStep: Hashable, Sendable {
    /// Where the next step begins; nil at the end of the table.
    public var cursor: Identifier<Session>?
    /// How many rows were deleted.
    public var deleted: Int

    /// A step.
    public init(cursor: Identifier<Session>?, deleted: Int) {
        self.cursor = cursor
        self.deleted = deleted
    }
}

/// A part of a list.
public struct Page<Item: Sendable>: Sendable {
    /// The items, in the list's order.
    public var items: [Item]
    /// Where the next page begins; nil on the last page.
    public var nextCursor: String?

    /// A page.
    public init(items: [Item], nextCursor: String?) {
        self.items = items
        self.nextCursor = nextCursor
    }

    /// How many rows a page of `limit` items reads: one more than it shows tells whether there is another page.
    static func rows(for limit: Int) -> Int { limit == .max ? limit : limit + 1 }

    /// The first `limit` of the rows that were read for the page.
    init(_ rows: [Item], limit: Int, cursor: (Item) -> String) {
        items = Array(rows.prefix(limit))
        nextCursor = rows.count > limit ? items.last.map(cursor) : nil
    }
}
