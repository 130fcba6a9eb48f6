import PageSamples
import Pages
import Sessions
import Testing

struct PageLanguageTests {
    private static let cases: [(String?, String?, PageLanguage)] = [
        (nil, nil, .english), (nil, "de", .german), (nil, "de-AT,de;q=0.9,en;q=0.8", .german),
        (nil, "en-GB,en;q=0.9,de;q=0.8", .english), (nil, "en;q=0.2, DE-de;q=0.3", .german),
        (nil, "fr, de;q=0.5, *;q=0.1", .german), (nil, "de;q=0, en;q=0.1", .english), (nil, "de;q=0", .english),
        (nil, "de;q=nan", .english), (nil, "fr", .english), (nil, ";;;,,,q=1", .english), (nil, "", .english),
        ("de", "en", .german), ("fr-CA de en", "en", .german), ("fr", "de", .german), ("DE-CH", nil, .german),
        ("", "de", .german), ("x" + String(repeating: " y", count: 5000) + " de", nil, .english),
        (nil, String(repeating: "fr,", count: 5000) + "de", .english),
    ]

    @Test("ui_locales come first, then Accept-Language by weight, then English", arguments: cases)
    func choice(uiLocales: String?, acceptLanguage: String?, expected: PageLanguage) {
        #expect(PageLanguages.builtIn.chosen(uiLocales: uiLocales, acceptLanguage: acceptLanguage) == expected)
    }

    @Test("no sentence is left in the other language") func everySentenceIsTranslated() throws {
        // From the samples, or written alike in both languages.
        let shared: Set = [
            "Code", "BCDF-GHJK", "42", "e.g.", "Name", "Passkeys", "Details", "GEZD GNBV GY3T QOJQ",
            "8QK4-2T7N-GB5X-0WZM-9R3H-V6CP",
        ]
        let marked = PageSamples.all { "¤\($0)¤" }
        for sample in marked {
            let pages = try PageLanguage.builtIn.map { try Markup(sample.page.html(in: $0)) }
            func sentences(_ page: Markup) -> Set<String> {
                let attributes = page.elements.flatMap { [$0["aria-label"], $0["alt"], $0["title"]] }.compactMap(\.self)
                let all = (page.texts + attributes).flatMap { $0.split(separator: #/¤[^¤]*¤|\n/#) }
                return Set(all.map(String.init).filter { $0.count(where: \.isLetter) > 2 })
            }
            let same = sentences(pages[0]).intersection(sentences(pages[1])).subtracting(shared)
            let unexpected = same.filter { !$0.hasPrefix("server.") && !$0.hasPrefix("X-Forwarded") }
            #expect(unexpected.isEmpty, "\(sample.name): \(unexpected)")
        }
    }

    @Test("every reason for which a session ends has a sentence of its own") func reasonsHaveSentences() {
        for reason in Sessions.EndReason.allCases {
            #expect(ActivityEvent.EndReason(wire: reason.rawValue) != .other, "\(reason)")
        }
        let header = AccountHeader(name: "ada", form: FormState(csrf: "t"))
        for language in PageLanguage.builtIn {
            let lines = ActivityEvent.EndReason.allCases.map { reason in
                ActivityPage(header: header, entries: [ActivityEntry(.ended(reason), at: 0)]).html(in: language).text
            }
            // `other` and `logged_out` say the same.
            #expect(Set(lines).count == lines.count - 1)
        }
    }
}
