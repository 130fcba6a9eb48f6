internal import HTTPClient
internal import JSON
internal import Mail
internal import Sessions

/// The way of a mail out of this server.
protocol MailTransport: Sendable {
    /// Sends one mail, and says what came of it.
    func send(_ mail: OutgoingMail, within time: Duration) async -> MailReply
}

/// Hands mails to a relay.
struct RelayTransport: MailTransport {
    let client: SMTPClient

    func send(_ mail: OutgoingMail, within time: Duration) async -> MailReply {
        guard
            let message = SMTPMessage(
                from: mail.message.from.address, to: mail.message.to, content: mail.message.bytes)
        else { return .mailboxRefused("the address is none that can be written to") }
        return MailReply(await client.send(message, within: time))
    }
}

extension MailReply {
    /// What a relay's reply means. A relay that refuses sender, user or the connection refuses every mail.
    init(_ report: SMTPReport) {
        let text = report.sentence
        switch report.outcome {
        case .accepted, .probed: self = .taken
        case .inDoubt: self = .inDoubt(text)
        // A relay that has taken the sender works: the recipient's server may be what it waits for.
        case .failed where report.hasTakenSender: self = .notYet(text)
        case .noEncryption, .noAuthentication, .failed: self = .relayFails(text)
        case .refused(let reply):
            switch (reply.step, reply.code) {
            case (_, 421), (_, 530), (_, 535), (_, 538): self = .relayFails(text)
            case (.recipient, _) where reply.isTransient: self = .notYet(text)
            case (.recipient, _): self = reply.isAboutMailbox ? .mailboxRefused(text) : .contentRefused(text)
            case (.data, _), (.content, _): self = reply.isTransient ? .notYet(text) : .contentRefused(text)
            case (.greeting, _), (.hello, _), (.startTLS, _), (.authentication, _), (.sender, _):
                self = .relayFails(text)
            }
        }
    }

    /// The reply for logs: from the mailbox on, step and code alone, because a relay repeats the mailbox in its text.
    var withoutMailbox: String {
        let reply = text ?? ""
        for step in [SMTPReport.Step.recipient, .data, .content] where reply.hasPrefix("\(step.rawValue): ") {
            return String(reply.prefix(step.rawValue.count + 5))
        }
        return reply
    }
}

extension SMTPReport {
    /// Whether the relay has accepted MAIL.
    fileprivate var hasTakenSender: Bool { replies.contains { $0.step == .sender && $0.code < 300 } }
}

extension SMTPReport.Reply {
    /// Whether a refusal of the recipient is about the mailbox, by its enhanced code (RFC 3463): addressing, except that of the
    /// sender, or the state of the mailbox. Any other one, such as that of a policy, tells of the relay. Without a code it is.
    fileprivate var isAboutMailbox: Bool {
        let word = text.dropFirst(4).prefix { $0 != " " }
        let parts = word.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let kind = parts[0], let subject = parts[1], let detail = parts[2] else { return true }
        return kind == 5 && (subject == 2 || (subject == 1 && detail != 7 && detail != 8))
    }
}

/// Posts mails to a program that sends them, signed as webhooks are.
struct MailWebhookTransport: MailTransport {
    let client: HTTPClient
    let target: WebhookTarget
    let clock: WallClock

    private struct Body: Encodable {
        let from: String
        let to: String
        let subject: String
        let text: String
        let html: String
        let kind: String
        let language: String
        let messageID: String
        let facts: [String: String]

        enum CodingKeys: String, CodingKey {
            case from, to, subject, text, html, kind, language, facts
            case messageID = "message_id"
        }
    }

    func send(_ mail: OutgoingMail, within time: Duration) async -> MailReply {
        let (message, content) = (mail.message, mail.message.content)
        let body = Body(
            from: message.from.description, to: message.to, subject: content.subject, text: content.text,
            html: content.html, kind: mail.kind.rawValue, language: message.language, messageID: message.messageID,
            facts: mail.facts.members)
        var request = target.request(message.id, at: clock.now, JSONText.compact(body) ?? [])
        request.deadline = time
        do throws(OutboundError) {
            return Self.reply(try await client.send(request).status)
        } catch { return .relayFails("the receiver: \(error.word)") }
    }

    /// What a status means. 410 and 422 are about the mail, and everything else about the receiver.
    static func reply(_ status: Int) -> MailReply {
        let text = "the receiver: status \(status)"
        return switch status {
        case 200..<300: .taken
        case 410: .mailboxRefused(text)
        case 422: .contentRefused(text)
        default: .relayFails(text)
        }
    }
}
