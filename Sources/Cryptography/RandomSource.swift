internal import COpenSSL
internal import Locks

/// A source of random bytes. Tests pass their own; the program uses `system`.
public struct RandomSource: Sendable {
    private let make: @Sendable (_ count: Int) -> [UInt8]

    /// Creates a source from `make`, which must return exactly `count` bytes.
    public init(_ make: @escaping @Sendable (_ count: Int) -> [UInt8]) { self.make = make }

    /// The generator of libcrypto, for values that must stay secret.
    public static let system = RandomSource { randomBytes(count: $0) }

    /// Returns `count` bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        let bytes = make(count)
        precondition(bytes.count == count, "a random source must return as many bytes as it was asked for")
        return bytes
    }

    /// A source that draws a kibibyte at a time from this one, because each draw costs a system call. Use it only for
    /// values that need not be secret after use, because the bytes of future values lie in memory.
    public var inBatches: RandomSource {
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

/// Returns `count` unpredictable bytes. Stops the process if the operating system has none.
public func randomBytes(count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        unsafe mustSucceed(RAND_priv_bytes(buffer.baseAddress, Int32(count)))
        initialized = count
    }
}
