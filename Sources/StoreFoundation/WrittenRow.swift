public import Sessions

/// The values of a row to be written, added column by column from the left.
public protocol WrittenRow {
    /// Adds an integer, or null.
    mutating func add(_ number: Int64?)
    /// Adds a Boolean value.
    mutating func add(_ flag: Bool)
    /// Adds a text, or null.
    mutating func add(_ text: String?)
    /// Adds bytes, or null.
    mutating func add(_ bytes: [UInt8]?)
    /// Adds the 16 bytes of an identifier, or null.
    mutating func add<Subject>(_ identifier: Identifier<Subject>?)
}

extension WrittenRow {
    /// Adds the 64 bits of a serial, which stays below 2^63, or of a hash, which is only compared for equality.
    public mutating func add(_ bits: UInt64?) { add(bits.map { Int64(bitPattern: $0) }) }

    /// Adds a time in Unix seconds.
    public mutating func add(_ instant: Instant?) { add(instant?.secondsSinceEpoch) }

    /// Adds a duration in whole seconds.
    public mutating func add(_ duration: Duration?) { add(duration?.wholeSeconds) }

    /// Adds a raw value of an enumeration.
    mutating func add<Word: RawRepresentable<String>>(_ word: Word?) { add(word?.rawValue) }

    /// Adds texts without spaces, separated by spaces.
    mutating func add(list: [String]) { add(list.count == 1 ? list[0] : list.joined(separator: " ")) }

    /// Adds a device as four columns.
    mutating func add(_ device: Device) {
        add(device.id)
        add(device.name)
        add(device.platform)
        add(device.appVersion)
    }

    /// Adds a list of scopes.
    mutating func add(_ scope: Scope?) { add(scope?.description) }
}
