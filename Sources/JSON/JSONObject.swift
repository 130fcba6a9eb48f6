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
        addName(name)
        append(value)
    }

    /// Adds a number; nothing if there is none.
    public mutating func add(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        addName(name)
        text.append(contentsOf: String(value).utf8)
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

    private mutating func addName(_ name: StaticString) {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        text.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { text.append(contentsOf: $0) }
        text.append(UInt8(ascii: "\""))
        text.append(UInt8(ascii: ":"))
    }

    private mutating func append(_ value: String) {
        guard JSONText.isPlain(value) else {
            text.append(contentsOf: JSONText.escaped(value).utf8)
            return
        }
        text.append(UInt8(ascii: "\""))
        text.append(contentsOf: value.utf8)
        text.append(UInt8(ascii: "\""))
    }
}
