/// Comma-separated lists (RFC 9110 §5.6.1).
enum ListMembers {
    /// Returns true if a member of the list equals `member`, case-insensitively. Empty members are skipped.
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

    /// Returns true if `member` is the only member of the list, case-insensitively; false for an empty list; nil if the
    /// list has another member.
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
