// StoreFoundation: what the backends of the store share: how rows become values of the domain, which columns that takes, and a
// queue that forms batches. It speaks to no database and knows no SQL but names of columns.
//
// Reading order: StoredRow, SessionColumns and the others, BatchQueue.

public import Sessions

/// A row that no version of this program has written; the text says what is wrong with it.
public struct Contradiction: Error, Hashable, Sendable {
    /// For the log.
    public let text: String

    /// What contradicts itself.
    public init(_ text: String) { self.text = text }
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
}

extension StoredRow {
    /// The 64 bits as they were written: of serials and hashes, which are compared only.
    public mutating func unsigned() -> UInt64 { UInt64(bitPattern: integer()) }

    /// Unix seconds.
    public mutating func instant() -> Instant { Instant(secondsSinceEpoch: integer()) }

    /// Whole seconds.
    public mutating func duration() -> Duration { .seconds(integer()) }

    /// Words parted by spaces.
    public mutating func words() -> [String] { text().split(separator: " ").map(String.init) }

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

    /// The identifier in the next column; what is `known` already, because the statement asked for it, is not read.
    public mutating func identifier<Subject>(
        _ known: Identifier<Subject>? = nil
    ) throws(Contradiction) -> Identifier<Subject> {
        if let known {
            skip(1)
            return known
        }
        guard let identifier = Identifier<Subject>(bytes: bytes()) else {
            throw Contradiction("an identifier in \(lastColumn) is not 16 bytes long")
        }
        return identifier
    }

    /// One of the words of an enumeration.
    public mutating func word<Word: RawRepresentable<String>>(as: Word.Type) throws(Contradiction) -> Word {
        let text = text()
        guard let word = Word(rawValue: text) else {
            throw Contradiction("'\(text)' in \(lastColumn) is none of its words")
        }
        return word
    }

    /// A list of scopes.
    mutating func scope() throws(Contradiction) -> Scope {
        let text = text()
        guard let scope = Scope(text) else { throw Contradiction("'\(text)' in \(lastColumn) is no scope") }
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
}
