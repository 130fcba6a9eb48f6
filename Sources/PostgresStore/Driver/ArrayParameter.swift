internal import Sessions

/// A column of many rows: an array parameter in the binary form, which the server reads without searching for commas.
struct ArrayParameter: PostgresValue, Sendable {
    /// The type of the elements. The raw value is the type's OID, which is the same in every server.
    enum Element: UInt32 {
        case boolean = 16
        case bytea = 17
        case bigint = 20
        case text = 25
        case uuid = 2950
    }

    let element: Element
    private var count: UInt32 = 0
    private var hasNull = false
    /// The elements, each preceded by its length.
    private var elements: [UInt8] = []

    init(of element: Element) { self.element = element }

    init<Subject>(_ ids: some Sequence<Identifier<Subject>>) {
        self.init(of: .uuid)
        for id in ids { append(id) }
    }

    var parameter: Parameter {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.count)
        // The array has one dimension with lower bound 1; an empty array has no dimension.
        for word in [count == 0 ? 0 : 1, hasNull ? 1 : 0, element.rawValue] + (count == 0 ? [] : [count, 1]) {
            bytes.appendBigEndian(word)
        }
        bytes += elements
        return .bytes(bytes)
    }

    mutating func append(_ number: Int64?) {
        guard let number else { return appendNull() }
        begin(length: 8)
        elements.appendBigEndian(number)
    }

    mutating func append(_ bits: UInt64?) { append(bits.map { Int64(bitPattern: $0) }) }

    mutating func append(_ instant: Instant?) { append(instant?.secondsSinceEpoch) }

    mutating func append<Subject>(_ identifier: Identifier<Subject>?) {
        guard let (high, low) = identifier?.words else { return appendNull() }
        begin(length: 16)
        elements.appendBigEndian(high)
        elements.appendBigEndian(low)
    }

    mutating func append(_ text: String?) {
        guard let text else { return appendNull() }
        begin(length: text.utf8.count)
        elements.append(contentsOf: text.utf8)
    }

    mutating func append(_ flag: Bool) {
        begin(length: 1)
        elements.append(flag ? 1 : 0)
    }

    mutating func append(_ bytes: [UInt8]?) {
        guard let bytes else { return appendNull() }
        begin(length: bytes.count)
        elements += bytes
    }

    private mutating func appendNull() {
        hasNull = true
        begin(length: -1)
    }

    private mutating func begin(length: Int) {
        count += 1
        elements.appendBigEndian(Int32(truncatingIfNeeded: length))
    }
}

extension [UInt8] {
    /// Appends the number big-endian.
    fileprivate mutating func appendBigEndian(_ number: some FixedWidthInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
