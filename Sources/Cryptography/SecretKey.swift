/// What holds a secret: no description, debugger or mirror shows anything of it, so that it cannot slip into a log.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The type and nothing else.
    public var description: String { "\(Self.self)(redacted)" }
    /// The same.
    public var debugDescription: String { description }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// 32 secret bytes.
public struct SecretKey: Sendable, Redacted {
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
