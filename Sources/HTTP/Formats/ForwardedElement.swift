/// One element of `Forwarded` (RFC 7239 §4): `[ forwarded-pair ] *( ";" [ forwarded-pair ] )` with
/// `forwarded-pair = token "=" ( token / quoted-string )`.
enum ForwardedElement {
    /// Returns where the last element of `range` starts: after the last comma outside of quoted strings.
    static func lastStart(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        var isQuoted = false
        var start = range.upperBound
        while start > range.lowerBound {
            switch bytes[start - 1] {
            case UInt8(ascii: "\""): if !isQuoted || !isEscaped(bytes, start - 1, range) { isQuoted.toggle() }
            case UInt8(ascii: ",") where !isQuoted: return start
            default: break
            }
            start -= 1
        }
        return start
    }

    /// Returns true if an odd number of backslashes precedes the byte.
    private static func isEscaped(_ bytes: Span<UInt8>, _ index: Int, _ range: Range<Int>) -> Bool {
        var start = index
        while start > range.lowerBound, bytes[start - 1] == UInt8(ascii: "\\") { start -= 1 }
        return (index - start) % 2 == 1
    }

    /// Reads the parameters `for` and `proto` of one element. The result is malformed if any part of the element is.
    static func parse(_ bytes: Span<UInt8>) -> ForwardedHop {
        let malformed = ForwardedHop(node: .malformed, isSecure: nil)
        var node: ForwardedNode?
        var isSecure: Bool?
        var seen: Set<String> = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: ";") {
                index += 1
                continue
            }
            let start = index
            while index < bytes.count, Grammar.isTokenCharacter(bytes[index]) { index += 1 }
            let name = String(ascii: bytes.extracting(start..<index)).lowercased()
            guard index > start, index < bytes.count, bytes[index] == UInt8(ascii: "="), seen.insert(name).inserted,
                let value = value(bytes, from: index + 1)
            else { return malformed }
            index = value.end
            guard index == bytes.count || bytes[index] == UInt8(ascii: ";") else { return malformed }
            switch name {
            case "for": node = ForwardedNode(value.text.span)
            case "proto": isSecure = Grammar.equalsIgnoringCase(value.text.span, "https".utf8.span)
            default: break
            }
        }
        return node == .malformed ? malformed : ForwardedHop(node: node ?? .unknown, isSecure: isSecure)
    }

    /// Reads a token, or a quoted string without its quotes and backslashes (RFC 9110 §5.6.4). Returns nil for anything
    /// else.
    private static func value(_ bytes: Span<UInt8>, from start: Int) -> (text: [UInt8], end: Int)? {
        var text: [UInt8] = []
        var index = start
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
            while index < bytes.count, Grammar.isTokenCharacter(bytes[index]) {
                text.append(bytes[index])
                index += 1
            }
            return index > start ? (text, index) : nil
        }
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            if bytes[index] == UInt8(ascii: "\\") { index += 1 }
            // Field values contain no control characters, because the parser refuses them.
            guard index < bytes.count else { return nil }
            text.append(bytes[index])
            index += 1
        }
        return index < bytes.count ? (text, index + 1) : nil
    }
}
