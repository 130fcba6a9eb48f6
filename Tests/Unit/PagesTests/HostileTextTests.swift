import PageSamples
import Pages
import Testing

/// Every text of every page may come from a stranger.
struct HostileTextTests {
    /// Swift has no literals of them.
    private static let nonCharacters = [0xFFFE, 0xFFFF, 0xFDD0, 0x1FFFE].compactMap { UnicodeScalar($0 as UInt32) }
        .map { String($0) }.joined()
    static let texts: [String] = [
        "\"><script>alert(1)</script>", "' onmouseover='alert(1)", "\" autofocus onfocus=\"alert(1)",
        "x onclick=alert(1)",
        "</title></p></form><form action=\"https://evil.example\">", "<!--", "--><img src=x onerror=alert(1)>",
        "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "&lt;script&gt;", "&#x3c;script&#x3e;&quot",
        "\u{202E}gnp.exe", "\u{2066}\u{2067}a\u{202D}", "a\u{0}b", "\u{1}\u{8}\u{B}\u{1B}[31m\u{7F}\u{85}\u{9F}",
        "line\r\nSet-Cookie: a=b\u{2028}", nonCharacters, "", " ", "\\u003cscript\\u003e", "`${alert(1)}`",
        "{{7*7}}<%= 1 %>", "<![CDATA[x]]>", "<svg/onload=alert(1)>", String(repeating: "x", count: 10_000),
        String(repeating: "<\"&", count: 3000), "e" + String(repeating: "\u{301}", count: 5000),
        String(repeating: "😀", count: 2500),
    ]

    private static let addresses: Set = ["href", "src", "action", "formaction", "data-events"]
    private static let plain = Result {
        try PageLanguage.builtIn.map { language in
            try PageSamples.all().map { ($0.name, try Markup($0.page.html(in: language))) }
        }
    }

    @Test("no text adds an element or an attribute to a page, or changes an address in it", arguments: texts)
    func structureIsFixed(text: String) throws {
        func addresses(_ markup: Markup) -> [String] {
            markup.elements.flatMap(\.attributes).filter { Self.addresses.contains($0.name) }.map(\.value)
        }
        let pages = PageSamples.all { _ in text }.map(\.page)
        for (language, plain) in zip(PageLanguage.builtIn, try Self.plain.get()) {
            for (page, (name, expected)) in zip(pages, plain) {
                let found = try Markup(page.html(in: language))
                #expect(found.elements.map(\.shape) == expected.elements.map(\.shape), "\(name)")
                #expect(addresses(found) == addresses(expected), "\(name)")
            }
        }
    }

    @Test("a value that a form sends back is the one that was put in") func valuesSurvive() throws {
        let text = "a\"b'c<d>&e; ü😀"
        let page = LoginPage(app: nil, form: FormState(csrf: text, request: text), username: text)
        let fields = try Markup(page.html(in: .english)).all("input")
        for name in ["csrf", "r", "username"] {
            #expect(fields.first { $0["name"] == name }?["value"] == text, "\(name)")
        }
    }

    @Test("a name is isolated, cut to 60 characters, and cannot turn the text around it") func namesAreIsolated() throws
    {
        let name = "\u{202E}evil\u{0}" + String(repeating: "n", count: 100)
        let html = LoginPage(app: PageApp(name: name), form: FormState(csrf: "t")).html(in: .english)
        let shown = "\u{FFFD}evil\u{FFFD}" + String(repeating: "n", count: 53) + "…"
        #expect(html.text.contains("<h1>Sign in to <bdi>\(shown)</bdi></h1>"))
        #expect(!html.text.unicodeScalars.contains("\u{202E}"))
    }

    @Test("a text that is shown is cut: 10 000 characters add at most 300") func sizesAreBounded() throws {
        let long = String(repeating: "n", count: 10_000)
        for sample in PageSamples.all({ _ in long }) {
            let page = try Markup(sample.page.html(in: .english))
            for text in page.texts { #expect(text.utf8.count <= 400, "\(sample.name): \(text.prefix(40))") }
        }
    }
}
