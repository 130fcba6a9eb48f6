/// What came of one mail, or of a probe, at the relay.
public struct SMTPReport: Hashable, Sendable {
    /// The steps of a conversation (RFC 5321 section 3), in their order.
    public enum Step: String, CaseIterable, Hashable, Sendable {
        /// The connection, until the relay's greeting.
        case greeting
        /// This machine names itself.
        case hello = "EHLO"
        /// The connection goes on encrypted.
        case startTLS = "STARTTLS"
        /// User and password are shown.
        case authentication = "AUTH"
        /// The address of this server is named.
        case sender = "MAIL"
        /// The mailbox is named.
        case recipient = "RCPT"
        /// The announcement of the content.
        case data = "DATA"
        /// The end of the content.
        case content = "."
    }

    /// A reply of the relay to one step.
    public struct Reply: Hashable, Sendable {
        /// The step.
        public let step: Step
        /// The code: 250, 451, 550 …
        public let code: Int
        /// The code and the text, as the relay wrote it, without control characters and not longer than 400 bytes.
        public let text: String

        /// A reply.
        public init(_ step: Step, _ code: Int, _ text: String) {
            (self.step, self.code, self.text) = (step, code, text)
        }

        /// True for a reply of 4yz, which another try may not get.
        public var isTransient: Bool { (400..<500).contains(code) }
    }

    /// How the conversation ended.
    public enum Outcome: Hashable, Sendable {
        /// The relay took the mail.
        case accepted
        /// The relay would take a mail to the recipient; only of a probe.
        case probed
        /// The relay replied 4yz or 5yz.
        case refused(Reply)
        /// The relay does not begin TLS.
        case noEncryption
        /// The relay does not offer authentication, or by no mechanism that libcurl knows.
        case noAuthentication
        /// The relay got the content and did not reply: it has the mail, or not.
        case inDoubt(OutboundError)
        /// The conversation ended before the content was sent.
        case failed(OutboundError)
    }

    /// The replies, in their order.
    public let replies: [Reply]
    /// How the conversation ended.
    public let outcome: Outcome

    /// A report.
    public init(replies: [Reply] = [], outcome: Outcome) { (self.replies, self.outcome) = (replies, outcome) }

    /// The outcome in a few words, for logs and admins.
    public var sentence: String {
        switch outcome {
        case .accepted: replies.last?.text ?? "accepted"
        case .probed: "the relay would take a mail"
        case .refused(let reply): "\(reply.step.rawValue): \(reply.text)"
        case .noEncryption: "the relay does not offer STARTTLS"
        case .noAuthentication: "the relay does not offer AUTH with a known mechanism"
        case .inDoubt(let error): "no reply to the content: \(error.word)"
        case .failed(let error): "\(replies.isEmpty ? "no greeting" : "no conversation"): \(error.word)"
        }
    }
}
