import Glibc

/// Owns a descriptor and closes it at the end of its scope. No other code closes descriptors.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number of the descriptor. It is valid as long as this value lives.
    public let number: Int32

    /// Takes over an open descriptor.
    public init(owning number: Int32) { self.number = number }

    deinit { close(number) }
}
