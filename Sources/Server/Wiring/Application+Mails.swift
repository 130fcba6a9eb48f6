public import Configuration
public import Deliveries
internal import FoundationEssentials
internal import HTTPClient
public import Mail
internal import Pages
internal import Sessions
internal import Telemetry

/// The webhooks and the mails of a server.
struct OutgoingMessages {
    let webhooks: [Delivery]
    /// Nil: none are sent.
    let mails: MailDeliveries?

    /// Sends them until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            for webhook in webhooks { group.addTask { await webhook.run() } }
            if let mails { group.addTask { await mails.run() } }
        }
    }
}

extension Application {
    /// The webhooks and the mails of the configuration.
    func outgoingMessages(
        _ configuration: ServerConfiguration, _ environment: Environment, locations: GeoDatabaseFile?
    ) throws(StartError) -> OutgoingMessages {
        OutgoingMessages(
            webhooks: try webhooks(configuration.webhooks, environment, locations: locations),
            mails: try mails(configuration, environment))
    }

    /// The sender of mails; nil: none are sent.
    private func mails(_ configuration: ServerConfiguration, _ environment: Environment) throws(StartError)
        -> MailDeliveries?
    {
        guard let setting = try configuration.mailSetting(environment, issuer: context.issuer) else { return nil }
        return MailDeliveries(
            setting, context: context, logger: environment.logger,
            metrics: MailMetrics(in: metrics, clock: context.clock))
    }
}

extension ServerConfiguration {
    /// The issuer, or the URL of the public listener if none is set.
    public var ownURL: String {
        server.issuer ?? server.publicListen.baseURL(isSecure: server.tlsCertificate != nil)
    }

    /// What the operator has decided about mails, with password, secrets and texts from their files; nil: none are sent.
    public func mailSetting(_ environment: Environment, issuer: String) throws(StartError) -> MailSetting? {
        guard let from = mails.from.flatMap(MailAddress.init), let way = try mails.way(environment, issuer) else {
            return nil
        }
        var setting = MailSetting(way: way, templates: try mailTemplates(from: from))
        (setting.connections, setting.perSecond, setting.perHour) = (mails.connections, mails.perSecond, mails.perHour)
        return setting
    }

    /// The texts of mails, with a sender.
    public func mailTemplates(from: MailAddress) throws(StartError) -> MailTemplates {
        let texts = try mailTexts()
        guard texts[mails.language] != nil else {
            let known = texts.keys.sorted().joined(separator: ", ")
            throw .mail("mail.language is \(mails.language), which has no texts; there are \(known)")
        }
        return MailTemplates(from: from, texts: texts, language: mails.language, codeInSubject: mails.codeInSubject)
    }

    /// The texts of mails by the tags of their languages: the built-in ones, those of the language files, and those of the
    /// folder of templates.
    public func mailTexts() throws(StartError) -> [String: MailTexts] {
        var all = MailTexts.builtIn
        for file in try languageFiles() {
            if let mails = file.mails { all[file.pages.tag.lowercased()] = mails }
        }
        guard let folder = mails.templates else { return all }
        for language in try Self.names(in: folder) {
            var texts: [String: String] = [:]
            for name in try Self.names(in: "\(folder)/\(language)") {
                let path = "\(folder)/\(language)/\(name)"
                let content: String
                do throws(PrivateFile.Failure) { content = try PrivateFile.text(path, limit: 1 << 20) } catch {
                    throw .mail("mail.templates: \(path): \(error.description)")
                }
                guard !content.contains("\u{FFFD}") else { throw .mail("mail.templates: \(path) is not in UTF-8") }
                do throws(TextProblem) {
                    try texts.merge(MailTexts.texts(ofFile: name, content)) { $1 }
                } catch { throw .mail("mail.templates: \(path) \(error.reason)") }
            }
            do throws(TextProblem) { all[language] = try MailTexts(texts: texts, base: all[language]) } catch {
                throw .mail("mail.templates: \(folder)/\(language): \(error.key) \(error.reason)")
            }
        }
        return all
    }

    private static func names(in folder: String) throws(StartError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }.sorted()
        } catch { throw .mail("mail.templates: the folder \(folder) cannot be read") }
    }
}

extension ServerConfiguration.Mails {
    fileprivate func way(_ environment: Environment, _ issuer: String) throws(StartError) -> MailSetting.Way? {
        if let relay = relay.flatMap(RelayURL.init) {
            return .relay(
                SMTPClient.Options(
                    relay: relay, helo: helo ?? MailRenderer.host(of: issuer),
                    credentials: try credentials(environment), mechanism: mechanism, authorities: authorities))
        }
        guard let url = webhookURL.flatMap({ OutboundURL($0, plainLoopback: true) }) else { return nil }
        let (source, text) = try webhookSecret(environment)
        let secrets = try ServerConfiguration.Webhook.secrets(in: text, of: source)
        return .webhook(WebhookTarget(name: "mail", url: url, secrets: secrets, events: .usual))
    }

    private func credentials(_ environment: Environment) throws(StartError) -> SMTPClient.Credentials? {
        guard let user else { return nil }
        if let password = environment.mailPasswordVariable {
            return SMTPClient.Credentials(user: user, password: password)
        }
        guard let passwordFile else {
            throw .mail("mail.user is set, and mail.password_file is not: set it, or \(Self.passwordVariable)")
        }
        let password = try Application.secretLine(passwordFile, of: "mail.password_file \(passwordFile)") { .mail($0) }
        return SMTPClient.Credentials(user: user, password: password)
    }

    private func webhookSecret(_ environment: Environment) throws(StartError) -> (source: String, text: String) {
        if let text = environment.mailWebhookSecretVariable { return (Self.webhookSecretVariable, text) }
        guard let path = webhookSecretFile else {
            throw .mail(
                "mail.webhook_url needs mail.webhook_secret_file, or \(Self.webhookSecretVariable): without a secret the "
                    + "receiver cannot verify the sender")
        }
        let source = "mail.webhook_secret_file \(path)"
        do throws(PrivateFile.Failure) { return (source, try PrivateFile.text(path)) } catch {
            throw .mail("\(source): \(error.description)")
        }
    }
}
