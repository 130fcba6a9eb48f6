/// Writes into the reserved capacity of an array. Each write costs one copy and one comparison.
///
/// `@safe` holds because every write is checked against the capacity, and because the memory outlives the writer, which
/// `append` passes to its closure only.
@safe struct ByteWriter: ~Copyable {
    private let room: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    private init(_ room: UnsafeMutableBufferPointer<UInt8>) { unsafe self.room = room }

    /// Appends the bytes that `body` writes, at most `capacity` of them.
    static func append(to output: inout [UInt8], capacity: Int, _ body: (inout ByteWriter) -> Void) {
        output.append(addingCapacity: capacity) { span in
            unsafe span.withUnsafeMutableBufferPointer { room, count in
                var writer = unsafe ByteWriter(room)
                body(&writer)
                count = writer.count
            }
        }
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress, let base = unsafe room.baseAddress, !bytes.isEmpty else { return }
        unsafe precondition(bytes.count <= room.count - count, "the room is too small")
        unsafe (base + count).initialize(from: source, count: bytes.count)
        count += bytes.count
    }

    @inline(__always)
    mutating func write(constant text: StaticString) { unsafe write(UnsafeBufferPointer(text)) }

    @inline(__always)
    mutating func write(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBufferPointer { unsafe write($0) } }

    @inline(__always)
    mutating func write(_ bytes: ArraySlice<UInt8>) { unsafe bytes.withUnsafeBufferPointer { unsafe write($0) } }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { unsafe write($0) }
    }

    /// Writes a non-negative number as decimal digits.
    mutating func write(decimal number: Int) {
        var digits = 1
        var bound = 10
        while digits < 18, number >= bound { (digits, bound) = (digits + 1, bound * 10) }
        unsafe precondition(digits <= room.count - count && number >= 0 && number < bound, "the room is too small")
        var rest = number
        for index in stride(from: count + digits - 1, through: count, by: -1) {
            unsafe room[index] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Wraps the bytes of a constant. They stay valid as long as the program runs.
    @inline(__always)
    init(_ text: StaticString) { unsafe self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
