/// Comma-separated lists (RFC 9110 §5.6.1).
enum ListMembers {
    /// Whether one of the members of the list is `member`, in any case. Empty members are passed over.
    static func contain(_ member: String, in bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let wanted = member.utf8.span
        var start = range.lowerBound
        while start < range.upperBound {
            var end = start
            while end < range.upperBound, bytes[end] != UInt8(ascii: ",") { end += 1 }
            let trimmed = Grammar.trimmed(bytes, start..<end)
            if Grammar.equalsIgnoringCase(bytes.extracting(trimmed), wanted) { return true }
            start = end + 1
        }
        return false
    }

    /// Whether the list names `member`, in any case, and nothing else: false for an empty list, nil if it names another.
    static func consist(of member: String, in bytes: Span<UInt8>, _ range: Range<Int>) -> Bool? {
        let wanted = member.utf8.span
        var found = false
        var start = range.lowerBound
        while start < range.upperBound {
            var end = start
            while end < range.upperBound, bytes[end] != UInt8(ascii: ",") { end += 1 }
            let trimmed = Grammar.trimmed(bytes, start..<end)
            if !trimmed.isEmpty {
                guard Grammar.equalsIgnoringCase(bytes.extracting(trimmed), wanted) else { return nil }
                found = true
            }
            start = end + 1
        }
        return found
    }
}
