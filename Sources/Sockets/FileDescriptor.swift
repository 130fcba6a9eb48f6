// Sockets owns the operating system's sockets: addresses, descriptors, listening, and a blocking client.
// It knows nothing of HTTP or of event loops; a loop watches the number of a descriptor, its owner here closes it.
//
// Reading order: FileDescriptor (closed in one place), SocketAddress (+Parsing, +Native), Listener
// (+Steering: several processes on one port), InheritedListeners and ServiceNotification (what systemd hands over and wants to
// know), StreamSocket (what a server does with an accepted connection), ClientSocket (what the command line and tests
// connect with), AddressRange, ProxyHeader, SocketError.

import Glibc

/// Owns a descriptor and closes it when it goes out of scope: nowhere else is one closed.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number by which system calls know it. Valid while its owner lives.
    public let number: Int32

    /// Takes over an open descriptor.
    public init(owning number: Int32) { self.number = number }

    deinit { close(number) }
}
