/// Numbers over time, as columns. Each column has a part that stands out.
public struct ColumnChart: Sendable {
    /// A column.
    public struct Column: Sendable {
        /// What it is for, for readers that point at it.
        public var label: String
        /// The whole height.
        public var total: Int
        /// The part that stands out.
        public var marked: Int

        /// A column.
        public init(_ label: String, total: Int, marked: Int = 0) {
            self.label = label
            self.total = total
            self.marked = marked
        }
    }

    /// What is counted.
    public var title: String
    /// What the parts that stand out are; nil: there are none.
    public var markedTitle: String?
    /// From the oldest to the newest.
    public var columns: [Column]
    /// What the first and the last column are.
    public var ends: (first: String, last: String)

    /// A chart.
    public init(_ title: String, marked: String? = nil, columns: [Column], ends: (first: String, last: String)) {
        self.title = title
        markedTitle = marked
        self.columns = columns
        self.ends = ends
    }

    private static let height = 100

    var html: HTML {
        let top = Swift.max(1, columns.map(\.total).max() ?? 0)
        let sum = columns.map(\.total).reduce(0, +)
        let marked = columns.map(\.marked).reduce(0, +)
        return """
            <figure class="chart"><figcaption><strong>\(title)</strong> \
            <span class="hint">\(sum) in all, \(top) at most\(markedTitle.map { ", \(marked) \($0)" } ?? "")</span></figcaption>
            <svg viewBox="0 0 \(columns.count * 10) \(Self.height)" preserveAspectRatio="none" role="img" \
            aria-label="\(title), from \(ends.first) to \(ends.last)">
            <path class="ground" d="M0 \(Self.height)h\(columns.count * 10)"></path>
            \(columns.enumerated().map { bar($1, at: $0 * 10, top: top) })</svg>
            <p class="ends"><span>\(ends.first)</span><span>\(ends.last)</span></p></figure>

            """
    }

    private func bar(_ column: Column, at x: Int, top: Int) -> HTML {
        let height = column.total * Self.height / top
        let marked = column.total == 0 ? 0 : column.marked * height / column.total
        if column.total == 0 { return HTML() }
        return """
            <g><title>\(column.label): \(column.total)\(markedTitle.map { ", \(column.marked) \($0)" } ?? "")</title>\
            <rect class="bar" x="\(x + 1)" y="\(Self.height - Swift.max(2, height))" width="8" \
            height="\(Swift.max(2, height))"></rect>\
            <rect class="marked" x="\(x + 1)" y="\(Self.height - marked)" width="8" height="\(marked)"></rect></g>

            """
    }
}

/// Shares of a whole, as bars with their numbers.
public struct ShareChart: Sendable {
    /// What is counted.
    public var title: String
    /// The parts with their numbers, in the order in which they are shown.
    public var parts: [(label: ConsoleText, count: Int)]
    /// The sentence without parts.
    public var empty: String

    /// A chart.
    public init(_ title: String, parts: [(label: ConsoleText, count: Int)], empty: String) {
        self.title = title
        self.parts = parts
        self.empty = empty
    }

    var html: HTML {
        if parts.isEmpty { return "<p class=\"hint\">\(empty)</p>\n" }
        let top = Swift.max(1, parts.map(\.count).max() ?? 0)
        return """
            <table class="shares"><caption>\(title)</caption>
            <tbody>
            \(parts.map { row($0.label, $0.count, top) })</tbody></table>

            """
    }

    private func row(_ label: ConsoleText, _ count: Int, _ top: Int) -> HTML {
        """
        <tr><th scope="row">\(label.html)</th><td>\(count)</td><td class="share">\
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">\
        <rect class="bar" x="0" y="0" width="\(count * 100 / top)" height="8"></rect></svg></td></tr>

        """
    }
}
