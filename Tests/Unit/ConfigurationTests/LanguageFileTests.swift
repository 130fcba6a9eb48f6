import FoundationEssentials
import Mail
import Repository
import Testing

@testable import Configuration
@testable import Pages

@Suite("Language files at the start") struct LanguageFileTests {
    private static func problems(_ text: String, _ path: String = "languages/de.json5") -> [String] {
        do throws(LanguageFile.Problems) {
            _ = try LanguageFile(path: path, Array(text.utf8))
            return []
        } catch { return error.lines }
    }

    @Test("French and Spanish come along, and have every text", arguments: ["fr", "es"])
    func complete(_ tag: String) throws {
        let path = "config/languages/\(tag).json5"
        let text = Array(try Data(contentsOf: Repository.root.appending(path: path)))
        let file: LanguageFile
        do throws(LanguageFile.Problems) { file = try LanguageFile(path: path, text) } catch {
            Issue.record("\(error.lines.joined(separator: "\n"))")
            return
        }
        let language = file.pages
        #expect(language.tag == tag)
        // A text that is left in English is one that both languages have.
        let english = Dictionary(
            uniqueKeysWithValues: PageLanguage.english.sections.flatMap(\.texts).map { ($0.key, $0.text) })
        let same = language.sections.flatMap(\.texts).filter { english[$0.key] == $0.text }.map(\.text)
        let shared: Set = ["Code", "{{date}}, {{time}} UTC", "Error: {{title}}", "{{day}} {{month}} {{year}}"]
        #expect(Set(same).isSubset(of: shared), "\(Set(same).subtracting(shared))")
        let mails = try #require(file.mails).texts
        #expect(mails.keys.sorted() == MailTexts.english.texts.keys.sorted())
        #expect(mails.filter { MailTexts.english.texts[$0.key] == $0.value } == [:])
    }

    @Test("each problem of a file has its line")
    func lines() {
        let text = """
            {
              // A comment, with "sign_in": in it
              sign_in: "Einloggen",
              "sign_inn": "x", sign_out: 'Raus {{app}}',
              /* sign_up:
              */ back_to: "Zurück",
              devices: 3, or: "o",
              or: "oder"
            }
            """
        #expect(
            Self.problems(text) == [
                "languages/de.json5:4: sign_inn is no text of this server; did you mean sign_in?",
                "languages/de.json5:4: sign_out has {{app}}, and takes no placeholder",
                "languages/de.json5:6: back_to lacks {{app}}",
                "languages/de.json5:7: devices must be a text, not 3",
                "languages/de.json5:8: or stands in line 7 already",
            ])
    }

    @Test("the texts of mails are changed one by one in a language that is built in, and all at once in another one")
    func mails() throws {
        let text = #"{"mail.reset.subject": "Neu bei {{app}}"}"#
        let mails = try #require(try LanguageFile(path: "de.json5", Array(text.utf8)).mails)
        #expect(mails.texts["reset.subject"] == "Neu bei {{app}}")
        #expect(mails.texts["reset.text"] == MailTexts.german.texts["reset.text"])
        #expect(try LanguageFile(path: "de.json5", Array("{}".utf8)).mails == nil)
        #expect(
            Self.problems(text, "nl.json5").contains { $0.hasPrefix("nl.json5:1: mail.") && $0.hasSuffix("is missing") }
        )
        #expect(
            Self.problems("{\n\"mail.resett.text\": \"x\"}") == [
                "languages/de.json5:2: mail.resett.text belongs to no kind of mail"
            ])
        #expect(
            Self.problems("{\n\n\"mail.reset.text\": \"{{code}}\"}") == [
                "languages/de.json5:3: mail.reset.text has no {{link}}"
            ])
    }

    @Test("a file that is no file of texts is refused")
    func refused() {
        #expect(
            Self.problems("{", "x/de.json5").first?.hasPrefix("x/de.json5: line 1, column 2: the text ends") == true)
        #expect(Self.problems("[]") == ["languages/de.json5: must hold one object of texts: { sign_in: \"…\", … }"])
        #expect(
            Self.problems("{}", "x/deutsch.json5") == [
                "x/deutsch.json5: must be named after its language, as pt-BR.json5 is"
            ])
        #expect(Self.problems("{}") == [])
        #expect(Self.problems("{or: \"of\"}", "nl.json5").contains("nl.json5:1: sign_in is missing"))
        #expect(
            Self.problems("{or: \"of\"}", "nl.json5").count == PageLanguage.english.sections.flatMap(\.texts).count - 1)
    }

    @Test("the exported file of a language is a language file that changes nothing", arguments: PageLanguage.builtIn)
    func export(_ language: PageLanguage) throws {
        let text = language.languageFile(mails: MailTexts.builtIn[language.tag])
        let file = try LanguageFile(path: "\(language.tag).json5", Array(text.utf8))
        #expect(file.pages.languageFile(mails: file.mails) == text)
        #expect(text.hasPrefix("{\n  // What several pages say\n  date: \""))
        #expect(text.contains("\n  \"mail.reset.subject\": \""))
    }
}
