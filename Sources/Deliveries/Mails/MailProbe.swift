public import Cryptography
internal import HTTPClient
internal import Mail
public import Sessions

/// One mail outside of the queue, or a look at the relay that sends none: what each step was answered.
public struct MailProbe: Sendable {
    /// A step, in the words of its protocol, and its answer.
    public struct Step: Hashable, Sendable {
        /// `EHLO`, `AUTH`, `RCPT` …; `POST` of a webhook.
        public let name: String
        /// The answer.
        public let answer: String
    }

    /// The steps, in their order.
    public let steps: [Step]
    /// Whether the relay or the receiver took the mail, or would take one.
    public let isTaken: Bool
    /// The result in a few words.
    public let sentence: String
    /// What the operator may have meant; nil: nothing is known.
    public let hint: String?

    /// The time of one attempt.
    private static let deadline = Duration.seconds(60)
    /// The time for a connection, shorter than that of mails, because a person waits.
    private static let connectDeadline = Duration.seconds(8)

    private init(_ reply: MailReply, steps: [Step], hint: String? = nil) {
        (self.steps, self.hint) = (steps, hint)
        (isTaken, sentence) = (reply == .taken, reply.text ?? "taken")
    }

    /// Sends a mail of the kind `test` at once.
    public static func send(
        to address: String, _ setting: MailSetting, issuer: String, clock: WallClock, random: RandomSource
    ) async -> MailProbe {
        let id = "test-" + Hex.encode(random.bytes(8))
        let renderer = MailRenderer(setting.templates, issuer: issuer)
        guard let mail = renderer.test(to: address, id: id, at: clock.now) else {
            return MailProbe(.contentRefused("there is no text for it"), steps: [])
        }
        switch setting.way {
        case .webhook:
            let reply = await MailDeliveries.transport(setting, clock).send(mail, within: deadline)
            return MailProbe(reply, steps: [Step(name: "POST", answer: reply.text ?? "taken")])
        case .relay(let options):
            let message = mail.message
            return await probe(
                options, SMTPMessage(from: message.from.address, to: message.to, content: message.bytes))
        }
    }

    /// Speaks with the relay up to a recipient, the sender itself, and sends nothing; nil of a webhook, which has no such look.
    public static func look(at setting: MailSetting) async -> MailProbe? {
        guard case .relay(let options) = setting.way else { return nil }
        let from = setting.templates.from.address
        return await probe(options, SMTPMessage(probing: from, from: from))
    }

    private static func probe(_ options: SMTPClient.Options, _ message: SMTPMessage?) async -> MailProbe {
        guard let message else {
            return MailProbe(.mailboxRefused("the address is none that can be written to"), steps: [])
        }
        var options = options
        options.connectDeadline = connectDeadline
        let report = await SMTPClient(options).send(message, within: deadline)
        let steps = report.replies.map { Step(name: $0.step.rawValue, answer: $0.text) }
        return MailProbe(MailReply(report), steps: steps, hint: await hint(options, report))
    }

    /// Whether the relay answers by the other scheme.
    private static func hint(_ options: SMTPClient.Options, _ report: SMTPReport) async -> String? {
        guard report.replies.isEmpty, case .failed = report.outcome, let other = options.relay.otherScheme,
            let message = SMTPMessage(probing: "postmaster@example.com", from: "postmaster@example.com")
        else { return nil }
        var options = options
        (options.relay, options.credentials) = (other, nil)
        guard !(await SMTPClient(options).send(message, within: connectDeadline)).replies.isEmpty else { return nil }
        return other.isSecure
            ? "it begins with TLS: use \(other)" : "it begins in the clear, and goes on with STARTTLS: use \(other)"
    }
}
