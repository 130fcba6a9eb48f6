import HTTPClient
import HostileServer
import Testing

@Suite struct SMTPClientTests {
    private func options(_ relay: ScriptedRelay) throws -> SMTPClient.Options {
        SMTPClient.Options(relay: try #require(RelayURL(relay.url)), helo: "login.example")
    }

    private func mail(_ content: String = "Subject: x\r\n\r\nHi\r\n") throws -> SMTPMessage {
        try #require(SMTPMessage(from: "login@example.com", to: "anna@example.org", content: Array(content.utf8)))
    }

    private func report(
        _ options: SMTPClient.Options, _ message: SMTPMessage, within deadline: Duration = .seconds(30)
    ) async -> SMTPReport { await SMTPClient(options).send(message, within: deadline) }

    @Test("mails go to the relay over one connection, with envelope, content and the name of this machine")
    func taken() async throws {
        let relay = ScriptedRelay()
        defer { relay.stop() }
        let client = SMTPClient(try options(relay))
        let content = "Subject: x\r\n\r\n.dot\r\n..\r\n.\r\nend\r\n"
        for _ in 0..<3 {
            let report = await client.send(try mail(content), within: .seconds(30))
            #expect(report.outcome == .accepted && report.sentence == "250 2.0.0 queued", "\(report)")
        }
        #expect(relay.mails.count == 3 && relay.connections == 1)
        for mail in relay.mails {
            #expect(mail.sender == "login@example.com" && mail.recipients == ["anna@example.org"])
            #expect(mail.content == content)
        }
        #expect(relay.commands.first == "EHLO login.example")
    }

    @Test(
        "a refusal is known by its step and its reply, whatever libcurl calls it",
        arguments: [
            ("", SMTPReport.Step.greeting, "554 5.7.1 no"), ("", .greeting, "421 4.7.0 later"),
            ("MAIL", .sender, "452 4.3.1 full"), ("MAIL", .sender, "550 5.7.0 no"),
            ("RCPT", .recipient, "450 4.2.0 greylisted"), ("RCPT", .recipient, "550 5.1.1 unknown"),
            ("DATA", .data, "451 4.3.0 later"), ("DATA", .data, "554 5.6.0 no"),
            (".", .content, "452 4.3.1 later"), (".", .content, "554 5.7.1 spam"),
        ])
    func refused(_ verb: String, _ step: SMTPReport.Step, _ reply: String) async throws {
        let relay = ScriptedRelay { $0.hasPrefix(verb) && (verb.isEmpty == $0.isEmpty) ? .say(reply) : nil }
        defer { relay.stop() }
        let report = await report(try options(relay), try mail())
        let expected = SMTPReport.Reply(step, Int(reply.prefix(3)) ?? 0, reply)
        #expect(report.outcome == .refused(expected) && expected.isTransient == reply.hasPrefix("4"), "\(report)")
        #expect(relay.mails.isEmpty)
    }

    @Test("a relay that goes after the content has the mail, or not; before it, it has not")
    func inDoubt() async throws {
        for (verb, isInDoubt) in [(".", true), ("DATA", false), ("RCPT", false), ("MAIL", false), ("EHLO", false)] {
            let relay = ScriptedRelay { $0.hasPrefix(verb) ? .cut : nil }
            let report = await report(try options(relay), try mail())
            switch report.outcome {
            case .inDoubt: #expect(isInDoubt, "\(verb): \(report)")
            case .failed: #expect(!isInDoubt, "\(verb): \(report)")
            default: Issue.record("\(verb): \(report)")
            }
            relay.stop()
        }
    }

    @Test("without STARTTLS nothing is said to a relay from which it is demanded")
    func noEncryption() async throws {
        let relay = ScriptedRelay()
        defer { relay.stop() }
        var options = try options(relay)
        options.authorities = "/etc/ssl/certs/ca-certificates.crt"
        options.credentials = .init(user: "u", password: "geheim")
        #expect(await report(options, try mail()).outcome == .noEncryption)
        #expect(relay.commands.allSatisfy { $0.hasPrefix("EHLO") || $0 == "QUIT" }, "\(relay.commands)")
        let other = ScriptedRelay { $0 == "STARTTLS" ? .say("454 4.7.0 not now") : Self.offering("STARTTLS", to: $0) }
        defer { other.stop() }
        options.relay = try #require(RelayURL(other.url))
        #expect(await report(options, try mail()).outcome == .noEncryption)
        #expect(!other.commands.contains { $0.hasPrefix("AUTH") || $0.hasPrefix("MAIL") })
    }

    private static func offering(_ extension: String, to command: String) -> ScriptedRelay.Reply? {
        command.hasPrefix("EHLO") ? .say("250-relay\r\n250 \(`extension`)") : nil
    }

    @Test("a mail is not sent without the authentication that is configured")
    func noAuthentication() async throws {
        for offer in ["SIZE 1000", "AUTH GSSAPI", "XAUTH PLAIN", "auth PLAIN", "AUTH=PLAIN", "AUTHOR PLAIN"] {
            let relay = ScriptedRelay { Self.offering(offer, to: $0) }
            var options = try options(relay)
            options.credentials = .init(user: "u", password: "geheim")
            #expect(await report(options, try mail()).outcome == .noAuthentication, "\(offer)")
            #expect(!relay.commands.contains { $0.hasPrefix("MAIL") }, "\(relay.commands)")
            relay.stop()
        }
    }

    @Test("user and password are sent by the mechanism of the relay, and a refusal of them is known")
    func authentication() async throws {
        let relay = ScriptedRelay { Self.offering("AUTH LOGIN PLAIN", to: $0) }
        defer { relay.stop() }
        var options = try options(relay)
        options.credentials = .init(user: "u", password: "geheim")
        options.mechanism = "PLAIN"
        #expect(await report(options, try mail()).outcome == .accepted)
        // NUL u NUL geheim
        #expect(relay.commands.contains("AUTH PLAIN AHUAZ2VoZWlt"), "\(relay.commands)")
        let strict = ScriptedRelay {
            $0.hasPrefix("AUTH") ? .say("535 5.7.8 no") : Self.offering("AUTH PLAIN", to: $0)
        }
        defer { strict.stop() }
        options.relay = try #require(RelayURL(strict.url))
        let report = await report(options, try mail())
        #expect(report.outcome == .refused(.init(.authentication, 535, "535 5.7.8 no")), "\(report)")
        #expect(!strict.commands.contains { $0.hasPrefix("MAIL") })
    }

    @Test("a probe names sender and recipient, and sends nothing")
    func probe() async throws {
        let relay = ScriptedRelay()
        defer { relay.stop() }
        let message = try #require(SMTPMessage(probing: "a@example.com", from: "b@example.com"))
        let report = await report(try options(relay), message)
        #expect(report.outcome == .probed)
        #expect(report.replies.map(\.step) == [.greeting, .hello, .sender, .recipient])
        #expect(!relay.commands.contains("DATA"))
    }

    @Test("a reply of many lines is one, without characters that a terminal obeys; one without an end is cut")
    func replies() async throws {
        let relay = ScriptedRelay {
            $0.hasPrefix("RCPT") ? .say("550-5.1.1 no\r\n550-5.1.1 \u{1B}[2Jsuch\r\n550 5.1.1 user") : nil
        }
        defer { relay.stop() }
        let report = await report(try options(relay), try mail())
        #expect(
            report.outcome == .refused(.init(.recipient, 550, "550-5.1.1 no 5.1.1 [2Jsuch 5.1.1 user")), "\(report)")
        let endless = ScriptedRelay { $0.isEmpty ? .endless("220-hello\r\n") : nil }
        defer { endless.stop() }
        #expect(await self.report(try options(endless), try mail()).outcome == .failed(.tooLarge))
    }

    @Test(
        "an address that a relay would read as a command is refused",
        arguments: [
            "a@b>\r\nRCPT TO:<c@d", "a@b\n", "a b@c", "<a@b>", "a@b@c", "a", "@b", "a@", "ä@b.org", "a@[192.0.2.1]", "",
            "a\u{0}@b", "\"a\"@b", "a,b@c",
        ])
    func addresses(_ address: String) {
        #expect(!SMTPMessage.isPlain(address))
        #expect(SMTPMessage(from: address, to: "a@b.org", content: []) == nil)
        #expect(SMTPMessage(from: "a@b.org", to: address, content: []) == nil)
        #expect(SMTPMessage(probing: address, from: "a@b.org") == nil)
    }

    @Test(
        "a relay has a scheme, a host and a port",
        arguments: [
            ("smtp://relay.example:587", "relay.example:587", false),
            ("smtps://Relay.example", "relay.example:465", true),
            ("smtp://127.0.0.1", "127.0.0.1:25", false), ("smtp://[::1]:2525/", "[::1]:2525", false),
        ])
    func relays(_ text: String, _ place: String, _ isSecure: Bool) throws {
        let relay = try #require(RelayURL(text))
        #expect(relay.place == place && relay.isSecure == isSecure && relay.description == text)
        #expect(relay.isLoopback == (place.hasPrefix("127") || place.hasPrefix("[::1]")))
        #expect(relay.otherScheme?.isSecure == !isSecure && relay.otherScheme?.place == place)
    }

    @Test(
        "a text that is no URL of a relay is refused",
        arguments: [
            "https://relay.example", "smtp://", "relay.example:587", "smtp://u@relay.example", "smtp://relay.example/x",
            "smtp://relay.example?x", "smtp://relay.example#x", "smtp:///relay.example", "", "smtp://relay.example:0x",
        ])
    func noRelays(_ text: String) { #expect(RelayURL(text) == nil) }
}
