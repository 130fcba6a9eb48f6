internal import Sessions

/// The texts of every kind of mail in one language, or what a file says instead.
public struct MailTexts: Hashable, Sendable {
    /// The texts of one kind.
    struct Entry: Hashable, Sendable {
        var subject: MailTemplate
        var text: MailTemplate
        /// HTML of a file; nil: the layout makes it from the text.
        var html: MailTemplate?
    }

    /// The size of a text at most, in bytes.
    static let sizeMax = 65_536

    /// What each text says, by its key: `reset.subject`, `reset.text`, and `reset.html` if there is one.
    public let texts: [String: String]
    let entries: [QueuedMail.Kind: Entry]

    /// The built-in texts.
    public static let english = made(of: EnglishMails.texts)
    /// The built-in texts.
    public static let german = made(of: GermanMails.texts)
    /// The languages that are built in, by their tags.
    public static let builtIn = ["en": english, "de": german]

    /// The texts of a file: what it says, else what `base` says. Without one, each subject and text must be there.
    public init(texts: [String: String], base: MailTexts?) throws(TextProblem) {
        for key in texts.keys.sorted() where !Self.keys.contains(key) {
            throw TextProblem(key: key, reason: "belongs to no kind of mail")
        }
        // HTML was written for the text beside it.
        var all = base?.texts ?? [:]
        for (key, text) in texts {
            if let kind = Self.kind(ofText: key) { all["\(kind).html"] = nil }
            all[key] = text
        }
        for (key, text) in texts where key.hasSuffix(".html") { all[key] = text }
        var entries: [QueuedMail.Kind: Entry] = [:]
        for kind in QueuedMail.Kind.withText {
            let subject = try Self.template("\(kind.rawValue).subject", all, of: kind)
            let text = try Self.template("\(kind.rawValue).text", all, of: kind)
            let key = "\(kind.rawValue).html"
            let html = all[key] == nil ? nil : try Self.template(key, all, of: kind)
            entries[kind] = Entry(subject: subject, text: text, html: html)
        }
        (self.texts, self.entries) = (all, entries)
    }

    /// Every key that a file may have.
    public static let keys: Set<String> = Set(
        QueuedMail.Kind.withText.flatMap { kind in ["subject", "text", "html"].map { "\(kind.rawValue).\($0)" } })

    private static func kind(ofText key: String) -> String? {
        key.hasSuffix(".text") ? String(key.dropLast(".text".count)) : nil
    }

    private static func made(of texts: [String: String]) -> MailTexts {
        do throws(TextProblem) { return try MailTexts(texts: texts, base: nil) } catch {
            preconditionFailure("\(error.key) \(error.reason)")
        }
    }

    private static func template(
        _ key: String, _ texts: [String: String], of kind: QueuedMail.Kind
    ) throws(TextProblem) -> MailTemplate {
        guard let text = texts[key], !text.allSatisfy(\.isWhitespace) else {
            throw TextProblem(key: key, reason: "is missing")
        }
        guard text.utf8.count <= sizeMax else {
            throw TextProblem(key: key, reason: "has more than \(sizeMax) bytes")
        }
        let isSubject = key.hasSuffix(".subject")
        if isSubject, text.contains(where: \.isNewline) {
            throw TextProblem(key: key, reason: "has more than one line")
        }
        let template: MailTemplate
        do throws(MailTemplate.Invalid) { template = try MailTemplate(text) } catch {
            throw TextProblem(key: key, reason: error.reason)
        }
        for variable in MailVariable.allCases where template.all.contains(variable) && !kind.known.contains(variable) {
            throw TextProblem(key: key, reason: "has {{\(variable.rawValue)}}, which mails of this kind do not have")
        }
        for variable in MailVariable.allCases
        where !isSubject && kind.needed.contains(variable) && !template.always.contains(variable) {
            throw TextProblem(key: key, reason: "has no {{\(variable.rawValue)}}")
        }
        return template
    }
}

extension MailTexts {
    /// Reads a file of a folder of templates. A `.txt` begins with a line `Subject: …` and a blank one.
    public static func texts(ofFile name: String, _ content: String) throws(TextProblem) -> [String: String] {
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count == 2, let kind = QueuedMail.Kind(rawValue: parts[0]), kind != .none,
            ["txt", "html"].contains(parts[1])
        else { throw TextProblem(key: name, reason: "is no file of a kind of mail, such as reset.txt") }
        let content = content.replacing("\r\n", with: "\n")
        if parts[1] == "html" { return ["\(parts[0]).html": content] }
        let lines = content.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard lines.count == 2, lines[0].hasPrefix("Subject: ") else {
            throw TextProblem(key: name, reason: "does not begin with a line Subject: …")
        }
        return [
            "\(parts[0]).subject": String(lines[0].dropFirst("Subject: ".count)),
            "\(parts[0]).text": trimmed(String(lines[1])),
        ]
    }

    /// The files of a folder of templates with these texts.
    public var files: [(name: String, content: String)] {
        QueuedMail.Kind.withText.flatMap { kind -> [(name: String, content: String)] in
            let name = kind.rawValue
            let text = "Subject: \(texts["\(name).subject"] ?? "")\n\n\(texts["\(name).text"] ?? "")\n"
            return [("\(name).txt", text)] + (texts["\(name).html"].map { [("\(name).html", $0)] } ?? [])
        }
    }

    private static func trimmed(_ text: String) -> String {
        var text = text.drop(while: \.isNewline)
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }
}
