import Glibc

/// A measurement could not be made; the text says why.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A system call failed.
    static func system(_ operation: String) -> Failure { Failure("\(operation): \(String(cString: strerror(errno)))") }
}
