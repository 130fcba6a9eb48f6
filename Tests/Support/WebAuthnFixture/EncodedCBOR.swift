/// CBOR as bytes, written by hand so that tests can write what no encoder does.
public enum EncodedCBOR {
    /// A head: the major type with an argument in its shortest form.
    public static func head(_ major: UInt8, _ argument: Int) -> [UInt8] {
        switch argument {
        case ..<24: [major << 5 | UInt8(argument)]
        case ..<0x100: [major << 5 | 24, UInt8(argument)]
        case ..<0x1_0000: [major << 5 | 25, UInt8(argument >> 8), UInt8(argument & 0xFF)]
        default: [major << 5 | 26] + stride(from: 24, through: 0, by: -8).map { UInt8(argument >> $0 & 0xFF) }
        }
    }

    /// A whole number.
    public static func integer(_ number: Int) -> [UInt8] { number < 0 ? head(1, -1 - number) : head(0, number) }
    /// A byte string.
    public static func bytes(_ bytes: [UInt8]) -> [UInt8] { head(2, bytes.count) + bytes }
    /// A text.
    public static func text(_ text: String) -> [UInt8] { head(3, text.utf8.count) + Array(text.utf8) }
    /// An array of encoded elements.
    public static func array(_ elements: [[UInt8]]) -> [UInt8] { head(4, elements.count) + elements.flatMap(\.self) }
    /// A map of encoded keys and values, in this order.
    public static func map(_ entries: [([UInt8], [UInt8])]) -> [UInt8] {
        head(5, entries.count) + entries.flatMap { $0.0 + $0.1 }
    }
}
