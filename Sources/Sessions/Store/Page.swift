/// The result of one step of clean-up.
public struct RowSweep: Hashable, Sendable {
    /// How many rows it looked at.
    public let looks: Int
    /// How many of them it deleted.
    public let deleted: Int

    /// A result.
    public init(looks: Int, deleted: Int) { (self.looks, self.deleted) = (looks, deleted) }
}

/// A part of a list.
public struct Page<Item: Sendable>: Sendable {
    /// The items, in the list's order.
    public var items: [Item]
    /// The position after which the next page begins; nil on the last page.
    public var nextCursor: String?

    /// A page.
    public init(items: [Item], nextCursor: String?) {
        self.items = items
        self.nextCursor = nextCursor
    }

    /// The number of rows that a page of `limit` items reads. It is one more than the page shows, because that row tells
    /// whether there is another page.
    static func rows(for limit: Int) -> Int { limit == .max ? limit : limit + 1 }

    /// The first `limit` of the rows that were read for the page.
    init(_ rows: [Item], limit: Int, cursor: (Item) -> String) {
        items = Array(rows.prefix(limit))
        nextCursor = rows.count > limit ? items.last.map(cursor) : nil
    }
}
