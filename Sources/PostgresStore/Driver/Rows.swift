internal import CPostgres
internal import StoreFoundation

/// The rows of one statement's result, in the binary form.
/// Safe: the pointer stays in this file, and is valid from init to deinit.
@safe final class Rows {
    fileprivate let result: OpaquePointer
    /// The number of rows.
    let count: Int32

    /// Takes ownership of a result.
    init(_ result: OpaquePointer) {
        unsafe self.result = unsafe result
        count = unsafe libpq.PQntuples(result)
    }

    deinit { unsafe libpq.PQclear(result) }

    /// The number of rows that a change affected.
    var changedCount: Int { unsafe Int(String(libpq: libpq.PQcmdTuples(result))) ?? 0 }

    /// The result of `read` for each row.
    func map<Value>(_ read: (inout Row) throws(CorruptRow) -> Value) throws(DatabaseError) -> [Value] {
        try DatabaseError.reading { () throws(CorruptRow) in
            var values: [Value] = []
            values.reserveCapacity(Int(count))
            for index in 0..<count {
                var row = Row(self, index)
                values.append(try read(&row))
            }
            return values
        }
    }

    /// The result of `read` for the first row; nil if there is no row.
    func first<Value>(_ read: (inout Row) throws(CorruptRow) -> Value) throws(DatabaseError) -> Value? {
        guard count > 0 else { return nil }
        return try DatabaseError.reading { () throws(CorruptRow) in
            var row = Row(self, 0)
            return try read(&row)
        }
    }
}

/// One row of a result. Columns have the type `bigint`, `boolean`, `text`, `bytea` or `uuid`.
struct Row: StoredRow {
    private let rows: Rows
    private let index: Int32
    private var column: Int32 = 0

    init(_ rows: Rows, _ index: Int32) {
        self.rows = rows
        self.index = index
    }

    var isNull: Bool { unsafe libpq.PQgetisnull(rows.result, index, column) == 1 }

    var lastColumn: String {
        unsafe libpq.PQfname(rows.result, column - 1).map { unsafe "column \(String(cString: $0))" } ?? "a column"
    }

    mutating func skip(_ count: Int) { column += Int32(count) }

    /// Reads a big-endian number, the byte order of the protocol.
    mutating func integer() -> Int64 { unsafe bytesOfColumn { unsafe $0.reduce(0) { $0 << 8 | Int64($1) } } }

    mutating func bool() -> Bool { integer() != 0 }

    mutating func text() -> String { unsafe bytesOfColumn { unsafe String(decoding: $0, as: UTF8.self) } }

    mutating func bytes() -> [UInt8] { unsafe bytesOfColumn { unsafe Array($0) } }

    mutating func words() -> (high: UInt64, low: UInt64)? {
        unsafe bytesOfColumn { bytes in
            guard bytes.count == 16 else { return nil }
            return unsafe (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    private mutating func bytesOfColumn<Value>(_ read: (UnsafeRawBufferPointer) -> Value) -> Value {
        defer { column += 1 }
        let start = unsafe libpq.PQgetvalue(rows.result, index, column)
        let count = unsafe Int(libpq.PQgetlength(rows.result, index, column))
        return unsafe read(UnsafeRawBufferPointer(start: start, count: count))
    }
}
