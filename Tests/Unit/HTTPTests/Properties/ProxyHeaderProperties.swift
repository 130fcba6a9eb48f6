import Sockets

/// What must hold for the first bytes of every connection, for the tests and for the fuzzer.
enum ProxyHeaderProperties {
    /// The first thing that does not hold for `bytes`; nil when all is well.
    static func violation(_ bytes: [UInt8]) -> String? {
        let whole = ProxyHeader.parse(bytes)
        // Up to its last byte a header is not there; from then on it is, whatever follows. What is malformed stays so.
        var decided: Int?
        if case .header(_, let length) = whole {
            guard (1...min(bytes.count, ProxyHeader.maximumLength)).contains(length) else { return "length \(length)" }
            decided = length
        }
        var seen = ProxyHeader.Outcome.needMore
        for count in 0..<min(bytes.count, ProxyHeader.maximumLength) {
            let outcome = ProxyHeader.parse(Array(bytes.prefix(count)))
            if let decided, (count < decided) != (outcome == .needMore) { return "\(outcome) after \(count)" }
            if outcome != seen, seen != .needMore { return "\(seen), then \(outcome) after \(count)" }
            seen = outcome
        }
        if seen != .needMore, seen != whole { return "\(seen), then \(whole)" }
        if whole == .needMore, bytes.count > ProxyHeader.maximumLength { return "a header without end" }
        return nil
    }
}
