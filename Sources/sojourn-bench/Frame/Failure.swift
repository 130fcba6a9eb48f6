import Glibc

/// The reason for which a measurement failed.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Creates the failure of a system call.
    static func system(_ operation: String) -> Failure { Failure("\(operation): \(String(cString: strerror(errno)))") }
}
