/// The request field that names the client behind a proxy.
public enum ForwardingField: String, CaseIterable, Hashable, Sendable {
    /// `X-Forwarded-For` and `X-Forwarded-Proto`, which most proxies send.
    case xForwardedFor = "x-forwarded-for"
    /// `Forwarded` (RFC 7239).
    case forwarded
    /// No field is trusted.
    case none
}

/// What one proxy wrote about the request that it forwarded.
public struct ForwardedHop: Hashable, Sendable {
    /// The node that sent the request to the proxy.
    public let node: ForwardedNode
    /// True if the proxy received the request over https; nil if the proxy does not say.
    public let isSecure: Bool?
}

/// The hops that proxies wrote into a request, the nearest proxy first. Proxies append, so the last element comes from
/// the nearest proxy; the first one may be forged by the client.
///
/// Elements are split from the right, so that a quote left open by a client cannot swallow what a proxy appended.
/// Elements are parsed lazily.
public struct ForwardedHops: Sequence, IteratorProtocol, Sendable {
    private let fields: Fields
    private let isForwarded: Bool
    /// Field lines that are not parsed yet; the last one is the nearest.
    private var lines: [Range<Int>] = []
    /// The unparsed rest of the current line.
    private var rest: Range<Int> = 0..<0
    private var nextIsSecure: Bool?

    /// Reads one field and ignores the other one.
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

    /// Returns the hop of the next proxy, one step farther away; nil if there is none.
    public mutating func next() -> ForwardedHop? {
        while let member = nextMember() {
            if member.isEmpty { continue }
            if isForwarded { return ForwardedElement.parse(fields.bytes.span.extracting(member)) }
            // `X-Forwarded-Proto` describes the nearest hop only.
            let isSecure = nextIsSecure
            nextIsSecure = nil
            return ForwardedHop(node: ForwardedNode(member: fields.bytes.span.extracting(member)), isSecure: isSecure)
        }
        // A proxy may send the scheme without a node.
        if let isSecure = nextIsSecure {
            nextIsSecure = nil
            return ForwardedHop(node: .unknown, isSecure: isSecure)
        }
        return nil
    }

    /// Returns the last member of the list that was not returned yet, without blanks around it.
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

    /// Returns the index after the last comma.
    private static func lastStart(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        var start = range.upperBound
        while start > range.lowerBound, bytes[start - 1] != UInt8(ascii: ",") { start -= 1 }
        return start
    }

    /// Returns true if the last member of the last `X-Forwarded-Proto` is `https`; nil without such a field.
    private static func lastScheme(_ fields: Fields) -> Bool? {
        guard let line = fields.valueRanges("x-forwarded-proto").last else { return nil }
        let bytes = fields.bytes.span
        let word = bytes.extracting(Grammar.trimmed(bytes, lastStart(bytes, line)..<line.upperBound))
        return Grammar.equalsIgnoringCase(word, "https".utf8.span)
    }
}

extension Fields {
    /// Returns the ranges of all values of this name, in their order.
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
