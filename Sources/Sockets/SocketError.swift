import Glibc

/// The reason for which a socket operation failed. Each description is a sentence that says what to do.
public enum SocketError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The text is not an address.
    case invalidAddress(String)
    /// Another process listens at the address.
    case addressInUse(String)
    /// This machine does not have the address.
    case addressNotAvailable(String)
    /// The system forbids it: a port below 1024, or a folder without write permission.
    case permissionDenied(String)
    /// Nothing listens at the address.
    case connectionRefused(String)
    /// The other side did not answer in time.
    case timedOut(String)
    /// The other side closed or reset the connection.
    case connectionClosed
    /// No descriptors are left in the process or in the system.
    case outOfDescriptors
    /// A descriptor from the process's starter is not a listening stream socket.
    case notAListener(Int32)
    /// Any other failure of a system call, with its errno.
    case system(operation: String, code: Int32)

    /// A description for the operator.
    public var description: String {
        switch self {
        case .invalidAddress(let text):
            "'\(text)' is not an address; write 127.0.0.1:8080, [::1]:8080, *:8080 or unix:/path/to/socket"
        case .addressInUse(let address):
            "\(address) is in use by another process; stop it, or choose another port (0 takes a free one)"
        case .addressNotAvailable(let address):
            "\(address) is not an address of this machine; listen on one that it has, or on *"
        case .permissionDenied(let address):
            "not permitted to use \(address); ports below 1024 and folders of others need more rights"
        case .connectionRefused(let address): "nothing answers on \(address); is the server running?"
        case .timedOut(let address): "\(address) did not answer in time"
        case .connectionClosed: "the other side closed the connection"
        case .outOfDescriptors: "no file descriptors are left; raise the limit (ulimit -n, LimitNOFILE=)"
        case .notAListener(let number):
            "descriptor \(number), handed over by LISTEN_FDS, is no stream socket that listens; use ListenStream="
        case .system(let operation, let code): unsafe "\(operation) failed: \(String(cString: strerror(code)))"
        }
    }

    /// Returns the error for the current errno.
    static func last(_ operation: String, on address: String = "", code: Int32 = errno) -> SocketError {
        switch code {
        case EADDRINUSE: .addressInUse(address)
        case EADDRNOTAVAIL: .addressNotAvailable(address)
        case EACCES, EPERM, EROFS: .permissionDenied(address)
        case ECONNREFUSED, ENOENT: .connectionRefused(address)
        case ETIMEDOUT, EAGAIN, EINPROGRESS: .timedOut(address)
        case ECONNRESET, EPIPE: .connectionClosed
        case EMFILE, ENFILE: .outOfDescriptors
        default: .system(operation: operation, code: code)
        }
    }
}
