// JSON: objects with few, known members, written as fast as their bytes can be copied.
//
// This module owns the writing of what is written at every refresh and for every line of the log, where an encoder for
// any value costs more than the signature of a token. It knows nothing of what it writes, and it reads nothing. What
// needs an escape, Foundation's encoder escapes; what is written seldom, that encoder writes whole.

/// A JSON object (RFC 8259 section 4) to which members are added one after the other, in the order in which they stand.
public struct JSONObject: Sendable {
    private var text: [UInt8]

    /// An object without members. `capacity` is how many bytes it will need, if that is known.
    public init(capacity: Int = 256) {
        text = []
        text.reserveCapacity(capacity)
        text.append(UInt8(ascii: "{"))
    }

    /// Adds a text; nothing if there is none. Here and below, `name` needs no escape and is not yet there.
    public mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        // Every text has its bytes in one piece, but for those of another runtime.
        let isAdded = value.utf8.withContiguousStorageIfAvailable { bytes in
            guard JSONText.isPlain(UnsafeRawBufferPointer(bytes)) else { return false }
            append(name, bytes, isText: true)
            return true
        }
        if isAdded == true { return }
        addName(name)
        text.append(contentsOf: JSONText.escaped(value).utf8)
    }

    /// Adds a number; nothing if there is none.
    public mutating func add(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.digitsMax) { digits in
            var (start, rest) = (Self.digitsMax, value.magnitude)
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 {
                start -= 1
                digits[start] = UInt8(ascii: "-")
            }
            append(name, UnsafeBufferPointer(rebasing: digits[start...]), isText: false)
        }
    }

    /// Adds an array of texts; nothing if there is none.
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

    /// Adds an object; nothing if there is none.
    public mutating func add(_ name: StaticString, _ value: JSONObject?) {
        guard let value else { return }
        addName(name)
        text.append(contentsOf: value.text)
        text.append(UInt8(ascii: "}"))
    }

    /// Adds members that are JSON already, parted by commas, none of which is there yet; nothing if there are none.
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

    /// As many as the lowest number has, with its sign.
    private static let digitsMax = 20

    private mutating func addName(_ name: StaticString) {
        append(name, UnsafeBufferPointer(start: nil, count: 0), isText: false)
    }

    /// Writes a name and bytes that stand for themselves, between quotation marks if they are a text. In one go: a refresh does this
    /// thirty times.
    private mutating func append(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>, isText: Bool) {
        let isFirst = text.count == 1
        text.append(addingCapacity: name.utf8CodeUnitCount + value.count + 6) { rest in
            rest.withUnsafeMutableBufferPointer { room, count in
                var end = 0
                func write(_ character: Unicode.Scalar) {
                    room[end] = UInt8(ascii: character)
                    end += 1
                }
                func write(_ bytes: UnsafeBufferPointer<UInt8>) {
                    UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[end...])
                        .copyMemory(from: UnsafeRawBufferPointer(bytes))
                    end += bytes.count
                }
                if !isFirst { write(",") }
                write("\"")
                name.withUTF8Buffer { write($0) }
                write("\"")
                write(":")
                if isText { write("\"") }
                write(value)
                if isText { write("\"") }
                count = end
            }
        }
    }

    private mutating func append(_ value: String) { text.append(contentsOf: JSONText.quoted(value).utf8) }
}
