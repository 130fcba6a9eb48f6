/// The fields of a message, in order. Names compare case-insensitively (RFC 9110 §5).
///
/// All bytes share one buffer, and a `String` is created only on access. A value never contains CR, LF, NUL or another
/// control character: the parser refuses them in requests, and `append` replaces them by spaces in responses (RFC 9110
/// §5.5). So no value that a handler sets can start a second field or a second response.
public struct Fields: Sendable {
    /// The ranges of one field in `bytes`. Offsets of 32 bits suffice, because the limits of a head are far below them.
    struct Entry: Sendable {
        var nameStart: UInt32
        var nameCount: UInt32
        var valueStart: UInt32
        var valueCount: UInt32

        @inline(__always) var name: Range<Int> { Int(nameStart)..<Int(nameStart) + Int(nameCount) }
        @inline(__always) var value: Range<Int> { Int(valueStart)..<Int(valueStart) + Int(valueCount) }

        init(name: Range<Int>, value: Range<Int>) {
            nameStart = UInt32(name.lowerBound)
            nameCount = UInt32(name.count)
            valueStart = UInt32(value.lowerBound)
            valueCount = UInt32(value.count)
        }

        func moved(by count: Int) -> Entry {
            Entry(
                name: name.lowerBound + count..<name.upperBound + count,
                value: value.lowerBound + count..<value.upperBound + count)
        }
    }

    var bytes: [UInt8]
    var entries: [Entry]
    /// True if `bytes` consists of these field lines only, as they are sent. A serializer then copies them at once.
    private(set) var areLines: Bool
    /// The first letters of all names as bits, case-insensitively. They answer most look-ups, because most fields asked
    /// for are absent.
    private var initials: UInt32

    /// No fields.
    public init() {
        bytes = []
        entries = []
        areLines = true
        initials = 0
    }

    /// Adopts the bytes that the parser has checked.
    init(bytes: [UInt8], entries: [Entry]) {
        self.bytes = bytes
        self.entries = entries
        areLines = false
        initials = 0
        for entry in entries { initials |= Self.initial(bytes[Int(entry.nameStart)]) }
    }

    /// Parses field lines, each with its line end, by the rules for a request's head.
    public init(parsing lines: [UInt8]) throws(ProtocolError) {
        self.init(bytes: lines, entries: [])
        var start = 0
        while start < lines.count {
            let found = try LineScanner.scan(lines.span, from: start, limit: lines.count, tooLong: .fieldsTooLarge)
            guard case .line(let end) = found, end > start else { throw .malformedFieldName }
            entries.append(try FieldLine.parse(lines.span, start..<end, base: 0))
            initials |= Self.initial(lines[start])
            start = end + 2
        }
    }

    var heldBytes: Int { bytes.capacity + entries.capacity * MemoryLayout<Entry>.stride }

    /// The number of field lines. Repeated names count each time.
    public var count: Int { entries.count }

    /// True if there is no field.
    public var isEmpty: Bool { entries.isEmpty }
}

// Reading.
extension Fields {
    /// A field that must not repeat has several lines.
    public struct Repeated: Error, Hashable, Sendable {
        /// The name that was asked for.
        public let name: String
    }

    /// Returns false if no name begins with this ASCII letter, in either case: a cheap test for rare fields.
    public func mayContain(startingWith letter: UInt8) -> Bool { initials & Self.initial(letter) != 0 }

    /// Returns the bit of a letter. A few other token characters share the bits of letters.
    @inline(__always)
    private static func initial(_ byte: UInt8) -> UInt32 { 1 &<< UInt32(byte & 0x1F) }

    /// Returns true if a field of this name exists.
    public func contains(_ name: StaticString) -> Bool { firstIndex(of: name) != nil }

    /// Returns the value of the first field of this name, without blanks around it. Bytes that are not UTF-8 become
    /// U+FFFD.
    public func first(_ name: StaticString) -> String? {
        firstIndex(of: name).map { string(entries[$0].value) }
    }

    /// Returns the bytes of the first value, without creating a `String`.
    public func firstBytes(_ name: StaticString) -> ArraySlice<UInt8>? {
        firstIndex(of: name).map { bytes[entries[$0].value] }
    }

    /// Returns the values of all fields of this name, one per line, in their order.
    public func values(_ name: StaticString) -> [String] {
        var values: [String] = []
        var next = firstIndex(of: name)
        while let index = next {
            values.append(string(entries[index].value))
            next = firstIndex(of: name, from: index + 1)
        }
        return values
    }

    /// Returns the value of a field that must not repeat, or nil if it is absent; throws `Repeated` otherwise. Use it
    /// for every field that decides something (`Authorization`, `Content-Type`, `DPoP`), so that a proxy and this
    /// server cannot see different values.
    public func only(_ name: StaticString) throws(Repeated) -> String? {
        guard let index = firstIndex(of: name) else { return nil }
        guard firstIndex(of: name, from: index + 1) == nil else { throw Repeated(name: name.description) }
        return string(entries[index].value)
    }

    /// Returns true if a token list (RFC 9110 §5.6.1), over all its lines, has this member, case-insensitively.
    public func listContains(_ name: StaticString, _ member: String) -> Bool {
        var next = firstIndex(of: name)
        while let index = next {
            if ListMembers.contain(member, in: bytes.span, entries[index].value) { return true }
            next = firstIndex(of: name, from: index + 1)
        }
        return false
    }

    @inline(__always)
    func firstIndex(of name: StaticString, from start: Int = 0) -> Int? {
        let name = unsafe UnsafeBufferPointer(name)
        let initial = unsafe Self.initial(name[0])
        guard initials & initial != 0 else { return nil }
        return unsafe firstIndex(of: name.span, from: start)
    }

    private func firstIndex(of name: Span<UInt8>, from start: Int) -> Int? {
        let all = bytes.span
        for index in start..<entries.count where Int(entries[index].nameCount) == name.count {
            if Grammar.equalsIgnoringCase(all.extracting(entries[index].name), name) { return index }
        }
        return nil
    }

    func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

// Writing.
extension Fields {
    /// Appends a field line. Control characters in `value` become spaces, so that the field stays one line.
    ///
    /// - Precondition: `name` is a token. Names are constants of the program, not data.
    public mutating func append(_ name: StaticString, _ value: String) { append(name, value.utf8.span) }

    /// Appends a field line with a value in bytes. Control characters become spaces.
    ///
    /// - Precondition: `name` is a token.
    public mutating func append(_ name: StaticString, _ value: Span<UInt8>) {
        unsafe value.withUnsafeBufferPointer { unsafe append(name, $0) }
        guard Grammar.containsForbiddenControl(value) else { return }
        for index in entries[entries.count - 1].value where Grammar.isForbiddenControl(bytes[index]) {
            bytes[index] = Grammar.space
        }
    }

    /// Appends a field line with a value that is a constant of the program.
    ///
    /// - Precondition: `name` is a token, and `value` has no control characters.
    public mutating func append(_ name: StaticString, constant value: StaticString) {
        let value = unsafe UnsafeBufferPointer(value)
        assert(unsafe !Grammar.containsForbiddenControl(value.span), "a field value has no controls")
        unsafe append(name, value)
    }

    /// Appends all lines of `others`, in one copy of the bytes.
    public mutating func append(_ others: Fields) {
        reserve(others.bytes.count, others.count)
        areLines = areLines && others.areLines
        initials |= others.initials
        let shift = bytes.count
        bytes.append(contentsOf: others.bytes)
        for entry in others.entries { entries.append(entry.moved(by: shift)) }
    }

    private mutating func append(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>) {
        let name = unsafe UnsafeBufferPointer(name)
        assert(unsafe Grammar.isToken(name.span), "a field name is a token")
        reserve(name.count + value.count + 4, 1)
        initials |= unsafe Self.initial(name[0])
        let nameStart = bytes.count
        unsafe bytes.append(contentsOf: name)
        let nameEnd = bytes.count
        bytes.append(UInt8(ascii: ":"))
        bytes.append(Grammar.space)
        unsafe bytes.append(contentsOf: value)
        entries.append(Entry(name: nameStart..<nameEnd, value: nameEnd + 2..<bytes.count))
        bytes.append(Grammar.carriageReturn)
        bytes.append(Grammar.lineFeed)
    }

    /// Reserves capacity for more bytes and lines, at least for what most responses need, so that building a response
    /// allocates twice instead of at every field.
    private mutating func reserve(_ byteCount: Int, _ count: Int) {
        if bytes.capacity < bytes.count + byteCount {
            bytes.reserveCapacity(Swift.max(224, 2 * bytes.count + byteCount))
        }
        if entries.capacity < entries.count + count { entries.reserveCapacity(Swift.max(6, 2 * entries.count + count)) }
    }

    /// Replaces all fields of this name by one at the end.
    ///
    /// - Precondition: `name` is a token.
    public mutating func set(_ name: StaticString, _ value: String) {
        remove(name)
        append(name, value)
    }

    /// Removes all fields of this name.
    public mutating func remove(_ name: StaticString) {
        while let index = firstIndex(of: name) {
            entries.remove(at: index)
            areLines = false
        }
    }
}

extension Fields: Sequence {
    /// Iterates over the names as they were written, with their values.
    public struct Iterator: IteratorProtocol, Sendable {
        let fields: Fields
        var index = 0

        /// Returns the next field line.
        public mutating func next() -> (name: String, value: String)? {
            guard index < fields.entries.count else { return nil }
            defer { index += 1 }
            let entry = fields.entries[index]
            return (fields.string(entry.name), fields.string(entry.value))
        }
    }

    /// Iterates over the field lines in their order.
    public func makeIterator() -> Iterator { Iterator(fields: self) }

    /// The number of lines, so that collections can reserve capacity.
    public var underestimatedCount: Int { entries.count }
}

extension Fields: ExpressibleByDictionaryLiteral {
    /// Appends each pair in its order; names may repeat.
    public init(dictionaryLiteral pairs: (StaticString, String)...) {
        self.init()
        for (name, value) in pairs { append(name, value) }
    }
}

extension Fields: Equatable {
    /// Compares line by line, in order: names case-insensitively, values byte by byte.
    public static func == (left: Fields, right: Fields) -> Bool {
        guard left.count == right.count else { return false }
        for (one, other) in zip(left.entries, right.entries) {
            guard left.bytes[one.value] == right.bytes[other.value],
                Grammar.equalsIgnoringCase(
                    left.bytes.span.extracting(one.name), right.bytes.span.extracting(other.name))
            else { return false }
        }
        return true
    }
}
