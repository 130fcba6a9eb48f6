public import Texts

/// A language of the pages: its tag (BCP 47) and its sentences.
public struct PageLanguage: Sendable {
    /// English.
    public static let english = PageLanguage("en", EnglishWords())
    /// German.
    public static let german = PageLanguage("de", GermanWords())
    /// The languages that need no file.
    public static let builtIn = [english, german]

    /// `de`, `pt-BR`.
    public let tag: String
    /// The tag in lower case, by which it is found.
    let range: String
    /// The sentences.
    let words: any Words

    private init(_ tag: String, _ words: any Words) {
        (self.tag, self.words) = (tag, words)
        range = tag.lowercased()
    }

    /// A language of a file.
    ///
    /// - Parameters:
    ///   - texts: the texts by their keys. A file of a language that is not built in has all of them.
    /// - Throws: what is wrong with the texts.
    public init(tag: String, texts: [String: String]) throws(TextProblems) {
        let base = Self.builtIn.first { $0.range == tag.lowercased() }
        self.init(base?.tag ?? tag, try FileWords(texts, base: base?.words))
    }

    /// Whether a text is a tag that a language file may have: two or three letters, and subtags.
    public static func isTag(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return (2...3).contains(parts[0].utf8.count) && parts[0].utf8.allSatisfy { (0x61...0x7A).contains($0) }
            && parts.dropFirst().allSatisfy { part in
                (2...8).contains(part.utf8.count)
                    && part.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) }
            }
    }

    /// The texts in the sections of a language file, with their keys.
    public var sections: [(title: String, texts: [(key: String, text: String)])] {
        Sentence.sections.map { section in (section.title, section.sentences.map { ($0.key, $0.text(words)) }) }
    }

    /// `ltr`, or `rtl` for the languages that are written from right to left.
    var direction: String {
        ["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"].contains(range.prefix { $0 != "-" })
            ? "rtl" : "ltr"
    }
}

extension PageLanguage: Hashable {
    /// Languages are the same if their tags are.
    public static func == (left: PageLanguage, right: PageLanguage) -> Bool { left.range == right.range }
    /// Hashes the tag.
    public func hash(into hasher: inout Hasher) { hasher.combine(range) }
}
