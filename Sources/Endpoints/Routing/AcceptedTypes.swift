/// The media types in `Accept` (RFC 9110 section 12.5.1).
struct AcceptedTypes: Sendable {
    /// Media ranges in lower case, with their weights in thousandths.
    private let ranges: [(range: String, weight: Int)]

    /// Parses the values of the field. A range with an unreadable weight is ignored.
    init(_ values: [String]) {
        ranges = values.joined(separator: ",").split(separator: ",").compactMap { element in
            let parts = element.split(separator: ";").map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }
            guard let range = parts.first else { return nil }
            guard let text = parts.dropFirst().first(where: { $0.hasPrefix("q=") }) else { return (range, 1000) }
            return Self.thousandths(text.dropFirst(2)).map { (range, $0) }
        }
    }

    /// The weight of `type` if the field names it exactly; nil otherwise.
    func weight(named type: String) -> Int? { ranges.filter { $0.range == type }.map(\.weight).max() }

    /// The weight of `type` by the most specific matching range; 0 if no range matches.
    func weight(of type: String) -> Int {
        let family = type.prefix { $0 != "/" } + "/*"
        return weight(named: type) ?? weight(named: String(family)) ?? weight(named: "*/*") ?? 0
    }

    /// A weight in thousandths (section 12.4.2): from 0 to 1, with at most three decimal digits.
    private static func thousandths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let digits = parts.count == 2 ? parts[1] : ""
        guard ["0", "1"].contains(parts[0]), digits.utf8.count <= 3,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let value = Int(parts[0] + digits + String(repeating: "0", count: 3 - digits.utf8.count)), value <= 1000
        else { return nil }
        return value
    }
}
