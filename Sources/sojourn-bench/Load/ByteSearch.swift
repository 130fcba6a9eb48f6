extension Span<UInt8> {
    /// Returns the index of the first `pattern`; nil if there is none.
    func firstIndex(of pattern: [UInt8], in range: Range<Int>) -> Int? {
        var start = range.lowerBound
        while start + pattern.count <= range.upperBound {
            var matched = 0
            while matched < pattern.count, self[start + matched] == pattern[matched] { matched += 1 }
            if matched == pattern.count { return start }
            start += 1
        }
        return nil
    }

    /// Parses one to nine digits; returns nil for anything else.
    func number(in range: Range<Int>) -> Int? {
        guard (1...9).contains(range.count) else { return nil }
        var number = 0
        for index in range {
            guard (0x30...0x39).contains(self[index]) else { return nil }
            number = number * 10 + Int(self[index] - 0x30)
        }
        return number
    }

    /// Returns the text of a member of a JSON object; `quotedName` is its name with both quotes. Returns nil if the
    /// member is missing, is no text, is empty or contains an escape.
    ///
    /// Every quote inside a JSON text is escaped, so `"name"` with a colon is always the name of a member.
    func text(of quotedName: [UInt8], in range: Range<Int>) -> Range<Int>? {
        guard let name = firstIndex(of: quotedName, in: range) else { return nil }
        var place = name + quotedName.count
        for expected in [UInt8(ascii: ":"), UInt8(ascii: "\"")] {
            while place < range.upperBound, self[place] == UInt8(ascii: " ") { place += 1 }
            guard place < range.upperBound, self[place] == expected else { return nil }
            place += 1
        }
        let start = place
        while place < range.upperBound, self[place] != UInt8(ascii: "\"") {
            if self[place] == UInt8(ascii: "\\") { return nil }
            place += 1
        }
        return place < range.upperBound && place > start ? start..<place : nil
    }
}
