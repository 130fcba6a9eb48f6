/// The commands in a text for a shell, as far as the manual uses its grammar: quotes, comments, lines that go on, pipes, lists,
/// redirections and substitutions. Nothing is expanded.
struct ShellText {
    /// The words of each command, in the order of their ends: what is substituted into a command comes before it.
    private(set) var commands: [[String]] = []
    private var rest: Substring
    private var words: [String] = []
    private var word: String?

    /// Reads a text.
    init(_ text: String) {
        rest = text[...]
        read(until: nil)
    }

    /// Reads commands up to the end of the text, or of a substitution.
    private mutating func read(until end: Character?) {
        while let character = rest.popFirst() {
            switch character {
            case end: return endCommand()
            case "'": append(takeThrough("'"))
            case "\"": readQuoted()
            case "\\":
                let next = rest.popFirst()
                if next != "\n" { append(next.map { String($0) } ?? "") }
            case "$" where rest.first == "(": substitute()
            case "#" where word == nil: rest = rest.drop { $0 != "\n" }
            case " ", "\t": endWord()
            case "\n", ";", "|", "&", "(", ")": endCommand()
            case "<", ">": redirect()
            default: append(String(character))
            }
        }
        endCommand()
    }

    private mutating func append(_ text: String) { word = (word ?? "") + text }

    private mutating func takeThrough(_ end: Character) -> String {
        let taken = rest.prefix { $0 != end }
        rest = rest.dropFirst(taken.count + 1)
        return String(taken)
    }

    private mutating func readQuoted() {
        append("")
        while let character = rest.popFirst(), character != "\"" {
            switch character {
            case "\\": append(rest.popFirst().map { String($0) } ?? "")
            case "$" where rest.first == "(": substitute()
            default: append(String(character))
            }
        }
    }

    /// Reads `(…)` behind a dollar sign. The value is not known: a word stands for it.
    private mutating func substitute() {
        rest.removeFirst()
        let outer = (words, word)
        (words, word) = ([], nil)
        read(until: ")")
        (words, word) = outer
        append("value")
    }

    /// Leaves out a redirection with its file and the number before it.
    private mutating func redirect() {
        if word?.allSatisfy(\.isNumber) == true { word = nil }
        endWord()
        rest = rest.drop { "<>&".contains($0) }.drop { $0 == " " }
        rest = rest.drop { !$0.isWhitespace && !";|&)".contains($0) }
    }

    private mutating func endWord() {
        if let word { words.append(word) }
        word = nil
    }

    private mutating func endCommand() {
        endWord()
        if !words.isEmpty { commands.append(words) }
        words = []
    }
}
