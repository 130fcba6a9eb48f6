/// What a page says once, after an act, because its URL says so: one of the words of the pages, and how many were concerned.
public struct Flash<Word: RawRepresentable<String> & Hashable & Sendable>: Hashable, Sendable {
    /// What was done.
    public let word: Word
    /// How many were concerned; nil: the word has no number.
    public let count: Int?

    /// A word with its number.
    public init(_ word: Word, _ count: Int? = nil) { (self.word, self.count) = (word, count) }

    /// What `text` wrote; nil for any other text.
    public init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let word = parts.first.flatMap({ Word(rawValue: String($0)) }), parts.count <= 2 else {
            return nil
        }
        let count = parts.count == 2 ? Int(parts[1]) : nil
        guard parts.count == 1 || count != nil else { return nil }
        self.init(word, count)
    }

    /// The word, and the number behind a full stop.
    public var text: String { word.rawValue + (count.map { ".\($0)" } ?? "") }
}
