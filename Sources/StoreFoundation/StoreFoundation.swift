// StoreFoundation: what the backends of the store share: how rows become values of the domain and values become rows, which
// columns that takes, and a queue that forms batches. It speaks to no database and knows no SQL but lists of columns.
//
// Reading order: StoredRow, WrittenRow, SessionColumns and the others, BatchQueue.

public import Sessions

/// A row that no version of this program has written; the text says what is wrong with it.
public struct CorruptRow: Error, Hashable, Sendable {
    /// For the log.
    public let text: String
    /// Whether it is another row than the one that was asked for: then an index is damaged, and not only this row.
    public let isOtherRow: Bool

    /// What contradicts itself.
    public init(_ text: String, isOtherRow: Bool = false) {
        self.text = text
        self.isOtherRow = isOtherRow
    }
}

/// The present row of a result, read column by column from the left.
public protocol StoredRow {
    /// Whether the next column is null; does not go past it.
    var isNull: Bool { get }
    /// The name of the column that was read last, for errors.
    var lastColumn: String { get }
    /// Goes past `count` columns.
    mutating func skip(_ count: Int)
    /// A whole number.
    mutating func integer() -> Int64
    /// Yes or no.
    mutating func bool() -> Bool
    /// A text; null is an empty one.
    mutating func text() -> String
    /// Bytes; null is none.
    mutating func bytes() -> [UInt8]
    /// 16 bytes as two numbers, the first bytes in the first one; nil for any other number of bytes.
    mutating func words() -> (high: UInt64, low: UInt64)?
}

extension StoredRow {
    /// The 64 bits as they were written: of serials and hashes, which are compared only.
    public mutating func unsigned() -> UInt64 { UInt64(bitPattern: integer()) }

    /// Unix seconds.
    public mutating func instant() -> Instant { Instant(secondsSinceEpoch: integer()) }

    /// Whole seconds.
    public mutating func duration() -> Duration { .seconds(integer()) }

    /// A device: four columns.
    mutating func device() -> Device {
        Device(id: text(), name: optionalText(), platform: optionalText(), appVersion: optionalText())
    }

    /// A list of texts parted by spaces.
    mutating func list() -> [String] {
        let text = text()
        // One, mostly.
        guard text.utf8.contains(UInt8(ascii: " ")) else { return text.isEmpty ? [] : [text] }
        return text.split(separator: " ").map(String.init)
    }

    /// Nil for null, else what `read` reads.
    public mutating func optional<Value, Problem: Error>(
        _ read: (inout Self) throws(Problem) -> Value
    ) throws(Problem) -> Value? {
        if isNull {
            skip(1)
            return nil
        }
        return try read(&self)
    }

    /// Nil for null, else a text.
    public mutating func optionalText() -> String? { optional { row in row.text() } }

    /// The identifier in the next column; it must be the one that is `known`, if the statement asked for that.
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

    /// One of the words of an enumeration.
    public mutating func word<Word: RawRepresentable<String>>(as: Word.Type) throws(CorruptRow) -> Word {
        let text = text()
        guard let word = Word(rawValue: text) else {
            throw CorruptRow("'\(text)' in \(lastColumn) is none of its words")
        }
        return word
    }

    /// A list of scopes.
    mutating func scope() throws(CorruptRow) -> Scope {
        let text = text()
        guard let scope = Scope(text) else { throw CorruptRow("'\(text)' in \(lastColumn) is no scope") }
        return scope
    }
}

/// Names of columns, as a statement lists them.
public struct Columns: Sendable {
    /// In the order in which they are read and written.
    public let names: [String]

    init(_ names: String...) { self.names = names }

    /// `a, b, c`
    public var list: String { names.joined(separator: ", ") }

    /// `t.a, t.b, t.c`
    public func list(of table: String) -> String { names.map { "\(table).\($0)" }.joined(separator: ", ") }

    /// `b = excluded.b, c = excluded.c`: what replaces all but the key, which is the first column.
    public var replacements: String { names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ") }

    /// `$1, $2, $3`: a parameter for each column, the first with that number.
    public func placeholders(from first: Int = 1) -> String {
        names.indices.map { "$\(first + $0)" }.joined(separator: ", ")
    }

    /// `a = $1, b = $2`: gives each column the parameter of the same place, the first with that number.
    public func assignments(from first: Int = 1) -> String {
        names.enumerated().map { "\($1) = $\(first + $0)" }.joined(separator: ", ")
    }
}
