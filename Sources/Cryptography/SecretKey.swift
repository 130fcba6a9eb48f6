/// 32 secret bytes. No description, debugger or mirror of it shows them, so that it cannot slip into a log.
public struct SecretKey: Sendable {
    /// The length in bytes.
    public static let count = 32

    /// The secret itself; whoever reads it must not print it.
    public let bytes: [UInt8]

    /// Takes exactly 32 bytes, otherwise nil.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    init(known bytes: [UInt8]) { self.bytes = bytes }

    /// A new key.
    public static func random(using source: RandomSource = .system) -> SecretKey {
        SecretKey(known: source.bytes(count))
    }
}

extension SecretKey: Equatable {
    /// In constant time.
    public static func == (left: SecretKey, right: SecretKey) -> Bool { constantTimeEqual(left.bytes, right.bytes) }
}

extension SecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the bytes.
    public var description: String { "SecretKey(redacted)" }
    /// Never the bytes.
    public var debugDescription: String { description }
    /// Never the bytes.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
