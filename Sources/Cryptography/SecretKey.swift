/// A type that contains a secret. Descriptions, debuggers and mirrors do not show it, so that it cannot get into a log.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The name of the type, without the value.
    public var description: String { "\(Self.self)(redacted)" }
    /// The name of the type, without the value.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// 32 secret bytes.
public struct SecretKey: Sendable, Redacted {
    /// The length in bytes.
    public static let count = 32

    /// The secret itself. Callers must not print it.
    public let bytes: [UInt8]

    /// Creates a key from exactly 32 bytes; returns nil for any other length.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    init(known bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a new key.
    public static func random(using source: RandomSource = .system) -> SecretKey {
        SecretKey(known: source.bytes(count))
    }
}

extension SecretKey: Equatable {
    /// Compares two keys in constant time.
    public static func == (left: SecretKey, right: SecretKey) -> Bool { constantTimeEqual(left.bytes, right.bytes) }
}
