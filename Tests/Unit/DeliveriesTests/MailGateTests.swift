import HTTPClient
import Sessions
import Testing

@testable import Deliveries

@Suite("Limits and pauses of mails") struct MailGateTests {
    private static let start = Instant(secondsSinceEpoch: 3600 * 400_000)
    private static func at(_ seconds: Int64) -> Instant { start + .seconds(seconds) }

    private static func gate(connections: Int = 2, perSecond: Int = 10, perHour: Int = 1000) -> MailGate {
        MailGate(connections: connections, perSecond: perSecond, perHour: perHour)
    }

    @Test("no second has more mails than the limit, and the next one begins anew")
    func perSecond() {
        var gate = Self.gate(connections: 4, perSecond: 5)
        #expect(gate.take(.codes, at: Self.at(0), trying: .seconds(60)) == 4)
        #expect(gate.take(.notices, at: Self.at(0), trying: .seconds(60)) == 1)
        #expect(gate.take(.codes, at: Self.at(0), trying: .seconds(60)) == 0)
        // What was not there does not count.
        gate.giveBack(3, of: .codes, at: Self.at(0))
        #expect(gate.take(.codes, at: Self.at(0), trying: .seconds(60)) == 3)
        #expect(gate.take(.codes, at: Self.at(1), trying: .seconds(60)) == 4)
    }

    @Test("notices get half of a second at most, and where it has one mail, codes have one of their own")
    func share() {
        for (perSecond, notices, codes) in [(10, 5, 5), (5, 2, 3), (2, 1, 1), (1, 1, 1)] {
            var gate = Self.gate(connections: 20, perSecond: perSecond)
            #expect(gate.take(.notices, at: Self.at(0), trying: .seconds(60)) == notices)
            #expect(gate.take(.notices, at: Self.at(0), trying: .seconds(60)) == 0)
            #expect(gate.take(.codes, at: Self.at(0), trying: .seconds(60)) == codes)
            #expect(gate.take(.codes, at: Self.at(0), trying: .seconds(60)) == 0)
        }
    }

    @Test("a try of the relay by a notice holds codes for a minute at most")
    func longTry() {
        var gate = Self.gate()
        _ = gate.note(.relayFails("no"), at: Self.at(0))
        #expect(gate.take(.notices, at: Self.at(5), trying: .seconds(300)) == 1)
        #expect(gate.take(.codes, at: Self.at(64), trying: .seconds(60)) == 0)
        #expect(gate.take(.codes, at: Self.at(65), trying: .seconds(60)) == 1)
    }

    @Test("notices wait for the next hour when this one is full, and codes do not")
    func perHour() {
        var gate = Self.gate(connections: 3, perHour: 6)
        for second in 0..<2 { #expect(gate.take(.notices, at: Self.at(Int64(second)), trying: .seconds(60)) == 3) }
        #expect(gate.isFull(at: Self.at(2)))
        #expect(gate.take(.notices, at: Self.at(2), trying: .seconds(60)) == 0)
        #expect(gate.take(.codes, at: Self.at(2), trying: .seconds(60)) == 3)
        #expect(!gate.isFull(at: Self.at(3600)) && gate.take(.notices, at: Self.at(3600), trying: .seconds(60)) == 3)
    }

    @Test("while the relay fails one mail tries it, after pauses that grow to a minute")
    func pauses() {
        var gate = Self.gate()
        var (now, pauses) = (Self.at(0), [Int64]())
        for _ in 0..<6 {
            #expect(gate.take(.codes, at: now, trying: .seconds(60)) == (pauses.isEmpty ? 2 : 1))
            // No priority sends while that one mail is under way.
            if !pauses.isEmpty { #expect(gate.take(.notices, at: now, trying: .seconds(60)) == 0) }
            let held = gate.note(.relayFails("no"), at: now)
            #expect(gate.take(.codes, at: held + .seconds(-1), trying: .seconds(60)) == 0)
            pauses.append((held - now).wholeSeconds)
            now = held
        }
        #expect(pauses == [5, 10, 20, 40, 60, 60] && gate.failingSince == Self.at(0))
        #expect(gate.take(.codes, at: now, trying: .seconds(60)) == 1)
        _ = gate.note(.mailboxRefused("550"), at: now)
        // The relay answers: it works, whatever it said.
        #expect(gate.failingSince == nil && gate.take(.notices, at: now, trying: .seconds(60)) == 2)
    }

    @Test("mails that were under way together fail once")
    func together() {
        var gate = Self.gate(connections: 4)
        #expect(gate.take(.codes, at: Self.at(0), trying: .seconds(60)) == 4)
        let ends = (0..<4).map { gate.note(.relayFails("no"), at: Self.at(Int64($0))) }
        #expect(ends == Array(repeating: Self.at(5), count: 4))
    }

    @Test("a try for which there is no mail lets the next one try, and an admin ends a pause")
    func without() {
        var gate = Self.gate()
        _ = gate.note(.relayFails("no"), at: Self.at(0))
        #expect(gate.take(.codes, at: Self.at(5), trying: .seconds(60)) == 1)
        gate.giveBack(1, of: .codes, at: Self.at(5))
        #expect(gate.take(.notices, at: Self.at(5), trying: .seconds(60)) == 1)
        _ = gate.note(.relayFails("no"), at: Self.at(5))
        gate.endPause(at: Self.at(6))
        #expect(gate.take(.notices, at: Self.at(6), trying: .seconds(60)) == 1)
    }
}

@Suite("Meanings of replies") struct MailReplyTests {
    private typealias Reply = SMTPReport.Reply

    @Test("each reply is about the mailbox, the content, the time, or the relay")
    func meanings() {
        func meaning(_ step: SMTPReport.Step, _ code: Int) -> MailReply {
            MailReply(SMTPReport(outcome: .refused(Reply(step, code, "\(code) x"))))
        }
        for step in SMTPReport.Step.allCases {
            for code in [421, 530, 535, 538] {
                #expect(meaning(step, code) == .relayFails("\(step.rawValue): \(code) x"), "\(step) \(code)")
            }
            let (busy, refused) = (meaning(step, 451), meaning(step, 550))
            let (busyText, refusedText) = ("\(step.rawValue): 451 x", "\(step.rawValue): 550 x")
            switch step {
            case .greeting, .hello, .startTLS, .authentication, .sender:
                #expect(busy == .relayFails(busyText) && refused == .relayFails(refusedText))
            case .recipient: #expect(busy == .notYet(busyText) && refused == .mailboxRefused(refusedText))
            case .data, .content: #expect(busy == .notYet(busyText) && refused == .contentRefused(refusedText))
            }
        }
        #expect(MailReply(SMTPReport(outcome: .accepted)) == .taken)
        #expect(
            MailReply(SMTPReport(outcome: .inDoubt(.malformed))) == .inDoubt("no reply to the content: malformed"))
        for outcome in [SMTPReport.Outcome.noEncryption, .noAuthentication, .failed(.unreachable)] {
            if case .relayFails = MailReply(SMTPReport(outcome: outcome)) {} else { Issue.record("\(outcome)") }
        }
    }

    @Test(
        "a refusal of the recipient marks the mailbox only if its enhanced code is about the mailbox",
        arguments: [
            ("550 5.1.1 unknown", true), ("550-5.1.1 no 5.1.1 user", true), ("552 5.2.2 full", true),
            ("550 unknown", true), ("550 5.1.10 null MX", true), ("554 5.7.1 relay access denied", false),
            ("550 5.7.1 blocked", false), ("553 5.1.8 sender", false), ("550 5.4.1 no route", false),
            ("550 5.0.0 no", false),
        ])
    func recipients(_ reply: String, _ isAboutMailbox: Bool) {
        let code = Int(reply.prefix(3)) ?? 0
        let meaning = MailReply(SMTPReport(outcome: .refused(Reply(.recipient, code, reply))))
        let text = "RCPT: \(reply)"
        #expect(meaning == (isAboutMailbox ? .mailboxRefused(text) : .contentRefused(text)))
    }

    @Test("a failure after the relay has taken the sender is a try of that mail, and not the relay's")
    func afterSender() {
        let hello = Reply(.hello, 250, "250 relay")
        let before = MailReply(SMTPReport(replies: [hello], outcome: .failed(.unreachable)))
        let after = MailReply(
            SMTPReport(replies: [hello, Reply(.sender, 250, "250 ok")], outcome: .failed(.unreachable)))
        #expect(before == .relayFails(before.text ?? "") && after == .notYet(after.text ?? ""))
    }

    @Test("a log has no text of a relay that may name the mailbox")
    func withoutMailbox() {
        for (text, logged) in [
            ("RCPT: 421 4.7.0 <anna@example.org> later", "RCPT: 421"), (".: 421 <anna@example.org>", ".: 421"),
            ("MAIL: 451 4.3.2 not now", "MAIL: 451 4.3.2 not now"), ("RCPT: 4", "RCPT: 4"),
        ] { #expect(MailReply.relayFails(text).withoutMailbox == logged) }
    }

    @Test("a receiver of mails takes one by 2xx, refuses one by 410 and 422, and otherwise fails")
    func statuses() {
        for status in [200, 202, 204, 299] { #expect(MailWebhookTransport.reply(status) == .taken) }
        #expect(MailWebhookTransport.reply(410) == .mailboxRefused("the receiver: status 410"))
        #expect(MailWebhookTransport.reply(422) == .contentRefused("the receiver: status 422"))
        for status in [301, 400, 401, 403, 404, 429, 500, 503] {
            #expect(MailWebhookTransport.reply(status) == .relayFails("the receiver: status \(status)"))
        }
    }
}
