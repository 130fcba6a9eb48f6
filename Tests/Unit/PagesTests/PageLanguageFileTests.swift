import FoundationEssentials
import PageSamples
import Repository
import Testing
import Texts

@testable import Pages

@Suite("Language files") struct PageLanguageFileTests {
    /// Every text of a language by its key.
    private static func texts(of language: PageLanguage) -> [String: String] {
        Dictionary(uniqueKeysWithValues: language.sections.flatMap { $0.texts.map { ($0.key, $0.text) } })
    }

    /// What is wrong with English with one other text.
    private static func problem(_ key: String, _ text: String?) -> TextProblem? {
        var texts = texts(of: .english)
        texts[key] = text
        do throws(TextProblems) {
            _ = try PageLanguage(tag: "nl", texts: texts)
            return nil
        } catch { return error.all.count == 1 ? error.all[0] : nil }
    }

    @Test("a file with the texts of a language gives the pages of that language", arguments: PageLanguage.builtIn)
    func roundTrip(_ language: PageLanguage) throws {
        let copy = try PageLanguage(tag: language.tag, texts: Self.texts(of: language))
        for sample in PageSamples.all() {
            #expect(sample.page.html(in: copy).text == sample.page.html(in: language).text, "\(sample.name)")
        }
    }

    @Test("each sentence that the code asks a file for has a key, and each key is asked for") func keys() throws {
        let folder = Repository.root.appending(path: "Sources/Pages/Languages")
        let sources = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix("FileWords") }
            .map { String(decoding: try Data(contentsOf: folder.appending(path: $0)), as: UTF8.self) }
        let asked = sources.flatMap { source in
            source.matches(of: #/(?:text|html)\("([a-z_]+)"(, counting:)?/#).flatMap { match in
                match.2 == nil ? [String(match.1)] : ["_one", "_other"].map { match.1 + $0 }
            }
        }
        let known = Sentence.all.map(\.key)
        #expect(Set(known).count == known.count)
        #expect(Set(asked + FileWords.months) == Set(known))
    }

    @Test("a file of a language that is built in overrides single sentences") func override() throws {
        let page = try #require(PageSamples.all().first { $0.name == "login" }).page
        let language = try PageLanguage(tag: "de", texts: ["sign_in_to": "Willkommen bei {{app}} & Co"])
        let languages = PageLanguages([language])
        #expect(languages.all.map(\.tag) == ["en", "de"])
        let text = page.html(in: try #require(languages["de-AT"])).text
        #expect(text.contains("Willkommen bei <bdi>Harbor Bank</bdi> &amp; Co"))
        #expect(text.contains("Passwort"))
    }

    @Test("texts are plain: markup in a file is shown as it stands") func markup() throws {
        let page = try #require(PageSamples.all().first { $0.name == "login" }).page
        let texts = ["password": "<b onclick=\"x\">Kennwort</b>", "sign_in_to": "<script>{{app}}</script>"]
        let text = page.html(in: try PageLanguage(tag: "de", texts: texts)).text
        #expect(text.contains("&lt;b onclick=&quot;x&quot;&gt;Kennwort&lt;/b&gt;"))
        #expect(text.contains("&lt;script&gt;<bdi>Harbor Bank</bdi>&lt;/script&gt;"))
    }

    @Test("a key that is missing, unknown or unusable is refused with the reason")
    func refusals() {
        #expect(Self.problem("sign_in", nil) == TextProblem("sign_in", .missing))
        #expect(Self.problem("sign_inn", "x") == TextProblem("sign_inn", .unknownKey))
        #expect(Self.problem("sign_in", " \u{A0}") == TextProblem("sign_in", .empty))
        #expect(Self.problem("sign_in", String(repeating: "é", count: 1001)) == TextProblem("sign_in", .tooLong(1000)))
        #expect(Self.problem("sign_in", "a\nb") == TextProblem("sign_in", .controlCharacter))
        #expect(Self.problem("sign_in", "a\u{202E}b") == TextProblem("sign_in", .controlCharacter))
        #expect(
            Self.problem("sign_in_to", "to {{ap}}") == TextProblem("sign_in_to", .unknownPlaceholder("ap", ["app"])))
        #expect(Self.problem("sign_in_to", "to it") == TextProblem("sign_in_to", .missingPlaceholder("app")))
        #expect(Self.problem("sign_in", "{{app}}") == TextProblem("sign_in", .unknownPlaceholder("app", [])))
        #expect(Self.problem("sign_in_to", "{{app") == TextProblem("sign_in_to", .unclosed))
        #expect(Self.problem("sign_in_to", "{{app}} }}") == TextProblem("sign_in_to", .unopened))
        #expect(Self.problem("sign_in_to", "{{App 1}}") == TextProblem("sign_in_to", .noName("App 1")))
        #expect(Self.problem("sign_in_to", "{{app}}, {{app}}") == nil)
    }

    private static let some = PageLanguages(
        ["pt-BR", "fr", "zh-Hant"].compactMap { try? PageLanguage(tag: $0, texts: texts(of: .english)) })

    @Test(
        "the language of a reader is the one with the longest tag, or another one of the same language",
        arguments: [
            ("pt-BR", "pt-BR"), ("pt-br", "pt-BR"), ("pt", "pt-BR"), ("pt-PT", "pt-BR"), ("fr-CA", "fr"),
            ("zh-Hant-TW", "zh-Hant"), ("de-CH", "de"), ("ro", "en"), ("p", "en"),
        ])
    func lookup(_ accepted: String, _ tag: String) {
        #expect(Self.some.chosen(uiLocales: nil, acceptLanguage: accepted).tag == tag)
        #expect(Self.some.chosen(uiLocales: "xx \(accepted)", acceptLanguage: nil).tag == tag)
    }

    @Test(
        "a file is named after a language tag",
        arguments: [
            ("fr", true), ("pt-BR", true), ("zh-Hant-TW", true), ("FR", false), ("french", false), ("f", false),
            ("fr-", false), ("fr_CA", false), ("", false), ("../de", false),
        ])
    func tags(_ text: String, _ isTag: Bool) { #expect(PageLanguage.isTag(text) == isTag) }

    @Test("pages of languages that are written from right to left say so") func direction() throws {
        let page = try #require(PageSamples.all().first).page
        let hebrew = try PageLanguage(tag: "he", texts: Self.texts(of: .english))
        #expect(page.html(in: hebrew).text.contains("<html lang=\"he\" dir=\"rtl\">"))
        #expect(page.html(in: .german).text.contains("<html lang=\"de\" dir=\"ltr\">"))
    }
}
