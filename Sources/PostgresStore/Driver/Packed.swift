/// Texts and bytes in one buffer, in the layout of libpq's parameter arrays.
struct Packed {
    private var storage: [UInt8] = []
    private var offsets: [Int?] = []
    private(set) var lengths: [Int32] = []
    /// 0 for text, 1 for binary.
    private(set) var formats: [Int32] = []

    mutating func appendNull() { add(nil, length: 0, format: 0) }

    mutating func append(_ text: String) {
        add(storage.count, length: 0, format: 0)
        storage.append(contentsOf: text.utf8)
        storage.append(0)
    }

    mutating func append(_ bytes: [UInt8]) {
        add(storage.count, length: Int32(bytes.count), format: 1)
        storage.append(contentsOf: bytes)
        // An empty value still needs an address, because a null pointer means NULL.
        storage.append(0)
    }

    private mutating func add(_ offset: Int?, length: Int32, format: Int32) {
        offsets.append(offset)
        lengths.append(length)
        formats.append(format)
    }

    func withPointers<Result>(_ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
        unsafe storage.withUnsafeBytes { storage in
            let start = unsafe storage.baseAddress?.assumingMemoryBound(to: CChar.self)
            let pointers = unsafe offsets.map { offset in
                unsafe offset.flatMap { offset in unsafe start.map { unsafe $0 + offset } }
            }
            return unsafe body(pointers)
        }
    }
}
