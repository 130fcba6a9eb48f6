internal import Texts

/// The sentences of a language file. The texts are escaped as all texts from outside are, and have no markup.
struct FileWords: Words {
    static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]
    /// The most characters of a sentence.
    private static let lengthMax = 1000

    /// One for each sentence.
    private let templates: [String: TextTemplate]

    /// The sentences of a file, and for those that it lacks those of `base`.
    init(_ texts: [String: String], base: (any Words)?) throws(TextProblems) {
        var (templates, problems): ([String: TextTemplate], [TextProblem]) = ([:], [])
        for sentence in Sentence.all {
            guard let text = texts[sentence.key] ?? base.map(sentence.text) else {
                problems.append(TextProblem(sentence.key, .missing))
                continue
            }
            do { templates[sentence.key] = try Self.template(text, sentence.key) } catch {
                problems.append(TextProblem(sentence.key, error))
            }
        }
        problems += texts.keys.filter { Sentence.placeholders[$0] == nil }.map { TextProblem($0, .unknownKey) }
        if !problems.isEmpty { throw TextProblems(problems.sorted { $0.key < $1.key }) }
        self.templates = templates
    }

    private static func template(_ text: String, _ key: String) throws(TextProblem.Reason) -> TextTemplate {
        guard text.contains(where: { !$0.isWhitespace }) else { throw .empty }
        guard text.count <= lengthMax else { throw .tooLong(lengthMax) }
        guard !text.unicodeScalars.contains(where: { $0.isHidden || $0.value < 0x20 }) else { throw .controlCharacter }
        let template = try TextTemplate(text)
        try template.check(against: Sentence.placeholders[key] ?? [])
        return template
    }

    private func pieces(_ key: String) -> [TextTemplate.Piece] {
        guard let template = templates[key] else { preconditionFailure("\(key) is in the table of sentences") }
        return template.pieces
    }

    /// A sentence.
    func text(_ key: String) -> String {
        if case .text(let text)? = pieces(key).first { text } else { "" }
    }

    /// A sentence with values for its placeholders.
    func text(_ key: String, _ values: KeyValuePairs<String, String>) -> String {
        pieces(key).map { piece in
            switch piece {
            case .text(let text): text
            case .placeholder(let name): values.first { $0.key == name }?.value ?? ""
            }
        }.joined()
    }

    /// One of two sentences: for one of something, or for another number of them.
    func text(_ key: String, counting count: Int, _ name: String) -> String {
        count == 1 ? text(key + "_one") : text(key + "_other", [name: "\(count)"])
    }

    /// A sentence as markup.
    func html(_ key: String) -> HTML { "\(text(key))" }

    /// A sentence with names, which are isolated in it.
    func html(_ key: String, _ names: KeyValuePairs<String, DisplayName>) -> HTML {
        HTML(
            pieces(key).map { piece in
                switch piece {
                case .text(let text): "\(text)"
                case .placeholder(let name): names.first { $0.key == name }.map { "\($0.value)" } ?? HTML()
                }
            })
    }
}
