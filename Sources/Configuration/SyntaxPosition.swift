internal import FoundationEssentials
internal import JSON

/// The place in a text from which on it is no JSON5, which `JSONDecoder` of FoundationEssentials does not say.
///
/// The decoder itself is asked: a beginning of the text is still JSON5 if some ending makes it a document. The longest such
/// beginning is found by bisection, so that a file of a thousand lines takes some fifty questions.
struct SyntaxPosition: Hashable {
    /// Counted from one, columns in characters.
    let line: Int
    let column: Int

    private init(_ text: ArraySlice<UInt8>) {
        let newline = UInt8(ascii: "\n")
        line = text.count { $0 == newline } + 1
        let start = text.lastIndex(of: newline).map { $0 + 1 } ?? text.startIndex
        column = String(decoding: text[start...], as: UTF8.self).count + 1
    }

    /// The reason why `text` is no JSON5, with its place.
    static func problem(in text: [UInt8]) -> String {
        let cuts = Beginning.cuts(of: text)
        func beginning(_ place: Int) -> Beginning { Beginning(of: text, until: cuts[place]) }
        // The empty beginning is JSON5, and every beginning of one that is JSON5 is JSON5 as well.
        var (good, bad) = (0, cuts.count)
        while bad - good > 1 {
            let middle = (good + bad) / 2
            if isBeginning(text, beginning(middle)) { good = middle } else { bad = middle }
        }
        let longest = beginning(good)
        let end = longest.length
        if end < text.count {
            let rest = text[end...]
            let blank = rest.prefix { [9, 10, 13, 32].contains($0) }
            let place = SyntaxPosition(text[..<(blank.count < rest.count ? end + blank.count : end)])
            return "\(place) is not JSON5; look for a missing comma, colon, brace or quotation mark there or before"
        }
        let place = SyntaxPosition(text[...])
        if let inner = longest.inner.name { return "\(place) the text ends inside of \(inner)" }
        guard let opening = longest.brackets.last else { return "\(place) the text ends, and holds no object" }
        let bracket = Character(UnicodeScalar(text[opening]))
        let start = SyntaxPosition(text[..<opening])
        return "\(place) the text ends, and nothing closes the \(bracket) of line \(start.line), column \(start.column)"
    }

    private static func isBeginning(_ text: [UInt8], _ cut: Beginning) -> Bool {
        let closing = cut.brackets.reversed().map { text[$0] == UInt8(ascii: "{") ? "}" : "]" }.joined()
        // What stands last may be a value or a comma, a key, or a colon.
        return ["", ":0", "0"].contains { rest in
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            let whole = Data(text[..<cut.length]) + Data((cut.inner.closing + rest + closing).utf8)
            return (try? decoder.decode(JSONValue.self, from: whole)) != nil
        }
    }
}

extension SyntaxPosition {
    /// The keys of the outermost object of a text that is JSON5, with the lines where they stand. A key that stands there twice
    /// is there twice.
    static func keys(in text: [UInt8]) -> [(key: String, line: Int)] {
        var (keys, line): ([(key: String, line: Int)], Int) = ([], 1)
        var cut = Beginning()
        // The word or the quotation that a colon makes a key.
        var word: (range: Range<Int>, line: Int)?
        while cut.length < text.count {
            let (place, inner, depth) = (cut.length, cut.inner, cut.brackets.count)
            cut.take(text)
            let ofWord = (word?.range.lowerBound ?? place)..<cut.length
            switch (inner, text[place]) {
            case _ where depth != 1 || cut.brackets.count != 1: word = nil
            case (.lineComment, _), (.blockComment, _): break
            case (.doubleQuotes, _), (.singleQuotes, _): word?.range = ofWord
            case (.nothing, _) where cut.inner == .lineComment || cut.inner == .blockComment: break
            case (.nothing, 9), (.nothing, 10), (.nothing, 13), (.nothing, 32): break
            case (.nothing, UInt8(ascii: ",")): word = nil
            case (.nothing, UInt8(ascii: ":")):
                if let word, let key = key(text[word.range]) { keys.append((key, word.line)) }
                word = nil
            case (.nothing, _): word = (ofWord, word?.line ?? line)
            }
            line += text[place..<cut.length].count { $0 == 10 }
        }
        return keys
    }

    /// The key that a text is, as a word or in quotation marks.
    private static func key(_ text: ArraySlice<UInt8>) -> String? {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        return try? decoder.decode([String: Int].self, from: Data("{".utf8) + Data(text) + Data(":0}".utf8)).keys.first
    }
}

extension SyntaxPosition: CustomStringConvertible {
    var description: String { "line \(line), column \(column):" }
}

/// A beginning of a text, with what is open at its end. It is right as far as the text is JSON5, and no further.
private struct Beginning {
    /// What the text is inside of, beside brackets.
    enum Inner {
        case nothing, doubleQuotes, singleQuotes, lineComment, blockComment

        var closing: String {
            switch self {
            case .nothing: ""
            case .doubleQuotes: "\""
            case .singleQuotes: "'"
            case .lineComment: "\n"
            case .blockComment: "*/"
            }
        }

        /// The name of what has no end yet; nil: the end of the text ends it.
        var name: String? {
            switch self {
            case .nothing, .lineComment: nil
            case .doubleQuotes, .singleQuotes: "quotation marks"
            case .blockComment: "a comment"
            }
        }
    }

    var length = 0
    /// The places of the open brackets.
    var brackets: [Int] = []
    var inner = Inner.nothing

    init() {}

    /// The beginning that ends at one of `cuts`.
    init(of text: [UInt8], until end: Int) {
        while length < end { take(text) }
    }

    /// The lengths of the beginnings that end between two words or signs, the empty one first.
    static func cuts(of text: [UInt8]) -> [Int] {
        var cut = Beginning()
        var cuts = [0]
        while cut.length < text.count {
            cut.take(text)
            if !(cut.length < text.count && isInside(text, cut.length)) { cuts.append(cut.length) }
        }
        return cuts
    }

    /// Takes the next sign: a byte, or two that are one sign.
    mutating func take(_ text: [UInt8]) {
        let byte = text[length]
        let next = length + 1 < text.count ? text[length + 1] : 0
        let sign = String(decoding: [byte, next], as: UTF8.self)
        var count = 1
        switch inner {
        case .doubleQuotes, .singleQuotes:
            if byte == UInt8(ascii: "\\") {
                count = 2
            } else if byte == UInt8(ascii: inner == .doubleQuotes ? "\"" : "'") {
                inner = .nothing
            }
        case .lineComment: if byte == UInt8(ascii: "\n") { inner = .nothing }
        case .blockComment: if sign == "*/" { (inner, count) = (.nothing, 2) }
        case .nothing:
            switch byte {
            case UInt8(ascii: "\""): inner = .doubleQuotes
            case UInt8(ascii: "'"): inner = .singleQuotes
            case UInt8(ascii: "/") where sign == "//": (inner, count) = (.lineComment, 2)
            case UInt8(ascii: "/") where sign == "/*": (inner, count) = (.blockComment, 2)
            case UInt8(ascii: "{"), UInt8(ascii: "["): brackets.append(length)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = brackets.popLast()
            default: break
            }
        }
        length = min(length + count, text.count)
    }

    /// Whether the place is inside of a word, a number or a character. An escape may be the second half of one.
    private static func isInside(_ text: [UInt8], _ place: Int) -> Bool {
        text[place] & 0xC0 == 0x80 || text[place] == UInt8(ascii: "\\")
            || (isOfWord(text[place - 1]) && isOfWord(text[place]))
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "."),
            UInt8(ascii: "+"), UInt8(ascii: "-"), 0x80...:
            true
        default: false
        }
    }
}
