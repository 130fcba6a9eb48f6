import HTTPClient
import HostileServer
import Sessions
import Telemetry
import Testing

@testable import Configuration
@testable import Deliveries

/// The outbox, against a relay that this test is. It starts no server.
@Suite("Mails", .timeLimit(.minutes(2)))
struct MailDeliveriesTests {
    @Test("a code leaves with its link, in the language of the request, and its row is gone")
    func code() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay()
            defer { relay.stop() }
            let deliveries = try mailer.deliveries(to: relay)
            let verification = try await mailer.verify()
            let id = try await mailer.queue(
                .signUp, of: verification, facts: ["place": "Bremen", "browser": "Firefox"])
            await mailer.drain(deliveries)
            let mail = try #require(relay.mails.first)
            #expect(mail.sender == "login@example.com" && mail.recipients == ["anna@example.org"])
            #expect(
                mail.field("Message-ID") == "<\(id)@example.com>" && mail.field("From") == "Shop <login@example.com>")
            let code = try #require(mailer.context.verificationSecrets.code(of: verification))
            let text = mail.content.replacing("=\r\n", with: "")
            #expect(
                text.contains("\r\n\r\n\(code.prefix(4)) \(code.suffix(4))\r\n") && text.contains("Das ist Ihr Code"))
            let token = try #require(mailer.context.verificationSecrets.token(.prove, of: verification))
            #expect(text.contains("\r\nhttps://login.example/v#\(token)\r\n"))
            #expect(
                text.contains("aus Bremen, mit Firefox")
                    && mail.field("Subject")?.contains("\(code.prefix(4))") == false)
            let waiting = try await mailer.mails()
            #expect(waiting.isEmpty && mailer.count(.signUp, .sent) == 1)
        }
    }

    @Test("a code stands in the subject where the operator wants it")
    func codeInSubject() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay()
            defer { relay.stop() }
            let deliveries = try mailer.deliveries(to: relay) { $0.templates.codeInSubject = true }
            let verification = try await mailer.verify(.signIn)
            try await mailer.queue(.signIn, of: verification)
            await mailer.drain(deliveries)
            let code = try #require(mailer.context.verificationSecrets.code(of: verification))
            let subject = try #require(relay.mails.first?.field("Subject"))
            #expect(
                subject.contains(code.prefix(4) + "_" + code.suffix(4)) || subject.contains(code.prefix(4) + " "),
                "\(subject)")
        }
    }

    @Test("a reset of an admin has no code, because there is no page that asks for it")
    func resetOfAdmin() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay()
            defer { relay.stop() }
            let verification = try await mailer.verify(.reset, isOfAdmin: true)
            try await mailer.queue(.reset, of: verification, lifetime: 3600)
            // The link is good for longer than a code would be.
            mailer.advance(1200)
            await mailer.drain(try mailer.deliveries(to: relay))
            let code = try #require(mailer.context.verificationSecrets.code(of: verification))
            let text = try #require(relay.mails.first?.content.replacing("=\r\n", with: ""))
            #expect(
                !text.contains(code.prefix(4) + " " + code.suffix(4))
                    && text.contains("https://login.example/reset#sjv_"))
        }
    }

    @Test("no mail is sent to an unknown mailbox, and none of which the reason or the time is over")
    func notSent() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay()
            defer { relay.stop() }
            let deliveries = try mailer.deliveries(to: relay)
            try await mailer.queue(.none, of: try await mailer.verify(.reset, nil))
            try await mailer.queue(.reset, of: try await mailer.verify(.reset, nil))
            let over = try await mailer.verify()
            try await mailer.context.store.write(.nothing) {
                [now = mailer.now] (transaction) throws(TransactionError) in
                transaction.endVerifications(.signUp, of: over.mailbox, at: now)
            }
            try await mailer.queue(.signUp, of: over)
            try await mailer.queue(.newDevice, to: "anna@example.org", lifetime: 60)
            let late = try await mailer.verify(.signIn)
            try await mailer.queue(.signIn, of: late, lifetime: 3600)
            mailer.advance(600)
            await mailer.drain(deliveries)
            let (waiting, dead) = (try await mailer.mails(), try await mailer.mails(dead: true))
            #expect(relay.connections == 0 && waiting.isEmpty && dead.isEmpty)
            #expect(mailer.count(.signUp, .obsolete) == 1 && mailer.count(.signIn, .obsolete) == 1)
            #expect(mailer.count(.newDevice, .expired) == 1 && mailer.count(.reset, .obsolete) == 1)
        }
    }

    @Test(
        "a mail that a relay does not take yet is tried again after growing pauses, under the same Message-ID and code")
    func again() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay { $0 == "." ? .say("451 4.3.0 later") : nil }
            let deliveries = try mailer.deliveries(to: relay)
            let verification = try await mailer.verify()
            let id = try await mailer.queue(.signUp, of: verification)
            for (tries, pause) in [(1, 10), (2, 30), (3, 60)] as [(Int, Int64)] {
                await mailer.drain(deliveries)
                let mail = try #require(try await mailer.mails().first)
                #expect(mail.tries == tries && mail.dueAt == mailer.now + .seconds(pause), "\(mail)")
                #expect(mail.reply == ".: 451 4.3.0 later")
                mailer.advance(pause - 1)
                await mailer.drain(deliveries)
                #expect(relay.commands.filter { $0 == "." }.count == tries)
                mailer.advance(1)
            }
            relay.stop()
            let other = ScriptedRelay()
            defer { other.stop() }
            await mailer.drain(try mailer.deliveries(to: other, in: MetricsRegistry()))
            #expect(other.mails.first?.field("Message-ID") == "<\(id)@example.com>")
        }
    }

    @Test(
        "a connection that ends after the content is no refusal: the mail is sent again, and no other one waits for it")
    func inDoubt() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay { $0 == "." ? .cut : nil }
            defer { relay.stop() }
            let deliveries = try mailer.deliveries(to: relay)
            try await mailer.queue(.signUp, of: try await mailer.verify())
            try await mailer.queue(.newDevice, to: "bert@example.org")
            await mailer.drain(deliveries)
            let mails = try await mailer.mails()
            #expect(mails.map(\.tries) == [1, 1] && mails.allSatisfy { $0.dueAt == mailer.now + .seconds(10) })
            #expect(mails.allSatisfy { $0.reply?.hasPrefix("no reply to the content: ") == true })
        }
    }

    @Test("a refused mailbox ends its mail, and rests: codes for an hour, notices for seven days")
    func refused() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay { $0.contains("anna@") ? .say("550 5.1.1 no such user") : nil }
            defer { relay.stop() }
            let deliveries = try mailer.deliveries(to: relay)
            try await mailer.queue(.signUp, of: try await mailer.verify())
            await mailer.drain(deliveries)
            let dead = try #require(try await mailer.mails(dead: true).first)
            #expect(dead.dueAt == nil && dead.reply == "RCPT: 550 5.1.1 no such user")
            // Capital letters make no other mailbox of it, and other mailboxes get their mails.
            try await mailer.queue(.signIn, of: try await mailer.verify(.signIn))
            try await mailer.queue(.newDevice, to: "Anna@Example.org", lifetime: 1_000_000)
            try await mailer.queue(.newDevice, to: "bert@example.org")
            await mailer.drain(deliveries)
            #expect(relay.commands.filter { $0.hasPrefix("RCPT") }.count == 2)
            #expect(relay.mails.map(\.recipients) == [["bert@example.org"]])
            let all = try await mailer.mails(dead: true)
            #expect(all.count == 3 && all.allSatisfy { $0.reply == "RCPT: 550 5.1.1 no such user" })
            #expect(mailer.count(.signUp, .refused) == 1 && mailer.count(.newDevice, .refused) == 1)
            mailer.advance(3600)
            try await mailer.queue(.signIn, of: try await mailer.verify(.signIn))
            await mailer.drain(deliveries)
            #expect(relay.commands.filter { $0.hasPrefix("RCPT") }.count == 3)
        }
    }

    @Test("a refusal of the former mailbox is not booked on the new one, and a policy of the relay on none")
    func otherMailbox() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay {
                $0.contains("old@")
                    ? .say("550 5.1.1 gone") : $0.contains("far@") ? .say("554 5.7.1 relay access denied") : nil
            }
            defer { relay.stop() }
            let deliveries = try mailer.deliveries(to: relay)
            let verification = try await mailer.verify()
            try await mailer.queue(.emailOld, of: verification, to: "old@example.org")
            try await mailer.queue(.newDevice, to: "far@example.org")
            await mailer.drain(deliveries)
            try await mailer.queue(.emailNew, of: verification)
            try await mailer.queue(.newDevice, to: "old@example.org")
            try await mailer.queue(.newDevice, to: "far@example.org")
            mailer.advance(1)
            await mailer.drain(deliveries)
            #expect(relay.mails.map(\.recipients) == [["anna@example.org"]])
            #expect(mailer.count(.newDevice, .refused) == 1 && mailer.count(.newDevice, .dead) == 2)
        }
    }

    @Test("A retry of a refused mail by an admin ends the rest of its mailbox")
    func refusedAndRetried() async throws {
        try await MailerFixture.with { mailer in
            let isStrict = Switch()
            let relay = ScriptedRelay { $0.hasPrefix("RCPT") && isStrict.isOn ? .say("550 5.1.1 unknown") : nil }
            defer { relay.stop() }
            let deliveries = try mailer.deliveries(to: relay)
            let id = try await mailer.queue(.newDevice, to: "anna@example.org")
            await mailer.drain(deliveries)
            #expect(mailer.count(.newDevice, .refused) == 1)
            isStrict.isOn = false
            try await Administration(mailer.context).retryMail(id)
            for _ in 0..<3 {
                await mailer.drain(deliveries)
                mailer.advance(61)
            }
            #expect(relay.mails.map(\.recipients) == [["anna@example.org"]])
        }
    }

    @Test("a refused content ends its mail, and no other one; an admin tries it again while it is of use")
    func dead() async throws {
        try await MailerFixture.with { mailer in
            let isStrict = Switch()
            let relay = ScriptedRelay { $0 == "." && isStrict.isOn ? .say("554 5.7.1 spam") : nil }
            defer { relay.stop() }
            let deliveries = try mailer.deliveries(to: relay)
            let id = try await mailer.queue(.newDevice, to: "anna@example.org")
            await mailer.drain(deliveries)
            isStrict.isOn = false
            #expect(try await mailer.mails(dead: true).map(\.id) == [id])
            let administration = Administration(mailer.context)
            try await administration.retryMail(id)
            for _ in 0..<3 {
                await mailer.drain(deliveries)
                mailer.advance(61)
            }
            #expect(relay.mails.count == 1 && mailer.count(.newDevice, .dead) == 1)
            await #expect(throws: ServiceError.notFound("mail")) { try await administration.retryMail(id) }
            isStrict.isOn = true
            let late = try await mailer.queue(.newDevice, to: "anna@example.org")
            await mailer.drain(deliveries)
            mailer.advance(600)
            await #expect(throws: ServiceError.self) { try await administration.retryMail(late) }
            let counts = try await administration.mailCounts()
            #expect(counts.dead == 1 && counts.waiting == 0 && counts.oldest == nil)
        }
    }

    @Test("a relay that takes nothing costs no mail a try: one mail tries it, after pauses that grow")
    func held() async throws {
        try await MailerFixture.with { mailer in
            let isStrict = Switch()
            let relay = ScriptedRelay { $0.hasPrefix("MAIL") && isStrict.isOn ? .say("451 4.3.2 not now") : nil }
            defer { relay.stop() }
            let deliveries = try mailer.deliveries(to: relay) { $0.perSecond = 20 }
            for number in 0..<6 { try await mailer.queue(.newDevice, to: "u\(number)@example.org", lifetime: 100_000) }
            for pause in [5, 10, 20] as [Int64] {
                let before = relay.commands.filter { $0.hasPrefix("MAIL") }.count
                await mailer.drain(deliveries)
                let count = relay.commands.filter { $0.hasPrefix("MAIL") }.count - before
                #expect(count == (pause == 5 ? 2 : 1), "\(pause)")
                #expect(try await mailer.mails().allSatisfy { $0.tries == 0 })
                #expect(mailer.context.deliveries.failure(of: DeliveryState.mails)?.cause == "MAIL: 451 4.3.2 not now")
                mailer.advance(pause - 1)
                await mailer.drain(deliveries)
                #expect(relay.commands.filter { $0.hasPrefix("MAIL") }.count == before + count)
                mailer.advance(1)
            }
            isStrict.isOn = false
            // The pause of the mails that tried may be a second longer than that of the relay.
            for _ in 0..<3 {
                mailer.advance(61)
                await mailer.drain(deliveries)
            }
            #expect(relay.mails.count == 6 && mailer.context.deliveries.failure(of: DeliveryState.mails) == nil)
        }
    }

    @Test("no code waits for notices, however many there are")
    func order() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay { $0.contains("@dead.example") ? .hang : nil }
            let deliveries = try mailer.deliveries(to: relay)
            for number in 0..<50 { try await mailer.queue(.newDevice, to: "u\(number)@dead.example") }
            try await mailer.queue(.signUp, of: try await mailer.verify())
            let notices = Task { await deliveries.step(.notices) }
            while relay.connections < 2 { try await Task.sleep(for: .milliseconds(2)) }
            _ = await deliveries.step(.codes)
            #expect(relay.mails.map(\.recipients) == [["anna@example.org"]])
            relay.stop()
            _ = await notices.value
        }
    }

    @Test("of two nodes one sends a mail; one that stopped loses it to the other when its time is over")
    func nodes() async throws {
        try await MailerFixture.with { mailer in
            let relay = ScriptedRelay()
            defer { relay.stop() }
            let nodes = try [mailer.deliveries(to: relay), mailer.deliveries(to: relay, in: MetricsRegistry())]
            for number in 0..<20 { try await mailer.queue(.newDevice, to: "u\(number)@example.org") }
            for _ in 0..<10 {
                await withDiscardingTaskGroup { group in
                    for node in nodes { group.addTask { await mailer.drain(node) } }
                }
                mailer.advance(1)
            }
            #expect(Set(relay.mails.flatMap(\.recipients)).count == 20 && relay.mails.count == 20)
            // A node that stops after its claim.
            let id = try await mailer.queue(.signUp, of: try await mailer.verify())
            let claim = try await mailer.context.claimMails(in: .codes, limit: 5, for: .seconds(90))
            #expect(claim.mails.map(\.mail.id) == [id])
            mailer.advance(89)
            await mailer.drain(nodes[1])
            #expect(relay.mails.count == 20)
            mailer.advance(1)
            await mailer.drain(nodes[1])
            #expect(relay.mails.count == 21)
        }
    }
}
