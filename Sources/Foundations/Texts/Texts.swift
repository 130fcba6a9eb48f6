// Texts: the texts of pages and mails that come from files, with placeholders such as `{{app}}`.
//
// This module owns the notation of placeholders and the form of a complaint about a text. It must not know a language, a page,
// a mail or a file. It imports nothing.
//
// Reading order: TextTemplate, TextProblem.

/// A text with placeholders: `Back to {{app}}`.
public struct TextTemplate: Hashable, Sendable {
    /// A part of a text.
    public enum Piece: Hashable, Sendable {
        /// A part that stands for itself.
        case text(String)
        /// The name of a value that is put here.
        case placeholder(String)
    }

    /// The parts in their order.
    public let pieces: [Piece]

    /// The names of the placeholders, each once, in the order of the alphabet.
    public var placeholders: [String] {
        let names = pieces.compactMap { if case .placeholder(let name) = $0 { name } else { nil } }
        return Set(names).sorted()
    }

    /// Reads a text. Throws the reason if braces are not those of a placeholder.
    public init(_ text: String) throws(TextProblem.Reason) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let opening = rest.firstRange(of: "{{") {
            let before = rest[..<opening.lowerBound]
            guard let closing = rest[opening.upperBound...].firstRange(of: "}}") else { throw .unclosed }
            if before.contains("}}") { throw .unopened }
            let name = rest[opening.upperBound..<closing.lowerBound]
            guard Self.isName(name) else { throw .noName(String(name)) }
            if !before.isEmpty { pieces.append(.text(String(before))) }
            pieces.append(.placeholder(String(name)))
            rest = rest[closing.upperBound...]
        }
        if rest.contains("}}") { throw .unopened }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        self.pieces = pieces
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    }

    /// Whether the text has exactly these placeholders; throws what is wrong otherwise.
    public func check(against names: [String]) throws(TextProblem.Reason) {
        let own = placeholders
        if let unknown = own.first(where: { !names.contains($0) }) { throw .unknownPlaceholder(unknown, names) }
        if let missing = names.first(where: { !own.contains($0) }) { throw .missingPlaceholder(missing) }
    }
}

/// What is wrong with a text of a file.
public struct TextProblem: Error, Hashable, Sendable {
    /// The kinds of problems.
    public enum Reason: Error, Hashable, Sendable {
        /// No text of this server has the key.
        case unknownKey
        /// A language that is not built in lacks the text.
        case missing
        /// The text is empty, or has nothing but white space.
        case empty
        /// The text has more characters than this.
        case tooLong(Int)
        /// A control character, or one that changes the direction of what follows.
        case controlCharacter
        /// `{{` without `}}`.
        case unclosed
        /// `}}` without `{{`.
        case unopened
        /// Between the braces is no name.
        case noName(String)
        /// A placeholder that the text cannot have, and those that it can.
        case unknownPlaceholder(String, [String])
        /// A placeholder that the text lacks.
        case missingPlaceholder(String)
    }

    /// The key of the text.
    public let key: String
    /// What is wrong.
    public let reason: Reason

    /// A problem.
    public init(_ key: String, _ reason: Reason) { (self.key, self.reason) = (key, reason) }
}

extension TextProblem.Reason: CustomStringConvertible {
    /// The reason, in words that fit after the key.
    public var description: String {
        switch self {
        case .unknownKey: "is no text of this server"
        case .missing: "is missing"
        case .empty: "is empty"
        case .tooLong(let max): "has more than \(max) characters"
        case .controlCharacter: "has a control character"
        case .unclosed: "has {{ without }}"
        case .unopened: "has }} without {{"
        case .noName(let text): "has {{\(text)}}, and a placeholder is small letters alone"
        case .unknownPlaceholder(let name, []): "has {{\(name)}}, and takes no placeholder"
        case .unknownPlaceholder(let name, let known):
            "has {{\(name)}}, and takes \(known.map { "{{\($0)}}" }.joined(separator: ", ")) alone"
        case .missingPlaceholder(let name): "lacks {{\(name)}}"
        }
    }
}

/// Every problem of the texts of one language.
public struct TextProblems: Error, Hashable, Sendable {
    /// The problems, in the order of their keys.
    public let all: [TextProblem]

    /// The problems of a language.
    public init(_ all: [TextProblem]) { self.all = all }
}
