internal import COpenSSL
internal import Locks

/// Where random bytes come from; a test gives its own, the program `system`.
public struct RandomSource: Sendable {
    private let make: @Sendable (_ count: Int) -> [UInt8]

    /// A source that answers with `make`, which must return exactly `count` bytes.
    public init(_ make: @escaping @Sendable (_ count: Int) -> [UInt8]) { self.make = make }

    /// libcrypto's generator for values that must stay secret.
    public static let system = RandomSource { randomBytes(count: $0) }

    /// `count` bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        let bytes = make(count)
        precondition(bytes.count == count, "a random source must return as many bytes as it was asked for")
        return bytes
    }

    /// The same source, asked for a kibibyte at a time, because each draw costs a system call. For values that nobody may guess only
    /// until they are used: those that are yet to come lie in memory.
    public var inStock: RandomSource {
        let stock = Locked<[UInt8]>([])
        return RandomSource { count in
            stock.withLock { stock in
                if stock.count < count { stock = bytes(max(count, 1024)) }
                defer { stock.removeLast(count) }
                return Array(stock.suffix(count))
            }
        }
    }
}

/// `count` bytes that nobody can predict. Stops the process when the operating system has none.
public func randomBytes(count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        unsafe mustSucceed(RAND_priv_bytes(buffer.baseAddress, Int32(count)))
        initialized = count
    }
}
