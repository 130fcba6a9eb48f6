public import HTTP

/// The parameters of an OAuth request. None repeats, except the repeatable ones; an empty one counts as omitted (RFC
/// 6749 §3.2).
public struct FormParameters: Sendable {
    /// A parameter that must not repeat is repeated.
    public struct Repeated: Error, Hashable, Sendable {
        /// The name, as the request has it.
        public let name: String
    }

    private let pairs: [FormPair]

    /// Creates the parameters from `pairs`. A request has only a few, so a linear search is fast.
    public init(_ pairs: [FormPair], repeatable: [String] = []) throws(Repeated) {
        for (index, pair) in pairs.enumerated()
        where !repeatable.contains(pair.name) && pairs[..<index].contains(where: { $0.name == pair.name }) {
            throw Repeated(name: pair.name)
        }
        self.pairs = pairs
    }

    /// Returns the value of a parameter; nil if it is omitted or empty.
    public subscript(_ name: String) -> String? {
        guard let pair = pairs.first(where: { $0.name == name }), !pair.value.isEmpty else { return nil }
        return pair.value
    }

    /// Returns all values of a parameter that may repeat, without empty ones.
    public func all(_ name: String) -> [String] {
        pairs.lazy.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
    }
}
