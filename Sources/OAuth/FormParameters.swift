public import HTTP

/// The parameters of an OAuth request. None stands twice but for those that may; one that was sent empty counts as omitted (RFC 6749 section 3.2).
public struct FormParameters: Sendable {
    /// A parameter stands twice.
    public struct Repeated: Error, Hashable, Sendable {
        /// The name, as the request has it.
        public let name: String
    }

    private let pairs: [FormPair]

    /// The parameters that `pairs` are. A request has a handful, so that looking through a list is the fast way.
    public init(_ pairs: [FormPair], repeatable: [String] = []) throws(Repeated) {
        for (index, pair) in pairs.enumerated()
        where !repeatable.contains(pair.name) && pairs[..<index].contains(where: { $0.name == pair.name }) {
            throw Repeated(name: pair.name)
        }
        self.pairs = pairs
    }

    /// The value of the parameter; nil when it is omitted or empty.
    public subscript(_ name: String) -> String? {
        guard let pair = pairs.first(where: { $0.name == name }), !pair.value.isEmpty else { return nil }
        return pair.value
    }

    /// Every value of a parameter that may stand more than once, but for empty ones.
    public func all(_ name: String) -> [String] {
        pairs.lazy.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
    }
}
