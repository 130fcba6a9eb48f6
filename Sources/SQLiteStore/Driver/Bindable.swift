internal import CSQLite
internal import Sessions
internal import StoreFoundation

/// A value that can be a statement's parameter.
protocol Bindable {
    /// Binds this value to the parameter number `index`, from 1. Returns SQLite's result code.
    func bind(to statement: Statement, at index: Int32) -> Int32
}

extension Int64: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 { statement.bind(self, at: index) }
}

extension Int: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 { statement.bind(Int64(self), at: index) }
}

extension UInt64: Bindable {
    /// Binds the bits as a signed number: serials stay below 2^63, and hashes are only compared for equality.
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        statement.bind(Int64(bitPattern: self), at: index)
    }
}

extension Bool: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 { statement.bind(self ? 1 : 0, at: index) }
}

extension String: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        var text = self
        return text.withUTF8 { utf8 in unsafe statement.bind(text: utf8, at: index) }
    }
}

extension [UInt8]: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        unsafe withUnsafeBytes { bytes in unsafe statement.bind(bytes: bytes, at: index) }
    }
}

extension Identifier: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        let bigEndian = (words.high.bigEndian, words.low.bigEndian)
        return unsafe withUnsafeBytes(of: bigEndian) { bytes in unsafe statement.bind(bytes: bytes, at: index) }
    }
}

extension Instant: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 { statement.bind(secondsSinceEpoch, at: index) }
}

extension Duration: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 { statement.bind(wholeSeconds, at: index) }
}

extension Optional: Bindable where Wrapped: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        guard let self else { return statement.bindNull(at: index) }
        return self.bind(to: statement, at: index)
    }
}

/// The parameters of a statement, from the first on.
struct Parameters: WrittenRow {
    private let statement: Statement
    /// The number of bound parameters.
    private(set) var count: Int32 = 0
    /// The result code of the first parameter that SQLite refused.
    private(set) var code = SQLITE_OK

    init(of statement: Statement) { self.statement = statement }

    mutating func add(_ number: Int64?) { give(number) }
    mutating func add(_ flag: Bool) { give(flag) }
    mutating func add(_ text: String?) { give(text) }
    mutating func add(_ bytes: [UInt8]?) { give(bytes) }
    mutating func add<Subject>(_ identifier: Identifier<Subject>?) { give(identifier) }

    private mutating func give(_ value: some Bindable) {
        count += 1
        let code = value.bind(to: statement, at: count)
        if self.code == SQLITE_OK { self.code = code }
    }
}
