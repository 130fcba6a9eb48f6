public import HTTPClient
public import Mail

/// What the operator has decided about mails.
public struct MailSetting: Sendable {
    /// The way of mails.
    public enum Way: Sendable {
        /// Through a relay, by SMTP.
        case relay(SMTPClient.Options)
        /// To a program that sends them.
        case webhook(WebhookTarget)
    }

    /// The way of mails.
    public var way: Way
    /// Sender and texts.
    public var templates: MailTemplates
    /// The mails that this node sends at one time in each priority.
    public var connections = 2
    /// The mails that this node sends in a second.
    public var perSecond = 10
    /// The mails that this node sends in an hour; beyond it notices wait.
    public var perHour = 10_000

    /// A setting.
    public init(way: Way, templates: MailTemplates) { (self.way, self.templates) = (way, templates) }
}

/// The sender and the texts of mails.
public struct MailTemplates: Sendable {
    /// The sender.
    public var from: MailAddress
    /// The texts, by the tags of their languages. English is among them.
    public var texts: [String: MailTexts]
    /// The language of a mail in a language without texts.
    public var language: String
    /// Whether the subject has the code.
    public var codeInSubject: Bool

    /// A sender with texts.
    public init(
        from: MailAddress, texts: [String: MailTexts] = MailTexts.builtIn, language: String = "en",
        codeInSubject: Bool = false
    ) {
        (self.from, self.texts, self.language, self.codeInSubject) = (from, texts, language, codeInSubject)
    }

    /// The first of these languages that has texts: of `de-AT`, those of `de` if it has none of its own.
    func texts(in languages: [String?]) -> (language: String, texts: MailTexts) {
        for language in (languages + [self.language]).compactMap({ $0?.lowercased() }) {
            for tag in [language, String(language.prefix { $0 != "-" })] {
                if let found = texts[tag] { return (tag, found) }
            }
        }
        return ("en", texts["en"] ?? .english)
    }
}
