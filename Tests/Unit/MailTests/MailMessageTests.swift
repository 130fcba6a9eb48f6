import Sessions
import Testing

@testable import Mail

@Suite("Messages") struct MailMessageTests {
    private static func message(
        _ subject: String = "Hello", _ text: String = "Hi", from: String = "Shop <login@example.com>"
    ) throws -> MailMessage {
        MailMessage(
            from: try #require(MailAddress(from)), to: "anna@example.org", id: "0123abcd",
            date: Instant(secondsSinceEpoch: 1_795_800_600), language: "en",
            content: MailContent(subject: subject, text: text, html: "<p>\(text)</p>"))
    }

    private static func lines(_ message: MailMessage) -> [String] {
        String(decoding: message.bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    @Test("a message has the fields without which relays call it spam, in one domain, and both forms of the text")
    func form() throws {
        let lines = Self.lines(try Self.message())
        #expect(
            lines.prefix(11) == [
                "Date: Fri, 27 Nov 2026 17:30:00 +0000", "From: Shop <login@example.com>", "To: anna@example.org",
                "Subject: Hello", "Message-ID: <0123abcd@example.com>", "MIME-Version: 1.0", "Content-Language: en",
                "Auto-Submitted: auto-generated", "X-Auto-Response-Suppress: All",
                "Content-Type: multipart/alternative;", " boundary=\"sojourn-0123abcd\"",
            ])
        #expect(
            lines.dropFirst(11) == [
                "", "--sojourn-0123abcd", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: quoted-printable", "", "Hi", "", "--sojourn-0123abcd",
                "Content-Type: text/html; charset=utf-8", "Content-Transfer-Encoding: quoted-printable", "",
                "<p>Hi</p>", "--sojourn-0123abcd--", "",
            ])
    }

    @Test("a message is ASCII, and no line of it is longer than 76 characters, whatever its words are")
    func lines() throws {
        let words = [
            String(repeating: "Straße ", count: 40), String(repeating: "x", count: 300), "a=b \t", "日本語" + "\u{1F600}",
            String(repeating: "日", count: 90),
        ]
        for word in words {
            let message = try Self.message(word, "\(word)\n\(word)", from: "Größe & Co <login@example.com>")
            for line in Self.lines(message) {
                #expect(
                    line.utf8.count <= 76 && line.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 },
                    "\(line)")
            }
        }
    }

    @Test("a subject cannot begin another field")
    func injection() throws {
        let lines = Self.lines(try Self.message("a\r\nBcc: b@x.org"))
        #expect(!lines.contains { $0.hasPrefix("Bcc") })
        #expect(lines[3] == "Subject: =?utf-8?Q?a=0D=0ABcc=3A_b=40x=2Eorg?=")
    }

    @Test(
        "quoted-printable keeps every byte",
        arguments: [
            ("a=b", "a=3Db"), ("end ", "end=20"), ("tab\t", "tab=09"), ("in side", "in side"), ("é", "=C3=A9"),
            ("a\nb\r\nc", "a\r\nb\r\nc"), (".", "."), ("", ""),
        ])
    func quotedPrintable(_ text: String, _ encoded: String) { #expect(QuotedPrintable.encode(text) == encoded) }

    @Test("a long line is parted by soft breaks, and 76 characters fit into one")
    func softBreaks() {
        #expect(QuotedPrintable.encode(String(repeating: "a", count: 76)) == String(repeating: "a", count: 76))
        let parted = QuotedPrintable.encode(String(repeating: "a", count: 77))
        #expect(parted == String(repeating: "a", count: 75) + "=\r\naa")
    }

    @Test(
        "a sender is an address in ASCII, with a name or without",
        arguments: [
            ("login@example.com", "login@example.com"), ("Shop <login@example.com>", "Shop <login@example.com>"),
            (" My   Shop  <l@example.com>", "My Shop <l@example.com>"), ("<l@example.com>", "l@example.com"),
            ("A, B <l@example.com>", "\"A, B\" <l@example.com>"),
            ("é <l@example.com>", "=?utf-8?Q?=C3=A9?= <l@example.com>"),
        ])
    func senders(_ text: String, _ field: String) throws { #expect(try #require(MailAddress(text)).field == field) }

    @Test(
        "a text that is no sender is refused",
        arguments: [
            "", "login", "login@", "@example.com", "a@b", "a b@example.com", "a@b@example.com", "\"a\"@example.com",
            "a@[192.0.2.1]", "a@exämple.com", "ä@example.com", ".a@example.com", "a\r\n <b@example.com>",
            "a <b@example.com", "x\" <b@example.com>", "a@example.com\n",
        ])
    func noSenders(_ text: String) { #expect(MailAddress(text) == nil) }
}
