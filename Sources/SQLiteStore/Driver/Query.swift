internal import StoreFoundation
internal import Synchronization

/// A text of SQL that a connection prepares once and keeps. Made as static constants: there are as many as the program's text has.
final class Query: Sendable {
    let text: String
    /// Where a connection keeps its statement.
    let number: Int

    private static let count = Atomic(0)

    init(_ text: String) {
        self.text = text
        number = Self.count.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    /// Inserts a row of `columns`, with one more column before them.
    convenience init(
        inserting first: String?, _ columns: Columns, into table: String, _ resolution: String = "",
        onConflict: String = ""
    ) {
        let names = (first.map { [$0] } ?? []) + columns.names
        let marks = names.map { _ in "?" }
        self.init(
            """
            INSERT \(resolution) INTO \(table) (\(names.joined(separator: ", ")))
            VALUES (\(marks.joined(separator: ", "))) \(onConflict)
            """)
    }
}
