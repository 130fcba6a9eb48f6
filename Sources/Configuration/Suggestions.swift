/// Finds the word that a misspelt word stands for, for a hint in an error.
public enum Suggestions {
    /// The nearest of `words` to `word`, if it is near enough.
    public static func nearest(to word: String, among words: some Sequence<String>) -> String? {
        let allowed = max(1, word.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in words {
            let distance = distance(Array(word.lowercased().utf8), Array(candidate.lowercased().utf8))
            if distance <= allowed, best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
        }
        return best?.word
    }

    /// The number of letters to insert, delete, replace or swap with their neighbour (Damerau-Levenshtein).
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var rows = [Array(0...other.count)]
        for row in 1..<(one.count + 1) {
            var line = [row] + [Int](repeating: 0, count: other.count)
            for column in 1..<(other.count + 1) {
                let isSame = one[row - 1] == other[column - 1]
                line[column] = min(
                    rows[row - 1][column] + 1, line[column - 1] + 1, rows[row - 1][column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
                    line[column] = min(line[column], rows[row - 2][column - 2] + 1)
                }
            }
            rows.append(line)
        }
        return rows[one.count][other.count]
    }
}
