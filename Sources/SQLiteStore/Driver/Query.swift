internal import StoreFoundation
internal import Synchronization

/// SQL text that a connection prepares once and caches. Queries are static constants, so their number is fixed by the program's
/// text.
final class Query: Sendable {
    let text: String
    /// The index of the statement in a connection's cache.
    let number: Int

    private static let count = Atomic(0)

    init(_ text: String) {
        self.text = text
        number = Self.count.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    /// Assigns a parameter to each of `columns` in the rows that meet `condition`.
    convenience init(updating columns: Columns, of table: String, _ condition: String) {
        let assignments = columns.names.map { "\($0) = ?" }.joined(separator: ", ")
        self.init("UPDATE \(table) SET \(assignments) WHERE \(condition)")
    }

    /// Inserts a row of `columns`, optionally with one more column before them.
    convenience init(
        inserting first: String?, _ columns: Columns, into table: String, onConflict: String = ""
    ) {
        let names = (first.map { [$0] } ?? []) + columns.names
        let marks = names.map { _ in "?" }
        self.init(
            """
            INSERT INTO \(table) (\(names.joined(separator: ", ")))
            VALUES (\(marks.joined(separator: ", "))) \(onConflict)
            """)
    }

    /// Inserts a row of `columns`, or replaces them in the row with the same key: the first of all these columns. Columns that
    /// only a newer program knows stay as they are.
    convenience init(replacing first: String?, _ columns: Columns, in table: String) {
        let names = (first.map { [$0] } ?? []) + columns.names
        let replacements = names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        self.init(
            inserting: first, columns, into: table,
            onConflict: "ON CONFLICT (\(names[0])) DO UPDATE SET \(replacements)")
    }
}
