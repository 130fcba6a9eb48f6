/// Writes a JSON object (RFC 8259 section 4), member after member in the order of the calls.
public struct JSONObject: Sendable {
    private var text: [UInt8]

    /// Starts an object without members. `capacity` is the expected size in bytes.
    public init(capacity: Int = 256) {
        text = []
        text.reserveCapacity(capacity)
        text.append(UInt8(ascii: "{"))
    }

    /// Adds a text, unless it is nil. `name` must need no escape, and must be new to the object; so below.
    public mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        let bytes = value.utf8.span
        if JSONText.isPlain(bytes) { return append(name, bytes, isText: true) }
        append(name, JSONText.escaped(value).utf8.span, isText: false)
    }

    /// Adds a number, unless it is nil.
    public mutating func add(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        // The lowest number has twenty characters.
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var (start, rest) = (20, value.magnitude)
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 {
            start -= 1
            digits[start] = UInt8(ascii: "-")
        }
        append(name, digits.span.extracting(start...), isText: false)
    }

    /// Adds a Boolean, unless it is nil.
    public mutating func add(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        let word: StaticString = value ? "true" : "false"
        addName(name)
        word.withUTF8Buffer { unsafe text.append(contentsOf: $0) }
    }

    /// Adds an array of texts, unless it is nil.
    public mutating func add(_ name: StaticString, _ values: [String]?) {
        guard let values else { return }
        addName(name)
        text.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            append(value)
        }
        text.append(UInt8(ascii: "]"))
    }

    /// Adds an object, unless it is nil.
    public mutating func add(_ name: StaticString, _ value: JSONObject?) {
        guard let value else { return }
        addName(name)
        text.append(contentsOf: value.text)
        text.append(UInt8(ascii: "}"))
    }

    /// Adds members that are JSON already, separated by commas. Their names must be new to the object.
    public mutating func add(members: Substring) {
        if members.isEmpty { return }
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        text.append(contentsOf: members.utf8)
    }

    /// The whole object, in UTF-8.
    public consuming func encoded() -> [UInt8] {
        text.append(UInt8(ascii: "}"))
        return text
    }

    private mutating func addName(_ name: StaticString) { append(name, Span(), isText: false) }

    /// Writes a name and bytes that need no escape, with quotation marks for a text. One call reserves the space for all
    /// parts, because a refresh writes thirty members.
    private mutating func append(_ name: StaticString, _ value: borrowing Span<UInt8>, isText: Bool) {
        let isFirst = text.count == 1
        text.append(addingCapacity: name.utf8CodeUnitCount + value.count + 6) { rest in
            if !isFirst { rest.append(UInt8(ascii: ",")) }
            rest.append(UInt8(ascii: "\""))
            name.withUTF8Buffer { unsafe rest.append(copying: $0.span) }
            rest.append(UInt8(ascii: "\""))
            rest.append(UInt8(ascii: ":"))
            if isText { rest.append(UInt8(ascii: "\"")) }
            rest.append(copying: value)
            if isText { rest.append(UInt8(ascii: "\"")) }
        }
    }

    private mutating func append(_ value: String) { text.append(contentsOf: JSONText.quoted(value).utf8) }
}

extension OutputSpan<UInt8> {
    /// Adds `bytes`; the free capacity must hold them.
    fileprivate mutating func append(copying bytes: borrowing Span<UInt8>) {
        precondition(bytes.count <= freeCapacity)
        unsafe withUnsafeMutableBufferPointer { room, count in
            let place = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[count...])
            unsafe bytes.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
            count += bytes.count
        }
    }
}
