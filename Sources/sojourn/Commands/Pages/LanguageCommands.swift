import Configuration
import JSON
import Mail
import Pages
import Server

/// `sojourn language …`
enum LanguageCommands {
    static let all = [list, export]

    static let list = Command(
        path: ["language", "list"], summary: "Lists the languages of the pages.",
        options: Command.Option.admin,
        discussion: """
            English and German are built in. The others are the files of the folder that the key 'languages' of the configuration
            names; this command reads them as the start does, and says with file and line what would stop it.
            """,
        examples: ["sojourn language list"]
    ) { (arguments) async throws(Failure) in
        let tags = try texts(Setup.configuration(arguments)).pages.all.map(\.tag)
        let text = JSONValue.array(tags.map { .object(["tag": .string($0)]) })
        Terminal.write(
            arguments.isJSON ? String(decoding: text.text(pretty: true), as: UTF8.self) : tags.joined(separator: "\n"))
    }

    static let export = Command(
        path: ["language", "export"], summary: "Prints every text of a language, as a language file.",
        operands: ["TAG"], options: Command.Option.configuration,
        discussion: """
            The texts are those that pages and mails have now, so that the file changes nothing. Put it into the folder that
            the key 'languages' of the configuration names, under the name of its language, and change what shall be another
            text.
            For a new language, begin with the texts of one that you know. Placeholders such as {{app}} stay as they are.
            """,
        examples: ["sojourn language export de"]
    ) { (arguments) async throws(Failure) in
        let (languages, mails) = try texts(Setup.configuration(arguments))
        let tag = arguments.operands[0]
        guard let language = languages.all.first(where: { $0.tag.lowercased() == tag.lowercased() }) else {
            throw Failure(
                .failed,
                "there is no language '\(tag)': the languages are \(languages.all.map(\.tag).joined(separator: ", "))")
        }
        Terminal.write(language.languageFile(mails: mails[language.tag.lowercased()]))
    }

    private static func texts(
        _ configuration: ServerConfiguration
    ) throws(Failure) -> (pages: PageLanguages, mails: [String: MailTexts]) {
        do throws(StartError) { return (try configuration.pageLanguages(), try configuration.mailTexts()) } catch {
            throw Failure(.failed, error.description)
        }
    }
}
