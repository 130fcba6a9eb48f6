import AdminActs
import Configuration
import Deliveries
import FoundationEssentials
import HTTP
import JSON
import Mail
import Server
import Sessions

/// `sojourn mail test · preview · check · list · retry`
enum MailCommands {
    static let all = [test, preview, check, list, retry]

    private static let test = Command(
        path: ["mail", "test"], summary: "Sends a test mail now, and says what the relay replies at each step.",
        operands: ["ADDRESS"], options: Command.Option.admin,
        discussion: """
            This command sends the mail itself, whether a server runs or not, and before all mails that wait. The exit code is 1
            when the relay does not take it.
            """,
        examples: ["sojourn mail test me@example.org", "sojourn mail test me@example.org --json"]
    ) { (arguments) async throws(Failure) in
        let (configuration, environment, setting) = try setting(arguments)
        let probe = await MailProbe.send(
            to: arguments.operands[0], setting, issuer: configuration.ownURL,
            clock: Database.clock(configuration, environment), random: environment.random)
        try show(
            probe, arguments, taken: "the mail to \(arguments.operands[0]) was taken", not: "the mail was not taken")
    }

    private static let check = Command(
        path: ["mail", "check"], summary: "Checks the texts of mails and the way to the relay, without sending a mail.",
        options: Command.Option.admin,
        discussion: """
            The relay is spoken to up to the recipient, which is the sender itself, and gets no mail. The exit code is 1 when a
            text or the relay is not usable.
            """,
        examples: ["sojourn mail check", "sojourn mail check --config /etc/sojourn/sojourn.json5"]
    ) { (arguments) async throws(Failure) in
        let (_, _, setting) = try setting(arguments)
        let languages = setting.templates.texts.keys.sorted().joined(separator: ", ")
        guard let probe = await MailProbe.look(at: setting) else {
            Terminal.write(
                "the texts are usable: \(languages); a program that sends mails is tested by 'sojourn mail test'")
            return
        }
        try show(
            probe, arguments, taken: "the texts are usable: \(languages); the relay would take mails",
            not: "the relay takes no mail")
    }

    private static let preview = Command(
        path: ["mail", "preview"], summary: "Prints a mail with invented facts, or writes all texts to a folder.",
        operands: ["[KIND]"],
        options: [
            Command.Option("--language", "TAG", "the language (default: mail.language)"),
            Command.Option("--html", nil, "print the HTML alone"),
            Command.Option("--export", "FOLDER", "write the texts of all kinds, in the form of mail.templates"),
        ] + Command.Option.configuration,
        discussion: """
            KIND is one of \(kinds). What is printed is a message as a relay gets it: redirect it to a file NAME.eml to open it in
            a mail program.
            """,
        examples: [
            "sojourn mail preview reset --language de", "sojourn mail preview sign_up --html",
            "sojourn mail preview --export templates --language de",
        ]
    ) { (arguments) async throws(Failure) in
        let configuration = try Setup.configuration(arguments)
        let host = MailRenderer.host(of: configuration.ownURL)
        guard let from = MailAddress(configuration.mails.from ?? "login@\(host)") ?? MailAddress("login@example.com")
        else {
            throw Failure(.failed, "mail.from is no address")
        }
        let templates: MailTemplates
        do throws(StartError) { templates = try configuration.mailTemplates(from: from) } catch {
            throw Failure(.failed, error.description)
        }
        let language = arguments.value("--language") ?? templates.language
        guard let texts = templates.texts[language] else {
            let known = templates.texts.keys.sorted().joined(separator: ", ")
            throw arguments.usage("there are no texts in '\(language)'; there are \(known)")
        }
        if let folder = arguments.value("--export") { return try export(texts, to: "\(folder)/\(language)") }
        guard let word = arguments.operands.first else { throw arguments.usage("KIND is missing: one of \(kinds)") }
        let environment = Environment.system(configuration.log, environment: Setup.environment)
        guard let kind = QueuedMail.Kind(rawValue: word),
            let mail = MailRenderer(templates, issuer: configuration.ownURL).preview(
                of: kind, in: language, at: environment.clock.now)
        else { throw arguments.usage("KIND must be one of \(kinds), not '\(word)'") }
        Terminal.write(
            arguments.has("--html") ? mail.message.content.html : String(decoding: mail.message.bytes, as: UTF8.self))
    }

    private static let list = Command.admin(
        ["mail", "list"], "Lists the mails that wait, or those that were refused.",
        options: [Command.Option("--dead", nil, "list those that are not tried again")] + Command.Option.page,
        examples: ["sojourn mail list", "sojourn mail list --dead --json"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .get, ["mails"], query: (arguments.has("--dead") ? [("dead", "true")] : []) + arguments.page)
        },
        show: { page, _ in
            page.table(["ID", "KIND", "TO", "REQUESTED", "NEXT TRY", "TRIES", "REPLY"], empty: "no mails") { mail in
                [
                    mail["mail_id"]?.cell ?? "-", mail["kind"]?.cell ?? "-", mail["email"]?.cell ?? "-",
                    Formatting.time(mail["created_at"]?.integer), Formatting.time(mail["due_at"]?.integer),
                    mail["tries"]?.cell ?? "-", mail["reply"]?.cell ?? "-",
                ]
            }
        })

    private static let retry = Command.admin(
        ["mail", "retry"], "Tries a mail again now, also one that was refused.", operands: ["ID"],
        examples: ["sojourn mail retry 0f6c…"],
        act: { arguments throws(Failure) in RetryMail(ActSubject(arguments.operands[0])) },
        show: { _, _ in "the mail is tried again now" })

    private static let kinds = QueuedMail.Kind.withText.map(\.rawValue).joined(separator: ", ")

    /// What the configuration says of mails.
    private static func setting(
        _ arguments: Arguments
    ) throws(Failure) -> (ServerConfiguration, Environment, MailSetting) {
        let configuration = try Setup.configuration(arguments)
        let environment = Environment.system(configuration.log, environment: Setup.environment)
        let setting: MailSetting?
        do throws(StartError) {
            setting = try configuration.mailSetting(environment, issuer: configuration.ownURL)
        } catch { throw Failure(.failed, error.description) }
        guard let setting else {
            throw Failure(.failed, "the configuration has no way of mails: set mail.relay and mail.from")
        }
        return (configuration, environment, setting)
    }

    /// Shows each step, and fails if the relay does not take the mail.
    private static func show(
        _ probe: MailProbe, _ arguments: Arguments, taken: String, not: String
    ) throws(Failure) {
        if arguments.isJSON {
            let steps = probe.steps.map { JSONValue.object(["step": .string($0.name), "answer": .string($0.answer)]) }
            var members: [String: JSONValue] = ["taken": .bool(probe.isTaken), "steps": .array(steps)]
            if !probe.isTaken { members["reason"] = .string(probe.sentence) }
            if let hint = probe.hint { members["hint"] = .string(hint) }
            Terminal.write(String(decoding: JSONValue.object(members).text(pretty: true), as: UTF8.self))
        } else {
            if !probe.steps.isEmpty { Terminal.write(Formatting.facts(probe.steps.map { ($0.name, $0.answer) })) }
            if probe.isTaken { Terminal.write(taken) }
        }
        guard !probe.isTaken else { return }
        let hint = probe.hint.map { "; \($0)" } ?? ""
        throw Failure(.failed, "\(not): \(Formatting.visible(probe.sentence))\(hint)")
    }

    private static func export(_ texts: MailTexts, to folder: String) throws(Failure) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for file in texts.files {
                try Data(file.content.utf8).write(
                    to: URL(filePath: "\(folder)/\(file.name)"), options: .withoutOverwriting)
            }
        } catch { throw Failure(.failed, "the texts cannot be written to \(folder), or are there already") }
        Terminal.write(
            "the texts are in \(folder): set mail.templates to the folder above it, and keep what you change")
    }
}
