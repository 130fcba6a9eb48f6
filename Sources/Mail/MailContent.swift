internal import Calendar
public import Sessions

/// What fills the texts of one mail.
public struct MailFacts: Hashable, Sendable {
    /// The value of a fact in bytes at most.
    private static let valueMax = 256

    private(set) var values: [MailVariable: String] = [:]

    /// The facts of a mail about an app, or about this server by its host.
    public init(app: String) { self[.app] = app }

    /// One fact, on one line and without control characters; empty: absent.
    public subscript(_ variable: MailVariable) -> String? {
        get { values[variable] }
        set {
            // Links stay whole: this server makes one, and the operator names that of the support.
            let limit = variable == .link || variable == .support ? Int.max : Self.valueMax
            let line = newValue.map { Self.line($0, limit) }
            values[variable] = line?.isEmpty == true ? nil : line
        }
    }

    /// The facts by the names of their variables.
    public var members: [String: String] {
        Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
    }

    /// Sets a time, in the same words in every language.
    public mutating func set(_ variable: MailVariable, to instant: Instant) {
        let time = UTCTime(secondsSinceEpoch: instant.secondsSinceEpoch)
        self[variable] = "\(time.date.text) \(time.timeText.prefix(5)) UTC"
    }

    /// Sets the code, in two groups of digits.
    public mutating func setCode(_ code: String) {
        self[.code] = code.prefix(code.count / 2) + " " + code.dropFirst(code.count / 2)
    }

    private static func line(_ text: String, _ limit: Int) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: " "
            default: scalar
            }
        }
        var line = String(String.UnicodeScalarView(scalars)).split(separator: " ").joined(separator: " ")
        while line.utf8.count > limit { line.removeLast() }
        return line
    }
}

/// A mail in words: subject, text and HTML.
public struct MailContent: Hashable, Sendable {
    /// The subject, on one line.
    public let subject: String
    /// The text.
    public let text: String
    /// The HTML.
    public let html: String
}

extension MailTexts {
    /// The mail of a kind with these facts; nil for a kind without a text.
    ///
    /// - Parameters:
    ///   - accent: the colour of the button, such as `#0060df`.
    ///   - codeInSubject: whether the subject may have the code, which the screen of a locked phone shows.
    public func content(
        of kind: QueuedMail.Kind, _ facts: MailFacts, accent: String? = nil, codeInSubject: Bool = false
    ) -> MailContent? {
        guard let entry = entries[kind] else { return nil }
        var subjectFacts = facts
        if !codeInSubject { subjectFacts[.code] = nil }
        let subject = entry.subject.filled(subjectFacts.values, .text)
        let text = entry.text.filled(facts.values, .text)
        let html =
            entry.html?.filled(facts.values, .html)
            ?? MailLayout(subject: subject, code: facts[.code], link: facts[.link], accent: accent).html(of: text)
        return MailContent(subject: subject, text: text, html: html)
    }
}
