internal import Sessions
internal import StoreFoundation

/// The parameters of a statement, in the order in which they are added.
struct Parameters: WrittenRow {
    private(set) var all: [Parameter] = []

    mutating func add(_ number: Int64?) { append(number) }
    mutating func add(_ flag: Bool) { append(flag) }
    mutating func add(_ text: String?) { append(text) }
    mutating func add(_ bytes: [UInt8]?) { append(bytes) }
    mutating func add<Subject>(_ identifier: Identifier<Subject>?) { append(identifier) }

    private mutating func append(_ value: (some PostgresValue)?) { all.append(value?.parameter ?? .null) }
}

extension Statement {
    /// A statement with the parameters that `write` adds.
    init(_ text: String, _ write: (inout Parameters) -> Void) {
        var parameters = Parameters()
        write(&parameters)
        self.init(text, parameters: parameters.all)
    }
}
