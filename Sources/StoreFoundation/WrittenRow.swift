public import Sessions

/// The values of a row that is written, given column by column from the left.
public protocol WrittenRow {
    /// A whole number, or null.
    mutating func add(_ number: Int64?)
    /// Yes or no.
    mutating func add(_ flag: Bool)
    /// A text, or null.
    mutating func add(_ text: String?)
    /// Bytes, or null.
    mutating func add(_ bytes: [UInt8]?)
    /// The 16 bytes of an identifier, or null.
    mutating func add<Subject>(_ identifier: Identifier<Subject>?)
}

extension WrittenRow {
    /// The same 64 bits: of serials, which stay below 2^63, and hashes, of which only equality is asked.
    public mutating func add(_ bits: UInt64?) { add(bits.map { Int64(bitPattern: $0) }) }

    /// Unix seconds.
    public mutating func add(_ instant: Instant?) { add(instant?.secondsSinceEpoch) }

    /// Whole seconds.
    public mutating func add(_ duration: Duration?) { add(duration?.wholeSeconds) }

    /// One of the words of an enumeration.
    mutating func add<Word: RawRepresentable<String>>(_ word: Word?) { add(word?.rawValue) }

    /// Texts without spaces, parted by them.
    mutating func add(list: [String]) { add(list.count == 1 ? list[0] : list.joined(separator: " ")) }

    /// A device: four columns.
    mutating func add(_ device: Device) {
        add(device.id)
        add(device.name)
        add(device.platform)
        add(device.appVersion)
    }

    /// A list of scopes.
    mutating func add(_ scope: Scope?) { add(scope?.description) }
}
