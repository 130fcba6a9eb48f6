internal import Sessions
internal import StoreFoundation

/// Rows to be written, column by column: one array parameter for each column, for `unnest`. The types of the columns follow from
/// what writes a row, so that no list of them has to agree with it.
struct ColumnArrays: WrittenRow, Sendable {
    /// The number of rows.
    private(set) var count = 0
    private var columns: [ArrayParameter] = []
    /// The index of the column that the present row gets next.
    private var next = 0

    /// No rows, of the columns that `write` adds. Its values are discarded.
    init(typedBy write: (inout ColumnArrays) -> Void) {
        write(&self)
        columns = columns.map { ArrayParameter(of: $0.element) }
    }

    /// Adds a row of the values that `write` adds.
    mutating func append(_ write: (inout ColumnArrays) -> Void) {
        next = 0
        write(&self)
        assert(next == columns.count, "a value for every column")
        count += 1
    }

    /// The arrays, in the order of the columns.
    var parameters: [Parameter] { columns.map(\.parameter) }

    /// The number of columns.
    var width: Int { columns.count }

    /// `$3::uuid[], $4::bigint[]`: a parameter for each column. The first has the number `first`.
    func placeholders(from first: Int) -> String {
        columns.enumerated().map { "$\(first + $0)::\($1.element)[]" }.joined(separator: ", ")
    }

    mutating func add(_ number: Int64?) { columns[column(of: .bigint)].append(number) }
    mutating func add(_ flag: Bool) { columns[column(of: .boolean)].append(flag) }
    mutating func add(_ text: String?) { columns[column(of: .text)].append(text) }
    mutating func add(_ bytes: [UInt8]?) { columns[column(of: .bytea)].append(bytes) }
    mutating func add<Subject>(_ identifier: Identifier<Subject>?) { columns[column(of: .uuid)].append(identifier) }

    /// The index of the next column. The first row makes the columns.
    private mutating func column(of element: ArrayParameter.Element) -> Int {
        if next == columns.count { columns.append(ArrayParameter(of: element)) }
        defer { next += 1 }
        return next
    }
}
