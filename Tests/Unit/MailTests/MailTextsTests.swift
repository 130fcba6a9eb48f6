import Sessions
import Testing

@testable import Mail

@Suite("Texts of mails") struct MailTextsTests {
    private static let kinds = QueuedMail.Kind.withText

    /// Every fact that a mail of the kind can have.
    private static func facts(_ kind: QueuedMail.Kind) -> MailFacts {
        var facts = MailFacts(app: "Shop")
        for variable in kind.known where variable != .app { facts[variable] = "<\(variable.rawValue)>" }
        if kind.known.contains(.code) { facts.setCode("12345678") }
        if kind.known.contains(.link) { facts[.link] = "https://login.example/v#sjv_abc" }
        return facts
    }

    @Test(
        "each kind has a subject and a text in each built-in language, and no two languages share one", arguments: kinds
    )
    func complete(_ kind: QueuedMail.Kind) throws {
        let all = try MailTexts.builtIn.values.map {
            try #require($0.content(of: kind, Self.facts(kind), codeInSubject: true))
        }
        #expect(all.count == 2)
        #expect(Set(all.map(\.subject)).count == 2 && Set(all.map(\.text)).count == 2)
        for content in all {
            #expect(!content.text.contains("{{") && !content.subject.contains("{{") && !content.html.contains("{{"))
            #expect(content.subject.contains("Shop") && !content.subject.contains("\n"))
            // The only link is the one of the mail, and nothing is loaded from elsewhere.
            #expect(content.html.components(of: "href=") == (kind.known.contains(.link) ? 1 : 0), "\(kind)")
            for word in ["<img", "src=", "url(", "<script", "@import"] { #expect(!content.html.contains(word)) }
            // A value is never markup.
            #expect(!content.html.contains("<place>") && (content.html.contains("&lt;place&gt;") || kind == .test))
            #expect(content.html.contains("<html>") && content.text.utf8.count < 1200)
        }
    }

    @Test("a mail with a code has it in its first line, and in its subject only where the operator wants it")
    func codes() throws {
        for kind in Self.kinds where kind.hasCode {
            for texts in MailTexts.builtIn.values {
                let plain = try #require(texts.content(of: kind, Self.facts(kind)))
                let shown = try #require(texts.content(of: kind, Self.facts(kind), codeInSubject: true))
                #expect(plain.text.hasPrefix("1234 5678\n") && !plain.subject.contains("1234"))
                #expect(shown.subject.hasSuffix(": 1234 5678") && shown.text == plain.text)
                #expect(plain.html.contains(">1234 5678</p>"))
                #expect(plain.text.contains("\nhttps://login.example/v#sjv_abc\n"))
            }
        }
        #expect(Self.kinds.filter(\.hasCode).allSatisfy { $0.needed.isSuperset(of: [.code, .link]) })
    }

    @Test("a mail without facts has no trace of them")
    func withoutFacts() throws {
        for kind in Self.kinds {
            var facts = MailFacts(app: "Shop")
            if kind.hasCode { (facts[.code], facts[.minutes]) = ("1234 5678", "10") }
            if kind.needed.contains(.link) { facts[.link] = "https://x.example/" }
            for texts in MailTexts.builtIn.values {
                let content = try #require(texts.content(of: kind, facts))
                for trace in [" ,", ",,", "()", ", from", "  "] {
                    #expect(!content.text.contains(trace), "\(kind) has '\(trace)': \(content.text)")
                }
            }
        }
    }

    @Test("a file replaces what it says, and keeps the rest of its base")
    func files() throws {
        let texts = try MailTexts.texts(ofFile: "test.txt", "Subject: Hi {{app}}\r\n\r\nHello\r\nyou\r\n\r\n")
        #expect(texts == ["test.subject": "Hi {{app}}", "test.text": "Hello\nyou"])
        var all = try MailTexts(texts: texts, base: .english)
        #expect(all.content(of: .test, MailFacts(app: "A"))?.text == "Hello\nyou")
        #expect(all.texts["reset.text"] == MailTexts.english.texts["reset.text"])
        let html = try MailTexts.texts(ofFile: "test.html", "<b title=\"{{app}}\">")
        all = try MailTexts(texts: html, base: all)
        #expect(all.content(of: .test, MailFacts(app: "\"&<A>'"))?.html == "<b title=\"&quot;&amp;&lt;A&gt;&#39;\">")
        // HTML was written for the text beside it.
        #expect(try MailTexts(texts: texts, base: all).texts["test.html"] == nil)
        // What is exported is what is read.
        var read: [String: String] = [:]
        for file in all.files { try read.merge(MailTexts.texts(ofFile: file.name, file.content)) { $1 } }
        #expect(try MailTexts(texts: read, base: nil) == all)
    }

    @Test(
        "a text that no mail can be made from is refused with its key and the reason",
        arguments: [
            ("reset.text", "{{code}} alone", "has no {{link}}"),
            ("sign_up.text", "{{#place}}{{code}}{{/place}} {{link}}", "has no {{code}}"),
            ("sign_up.html", "<p>{{link}}</p>", "has no {{code}}"),
            ("test.text", "{{password}}", "has the unknown variable {{password}}; there are app"),
            ("test.text", "{{code}}", "has {{code}}, which mails of this kind do not have"),
            ("test.text", "{{app", "has {{ without }}"),
            ("test.text", "{{#app}} {{/code}}", "has {{/code}} at a wrong place"),
            ("test.text", "{{/app}}", "has {{/app}} at a wrong place"),
            ("test.text", "{{#app}}", "has {{#app}} without {{/app}}"),
            ("test.subject", "a\r\nBcc: b@x.org", "has more than one line"),
            ("test.text", " \n", "is missing"),
            ("test.body", "x", "belongs to no kind of mail"),
            ("none.text", "x", "belongs to no kind of mail"),
        ])
    func refused(_ key: String, _ text: String, _ reason: String) throws {
        let problem = #expect(throws: TextProblem.self) { try MailTexts(texts: [key: text], base: .english) }
        #expect(problem?.key == key && problem?.reason.hasPrefix(reason) == true, "\(String(describing: problem))")
    }

    @Test("a text of more than 64 KiB, a language with a gap and a file of another name are refused")
    func refusedFiles() throws {
        let long = String(repeating: "a", count: 65_537)
        #expect(throws: TextProblem(key: "test.text", reason: "has more than 65536 bytes")) {
            try MailTexts(texts: ["test.text": long], base: .english)
        }
        #expect(throws: TextProblem(key: "sign_up.subject", reason: "is missing")) {
            try MailTexts(texts: ["test.text": "x"], base: nil)
        }
        for name in ["reset.md", "none.txt", "Reset.txt", "reset", "a.reset.txt"] {
            #expect(throws: TextProblem.self) { try MailTexts.texts(ofFile: name, "Subject: x\n\ny") }
        }
        #expect(throws: TextProblem(key: "reset.txt", reason: "does not begin with a line Subject: …")) {
            try MailTexts.texts(ofFile: "reset.txt", "Hello\n\n{{code}} {{link}}")
        }
    }

    @Test(
        "a value stays one line of text, whatever it has",
        arguments: [
            ("a\r\nBcc: b@x.org", "a Bcc: b@x.org"), ("a\u{0}b\u{1B}[2J", "a b [2J"), ("x\u{202E}y\u{2028}z", "x y z"),
            ("{{code}}", "{{code}}"), (" \u{7F} ", nil), ("", nil),
        ])
    func values(_ value: String, _ expected: String?) throws {
        var facts = MailFacts(app: "A")
        facts[.place] = value
        #expect(facts[.place] == expected)
        let content = try #require(MailTexts.english.content(of: .haveAccount, facts))
        #expect(expected.map { content.text.contains("from \($0)") } ?? !content.text.contains("from"))
        facts[.place] = String(repeating: "é", count: 10_000)
        #expect(facts[.place]?.utf8.count == 256)
        let support = "https://shop.example/" + String(repeating: "x", count: 400)
        facts[.support] = support
        #expect(facts[.support] == support)
    }
}

extension String {
    fileprivate func components(of word: String) -> Int {
        split(separator: word, omittingEmptySubsequences: false).count - 1
    }
}
