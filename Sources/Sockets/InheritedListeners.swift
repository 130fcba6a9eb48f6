import Glibc

/// Listening sockets that the process's starter passed on (sd_listen_fds(3)). The starter keeps them open when the
/// process ends, so that connections wait for the next process and none is refused.
public enum InheritedListeners {
    /// A descriptor and the name that the starter gave it.
    public struct Descriptor: Hashable, Sendable {
        /// The number: 3, 4 …
        public let number: Int32
        /// The value of `FileDescriptorName=`; empty without one.
        public let name: String

        /// Creates a descriptor with its name.
        public init(number: Int32, name: String) {
            self.number = number
            self.name = name
        }
    }

    private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
    private static let firstNumber: Int32 = 3
    /// The highest accepted number of descriptors. A larger one is a mistake.
    private static let maximumCount = 64

    /// Returns the descriptors that the variables assign to the process `pid`: none unless `LISTEN_PID` names it; nil
    /// if the variables are invalid.
    public static func descriptors(in environment: [String: String], pid: Int32) -> [Descriptor]? {
        guard let count = environment["LISTEN_FDS"], let receiver = environment["LISTEN_PID"] else { return [] }
        guard let receiver = Int32(receiver) else { return nil }
        guard receiver == pid else { return [] }
        guard let count = Int(count), (0...maximumCount).contains(count) else { return nil }
        var names = Array(repeating: "", count: count)
        if let list = environment["LISTEN_FDNAMES"], !list.isEmpty {
            names = list.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard names.count == count else { return nil }
        }
        return names.enumerated().map { Descriptor(number: firstNumber + Int32($0.offset), name: $0.element) }
    }

    /// Removes the variables, so that no child process takes the sockets for its own.
    public static func forgetEnvironment() { for variable in variables { unsafe unsetenv(variable) } }
}
