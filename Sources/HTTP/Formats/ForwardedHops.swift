/// The field in which proxies say for whom they pass a request on.
public enum ForwardingField: String, CaseIterable, Hashable, Sendable {
    /// `X-Forwarded-For` and `X-Forwarded-Proto`, which most proxies write.
    case xForwardedFor = "x-forwarded-for"
    /// `Forwarded` (RFC 7239).
    case forwarded
    /// No field is believed.
    case none
}

/// What one proxy said about the request that it passed on.
public struct ForwardedHop: Hashable, Sendable {
    /// Who sent it to the proxy.
    public let node: ForwardedNode
    /// Whether it came to the proxy over https; nil: the proxy does not say.
    public let isSecure: Bool?
}

/// What the proxies on a request's way said, the nearest first: proxies append, so the last words are those of the last
/// proxy, and the first may be anybody's invention.
///
/// Elements are parted from the right, because a quote that a client left open must not swallow what a proxy wrote
/// behind it. Nothing is looked at before it is asked for.
public struct ForwardedHops: Sequence, IteratorProtocol, Sendable {
    private let fields: Fields
    private let isForwarded: Bool
    /// Field lines not looked at yet; the last is the nearest.
    private var lines: [Range<Int>] = []
    /// What is left of the line in hand.
    private var rest: Range<Int> = 0..<0
    private var nextIsSecure: Bool?

    /// Reads the chosen field, whatever other ones are there.
    public init(_ fields: Fields, in field: ForwardingField) {
        self.fields = fields
        isForwarded = field == .forwarded
        switch field {
        case .none: break
        case .forwarded: lines = fields.valueRanges("forwarded")
        case .xForwardedFor:
            lines = fields.valueRanges("x-forwarded-for")
            nextIsSecure = Self.lastScheme(fields)
        }
    }

    /// What the next proxy, farther away, said; nil when no more is told.
    public mutating func next() -> ForwardedHop? {
        while let member = nextMember() {
            if member.isEmpty { continue }
            if isForwarded { return ForwardedElement.parse(fields.bytes.span.extracting(member)) }
            // `X-Forwarded-Proto` has no place for more than the nearest proxy's word.
            let isSecure = nextIsSecure
            nextIsSecure = nil
            return ForwardedHop(node: ForwardedNode(member: fields.bytes.span.extracting(member)), isSecure: isSecure)
        }
        // A proxy may tell the scheme and nothing else.
        if let isSecure = nextIsSecure {
            nextIsSecure = nil
            return ForwardedHop(node: .unknown, isSecure: isSecure)
        }
        return nil
    }

    /// The last member of the list that has not been handed out, without the blanks around it.
    private mutating func nextMember() -> Range<Int>? {
        if rest.isEmpty {
            guard let line = lines.popLast() else { return nil }
            rest = line
        }
        let (start, member) = Self.lastMember(fields.bytes.span, rest, isForwarded: isForwarded)
        rest = rest.lowerBound..<Swift.max(rest.lowerBound, start - 1)
        return member
    }

    private static func lastMember(
        _ bytes: Span<UInt8>, _ range: Range<Int>, isForwarded: Bool
    ) -> (start: Int, member: Range<Int>) {
        let start = isForwarded ? ForwardedElement.lastStart(bytes, range) : lastStart(bytes, range)
        return (start, Grammar.trimmed(bytes, start..<range.upperBound))
    }

    /// Behind the last comma.
    private static func lastStart(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        var start = range.upperBound
        while start > range.lowerBound, bytes[start - 1] != UInt8(ascii: ",") { start -= 1 }
        return start
    }

    /// The last word of the last `X-Forwarded-Proto`.
    private static func lastScheme(_ fields: Fields) -> Bool? {
        guard let line = fields.valueRanges("x-forwarded-proto").last else { return nil }
        let bytes = fields.bytes.span
        let word = bytes.extracting(Grammar.trimmed(bytes, lastStart(bytes, line)..<line.upperBound))
        return Grammar.equalsIgnoringCase(word, "https".utf8.span)
    }
}

extension Fields {
    /// Where the values of all lines of this name lie, in their order.
    func valueRanges(_ name: StaticString) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var next = firstIndex(of: name)
        while let index = next {
            ranges.append(entries[index].value)
            next = firstIndex(of: name, from: index + 1)
        }
        return ranges
    }
}
