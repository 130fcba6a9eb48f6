import Cryptography
import Testing

@testable import Sessions

@Suite("Decisions about mails") struct MailPolicyTests {
    private static let now = Instant(secondsSinceEpoch: 1_000_000)

    private static func mail(_ kind: QueuedMail.Kind, tries: Int = 1, of verification: Verification? = nil)
        -> QueuedMail
    {
        QueuedMail(
            id: Identifier(random: .system), kind: kind, verificationID: verification?.id, email: "a@example.org",
            language: "en", createdAt: now, expiresAt: now + .seconds(600), dueAt: now + .seconds(90), tries: tries)
    }

    private static func verification(_ change: (inout Verification) -> Void = { _ in }) -> Verification {
        var verification = Verification(
            id: Identifier(random: .system), purpose: .signUp, mailbox: [1], email: "a@example.org", asker: [2],
            language: "en", keyID: 1, createdAt: now, codeUntil: now + .seconds(600), linkUntil: now + .seconds(3600))
        change(&verification)
        return verification
    }

    @Test("a mail is not sent when its code, its link or its reason is over", arguments: QueuedMail.Kind.withText)
    func over(_ kind: QueuedMail.Kind) {
        let (now, open) = (Self.now, Self.verification())
        let mail = Self.mail(kind, of: open)
        #expect(MailPolicy.hindrance(of: mail, open, nil, at: now) == nil)
        #expect(MailPolicy.hindrance(of: mail, nil, nil, at: now) == .obsolete)
        #expect(MailPolicy.hindrance(of: mail, Self.verification { $0.endedAt = now }, nil, at: now) == .obsolete)
        #expect(MailPolicy.hindrance(of: mail, Self.verification { $0.provenAt = now }, nil, at: now) == .obsolete)
        let (late, later) = (now + .seconds(600), now + .seconds(3600))
        // A late mail with a code is of no use; another one is late for itself.
        #expect(MailPolicy.hindrance(of: mail, open, nil, at: late) == (kind.hasCode ? .obsolete : .expired))
        #expect(MailPolicy.hindrance(of: mail, open, nil, at: later) == .obsolete)
        #expect(MailPolicy.hindrance(of: Self.mail(kind), nil, nil, at: late + .seconds(-1)) == nil)
        #expect(MailPolicy.hindrance(of: Self.mail(kind), nil, nil, at: late) == .expired)
    }

    @Test("a mail for an unknown mailbox is never sent")
    func unknown() {
        let open = Self.verification()
        #expect(MailPolicy.hindrance(of: Self.mail(.none, of: open), open, nil, at: Self.now) == .obsolete)
    }

    @Test("a mailbox that was refused gets no code for an hour, and no notice for seven days")
    func rest() {
        let (now, open) = (Self.now, Self.verification())
        func hindrance(_ verification: Verification?, _ kind: QueuedMail.Kind, _ seconds: Int64) -> MailOutcome? {
            let budget = MailboxBudget(mailbox: [1], since: now, refusedAt: now + .seconds(-seconds), reply: "550")
            return MailPolicy.hindrance(of: Self.mail(kind, of: verification), verification, budget, at: now)
        }
        #expect(hindrance(open, .signUp, 3599) == .refused && hindrance(open, .signUp, 3600) == nil)
        #expect(hindrance(nil, .newDevice, 604_799) == .refused && hindrance(nil, .newDevice, 604_800) == nil)
    }

    @Test("a mail is booked on the mailbox to which it goes, even if its verification is of another one")
    func mailbox() throws {
        let secrets = VerificationSecrets(rootKeys: try #require(RootKeys([.random()])))
        let open = Self.verification()
        #expect(Self.mail(.emailOld, of: open).mailbox(open, secrets) == secrets.mailbox("a@example.org"))
        let mail = QueuedMail(
            id: Identifier(random: .system), kind: .emailNew, verificationID: open.id, language: "en",
            createdAt: Self.now, expiresAt: Self.now + .seconds(600), dueAt: Self.now)
        #expect(mail.mailbox(open, secrets) == open.mailbox && mail.mailbox(nil, secrets) == nil)
    }

    @Test("a reply decides: taken, dead, again with growing pauses, or held without counting the try")
    func replies() throws {
        let (now, held) = (Self.now, Self.now + .seconds(20))
        func outcome(_ reply: MailReply, tries: Int = 1) -> (MailOutcome, QueuedMail?) {
            MailPolicy.outcome(of: Self.mail(.reset, tries: tries), reply, at: now, heldUntil: held)
        }
        #expect(outcome(.taken).0 == .sent && outcome(.taken).1 == nil)
        for (reply, expected) in [
            (MailReply.mailboxRefused("550 no"), MailOutcome.refused), (.contentRefused("554 no"), .dead),
        ] {
            let (outcome, mail) = outcome(reply)
            #expect(outcome == expected && mail?.dueAt == nil && mail?.reply == reply.text && mail?.tries == 1)
        }
        let pauses = (1...8).map { tries in
            outcome(.notYet("451 later"), tries: tries).1?.dueAt.map { ($0 - now).wholeSeconds }
        }
        #expect(pauses == [10, 30, 60, 120, 300, 600, 600, 600])
        #expect(outcome(.notYet("451 later")).0 == .again)
        let doubts = (1...5).map { outcome(.inDoubt("timeout"), tries: $0).0 }
        #expect(doubts == [.again, .again, .again, .dead, .dead])
        #expect(outcome(.inDoubt("timeout"), tries: 4).1?.dueAt == nil)
        let (heldOutcome, mail) = outcome(.relayFails("535 no"), tries: 3)
        #expect(heldOutcome == .held && mail?.tries == 2 && mail?.dueAt == held && mail?.reply == "535 no")
    }
}
