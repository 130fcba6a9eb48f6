import Testing

/// What is declared is used, and what is said is not said by the name already.
struct DeadCodeTests {
    /// The targets of the SDK: apps use their names.
    private static let libraries: Set<Substring> = ["SojournClient", "SojournEvents", "SojournTestKit"]

    /// How often each identifier stands in code, counted once.
    private static let counts = Result {
        var counts: [UInt64: Int] = [:]
        for file in try SourceFile.all(in: "Sources") + SourceFile.all(in: "Tests") where file.target != "TidyTests" {
            for line in file.lines where !line.isComment {
                for print in line.fingerprints { counts[print, default: 0] += 1 }
            }
        }
        return counts
    }

    @Test("a noun that was coined here stands in no more code than before") func coinagesDoNotSpread() throws {
        let counts = try Self.counts.get()
        for (noun, bound) in Remaining.coinedNouns {
            let count = Substring(noun).fingerprints.reduce(0) { $0 + (counts[$1] ?? 0) }
            #expect(count <= bound, "\(noun): \(count)")
        }
    }

    @Test("a name that is declared in the sources stands somewhere else too") func namesAreUsed() throws {
        let sources = try SourceFile.all(in: "Sources")
        let counts = try Self.counts.get()
        var found: Set<String> = []
        for file in sources where !Self.libraries.contains(file.target) {
            for (index, line) in file.lines.enumerated() {
                // The system calls the entry point.
                if line.isComment || index > 0 && file.lines[index - 1] == "@main" { continue }
                for name in line.declaredNames where name.fingerprints.allSatisfy({ counts[$0] == 1 }) {
                    found.insert(String(name))
                    #expect(Remaining.lonelyNames.contains(String(name)), "\(file.path):\(index + 1): \(name)")
                }
            }
        }
        #expect(counts.count > 10_000)
        #expect(found == Remaining.lonelyNames)
    }

    /// The formatter demands a docstring for each public declaration.
    @Test("a docstring has a word that the name of its declaration has not") func docstringsSayMore() throws {
        var count = 0
        for file in try SourceFile.all(in: "Sources") + SourceFile.all(in: "Tests") {
            if ["SojournClient", "SojournEvents"].contains(file.target) { continue }
            for docstring in file.docstrings where !docstring.isPublic {
                count += 1
                #expect(!docstring.isRepetition, "\(file.path):\(docstring.line)")
            }
        }
        #expect(count > 3000)
    }

    @Test("the rules find what they are for") func rulesFind() {
        let names: [(Substring, [Substring])] = [
            ("    public static let gone = 1", ["gone"]),
            ("case one, two(Int, a: Int), three = 3", ["one", "two", "three"]),
            ("        case constant, other:", []), ("        case .one: return", []), ("func call(a: Int) {", ["call"]),
            ("indirect case more(Self)", ["more"]), ("        case let x?: break", []), ("struct A<B> {", ["A"]),
        ]
        for (line, expected) in names { #expect(line.declaredNames == expected, "\(line)") }
        let comments = ["/// The tokens of an account.", "/// Ends them."]
        let lines = comments.flatMap { ["    \($0)", "    func tokens() {}"] }.map { Substring($0) }
        let file = SourceFile(path: "", lines: ["extension Account {"] + lines + ["}"], declarations: [])
        #expect(file.docstrings.map(\.isRepetition) == [true, false])
    }
}

extension Substring {
    fileprivate var unindented: Substring { Substring(utf8.drop { $0 == 0x20 }) }
    fileprivate var isComment: Bool { utf8.drop { $0 == 0x20 }.starts(with: "//".utf8) }

    /// A number for each of the identifiers, because the repository has more than a million of them.
    fileprivate var fingerprints: [UInt64] {
        var (prints, print) = ([UInt64](), UInt64(0))
        for byte in utf8 {
            if byte.isOfIdentifier {
                print = (print &+ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
                print ^= print >> 29
            } else if print != 0 {
                prints.append(print)
                print = 0
            }
        }
        return print == 0 ? prints : prints + [print]
    }

    /// The words of a line, as identifiers have them.
    fileprivate var identifiers: [Substring] {
        var words: [Substring] = []
        var start: Index?
        for index in utf8.indices {
            if utf8[index].isOfIdentifier {
                if start == nil { start = index }
            } else if let first = start {
                words.append(self[first..<index])
                start = nil
            }
        }
        if let start { words.append(self[start...]) }
        return words
    }

    /// The names that a line declares: of types, functions and variables, and of the cases of an enum.
    fileprivate var declaredNames: [Substring] {
        let text = unindented
        if text.utf8.starts(with: "case ".utf8) || text.utf8.starts(with: "indirect case ".utf8) {
            return text.declaredCases
        }
        let words = text.identifiers
        return zip(words, words.dropFirst()).compactMap { keyword, name in
            SourceFile.keywords.contains(keyword) && self[keyword.endIndex] == " " ? name : nil
        }
    }

    private var declaredCases: [Substring] {
        var (depth, names) = (0, [Substring]())
        guard let keyword = firstRange(of: "case ") else { return [] }
        // What an associated value is called, and a raw value, is no name of a case.
        for part in self[keyword.upperBound...].split(whereSeparator: { character in
            if character == "(" { depth += 1 } else if character == ")" { depth -= 1 }
            return character == "," && depth == 0
        }) {
            guard let name = part.identifiers.first, name.utf8.first.map({ $0 >= 0x61 }) == true else { return [] }
            let before = part[..<name.startIndex].drop { $0 == " " || $0 == "`" }
            let after = part[name.endIndex...].drop { $0 == " " || $0 == "`" }.first
            guard before.isEmpty, after.map({ "(=".contains($0) }) ?? true, !hasSuffix(":") else { return [] }
            names.append(name)
        }
        return names
    }

    /// The words that are more than grammar, in lower case and without endings; a name is split at its capitals.
    fileprivate var stems: Set<String> {
        var (words, word, wasLower) = (Set<String>(), "", false)
        for character in self + " " {
            if !word.isEmpty, !character.isLetter && !character.isNumber || wasLower && character.isUppercase {
                if !SourceFile.grammar.contains(word) { words.insert(word.stem) }
                word = ""
            }
            if character.isLetter || character.isNumber { word += character.lowercased() }
            wasLower = character.isLowercase
        }
        return words
    }
}

extension String {
    fileprivate var stem: String {
        var stem = self
        for ending in ["ies", "es", "s", "ing", "ed"] where hasSuffix(ending) && count - ending.count >= 3 {
            stem.removeLast(ending.count)
            break
        }
        while stem.hasSuffix("e") { stem.removeLast() }
        return stem
    }
}

extension UInt8 {
    fileprivate var isOfIdentifier: Bool {
        (0x30...0x39).contains(self) || (0x61...0x7A).contains(self) || (0x41...0x5A).contains(self) || self == 0x5F
    }
}

extension SourceFile {
    fileprivate struct Docstring {
        var line: Int
        var isPublic: Bool
        /// Whether the name of the declaration, with that of its type, has every word.
        var isRepetition: Bool
    }

    fileprivate static let types: Set<Substring> = [
        "class", "struct", "enum", "actor", "protocol", "typealias", "extension",
    ]
    fileprivate static let keywords = types.subtracting(["extension"]).union(["func", "var", "let", "associatedtype"])
    fileprivate static let grammar: Set = [
        "a", "an", "the", "of", "is", "are", "its", "it", "this", "that", "to", "for", "in", "on", "as", "at", "by",
        "with", "and", "or", "one", "be", "which", "has", "have", "from", "all", "any",
    ]

    fileprivate var docstrings: [Docstring] {
        var docstrings: [Docstring] = []
        var text: Substring = ""
        for (index, line) in lines.enumerated() {
            let content = line.unindented
            if content.utf8.starts(with: "///".utf8) {
                text += content.dropFirst(3)
            } else if !text.isEmpty, !content.hasPrefix("@") {
                let name = content.declaredNames.first ?? ""
                if !name.isEmpty || content.identifiers.contains("init") {
                    let outer = type(around: index, indent: line.count - content.count)
                    docstrings.append(
                        Docstring(
                            line: index, isPublic: content.identifiers.contains("public"),
                            isRepetition: text.stems.isSubset(of: name.stems.union(outer.stems))))
                }
                text = ""
            }
        }
        return docstrings
    }

    /// The name of the type in which a line stands; empty: there is none.
    private func type(around index: Int, indent: Int) -> Substring {
        if indent == 0 { return "" }
        for line in lines[..<index].reversed() where line.hasSuffix("{") && !line.isComment {
            if line.prefix(while: { $0 == " " }).count >= indent { continue }
            let words = line.identifiers
            if let keyword = words.firstIndex(where: Self.types.contains), keyword + 1 < words.count {
                return words[keyword + 1]
            }
        }
        return ""
    }
}
