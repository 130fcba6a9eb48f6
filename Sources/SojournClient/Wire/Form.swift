/// A form (`application/x-www-form-urlencoded`).
package struct Form: Hashable, Sendable {
    private var text = ""

    package init() {}

    /// Appends a parameter, unless the value is nil.
    package mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        if !text.isEmpty { text += "&" }
        text += Self.escaped(name) + "=" + Self.escaped(value)
    }

    package var bytes: [UInt8] { Array(text.utf8) }

    /// `text` with every byte escaped that is not unreserved (RFC 3986 §2.3).
    package static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.append(byte)
            default: escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
