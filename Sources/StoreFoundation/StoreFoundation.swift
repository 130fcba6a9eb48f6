// StoreFoundation: the parts that the backends of the store share.
//
// This module owns the conversion between rows and values of the domain, the names of the columns, and a queue that forms
// batches. It must not know a database, nor any SQL except lists of columns and conditions on them.
//
// Reading order: this file (StoredRow, Columns), WrittenRow, Columns/SessionColumns and those of the other tables, BatchQueue,
// PlannedMigration.

public import Sessions

/// A row that no version of this program has written. The text says what is wrong with it.
public struct CorruptRow: Error, Hashable, Sendable {
    /// The description, for the log.
    public let text: String
    /// Whether the row is not the requested one. Then an index is damaged, and not only this row.
    public let isOtherRow: Bool

    /// An error with that description.
    public init(_ text: String, isOtherRow: Bool = false) {
        self.text = text
        self.isOtherRow = isOtherRow
    }
}

/// The present row of a result, read column by column from the left.
public protocol StoredRow {
    /// Whether the next column is null. Does not advance.
    var isNull: Bool { get }
    /// The name of the column that was read last, for errors.
    var lastColumn: String { get }
    /// Skips `count` columns.
    mutating func skip(_ count: Int)
    /// Reads an integer.
    mutating func integer() -> Int64
    /// Reads a Boolean value.
    mutating func bool() -> Bool
    /// Reads a text; null reads as an empty text.
    mutating func text() -> String
    /// Reads bytes; null reads as no bytes.
    mutating func bytes() -> [UInt8]
    /// Reads 16 bytes as two big-endian numbers, the first eight bytes in `high`; nil for any other number of bytes.
    mutating func words() -> (high: UInt64, low: UInt64)?
}

extension StoredRow {
    /// Reads the 64 bits of a serial or a hash, as they were written.
    public mutating func unsigned() -> UInt64 { UInt64(bitPattern: integer()) }

    /// Reads a time in Unix seconds.
    public mutating func instant() -> Instant { Instant(secondsSinceEpoch: integer()) }

    /// Reads a duration in whole seconds.
    public mutating func duration() -> Duration { .seconds(integer()) }

    /// Reads a device from four columns.
    mutating func device() -> Device {
        Device(id: text(), name: optionalText(), platform: optionalText(), appVersion: optionalText())
    }

    /// Reads a list of texts, which are separated by spaces.
    mutating func list() -> [String] {
        let text = text()
        // Most lists have one element.
        guard text.utf8.contains(UInt8(ascii: " ")) else { return text.isEmpty ? [] : [text] }
        return text.split(separator: " ").map(String.init)
    }

    /// Nil for null; otherwise the result of `read`.
    public mutating func optional<Value, Problem: Error>(
        _ read: (inout Self) throws(Problem) -> Value
    ) throws(Problem) -> Value? {
        if isNull {
            skip(1)
            return nil
        }
        return try read(&self)
    }

    /// Reads a text; nil for null.
    public mutating func optionalText() -> String? { optional { row in row.text() } }

    /// Reads a time in Unix seconds; nil for null.
    public mutating func optionalInstant() -> Instant? { optional { row in row.instant() } }

    /// Reads an identifier; nil for null.
    public mutating func optionalIdentifier<Subject>() throws(CorruptRow) -> Identifier<Subject>? {
        try optional { (row) throws(CorruptRow) in try row.identifier() }
    }

    /// Reads an identifier. It must be `known`, if the statement searched for that.
    public mutating func identifier<Subject>(
        _ known: Identifier<Subject>? = nil
    ) throws(CorruptRow) -> Identifier<Subject> {
        guard let words = words() else {
            throw CorruptRow("an identifier in \(lastColumn) is not 16 bytes long")
        }
        let identifier = Identifier<Subject>(words: words)
        if let known, identifier != known {
            throw CorruptRow("an index leads to another row in \(lastColumn)", isOtherRow: true)
        }
        return identifier
    }

    /// Reads a raw value of an enumeration.
    public mutating func word<Word: RawRepresentable<String>>(as: Word.Type) throws(CorruptRow) -> Word {
        let text = text()
        guard let word = Word(rawValue: text) else {
            throw CorruptRow("'\(text)' in \(lastColumn) is none of its words")
        }
        return word
    }

    /// Reads a raw value of an enumeration; nil for null.
    mutating func optionalWord<Word: RawRepresentable<String>>(as: Word.Type) throws(CorruptRow) -> Word? {
        try optional { (row) throws(CorruptRow) in try row.word(as: Word.self) }
    }

    /// Reads a list of scopes.
    mutating func scope() throws(CorruptRow) -> Scope {
        let text = text()
        guard let scope = Scope(text) else { throw CorruptRow("'\(text)' in \(lastColumn) is no scope") }
        return scope
    }
}

/// The names of columns, for the text of a statement.
public struct Columns: Sendable {
    /// The names, in the order of reading and writing.
    public let names: [String]

    init(_ names: String...) { self.names = names }

    init(_ names: [String]) { self.names = names }

    /// The columns of `left`, then those of `right`.
    static func + (left: Columns, right: Columns) -> Columns { Columns(left.names + right.names) }

    /// `a, b, c`
    public var list: String { names.joined(separator: ", ") }

    /// `t.a, t.b, t.c`
    public func list(of table: String) -> String { names.map { "\(table).\($0)" }.joined(separator: ", ") }

    /// `b = excluded.b, c = excluded.c`: replaces every column except the key, which is the first.
    public var replacements: String { names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ") }

    /// `$1, $2, $3`: one parameter for each column. The first has the number `first`.
    public func placeholders(from first: Int = 1) -> String {
        names.indices.map { "$\(first + $0)" }.joined(separator: ", ")
    }

    /// `a = v.a, b = v.b`: assigns the columns of `table`.
    public func assignments(of table: String) -> String {
        names.map { "\($0) = \(table).\($0)" }.joined(separator: ", ")
    }

    /// `a = $1, b = $2`: assigns one parameter to each column. The first has the number `first`.
    public func assignments(from first: Int = 1) -> String {
        names.enumerated().map { "\($1) = $\(first + $0)" }.joined(separator: ", ")
    }
}
