internal import HTTPClient
internal import Mail

extension ConfigurationKey {
    private static let mechanisms = ["PLAIN", "LOGIN", "CRAM-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256"]

    static let mails = [
        optionalText("mail.relay", "an smtp or smtps URL of a host and a port", \.mails.relay) {
            RelayURL($0) != nil
        },
        optionalText("mail.user", "1 to 256 characters without control characters", \.mails.user) { isLine($0) },
        optionalText("mail.password_file", "a path", \.mails.passwordFile) { isPath($0) },
        optionalText(
            "mail.auth_mechanism", "one of " + mechanisms.map { "\"\($0)\"" }.joined(separator: ", "),
            \.mails.mechanism
        ) { mechanisms.contains($0) },
        optionalText("mail.ca_file", "a path", \.mails.authorities) { isPath($0) },
        optionalText("mail.helo", "a host name", \.mails.helo) { isHost($0) && !$0.hasPrefix("[") },
        optionalText("mail.webhook_url", "an https URL, or an http URL of this machine", \.mails.webhookURL) {
            OutboundURL($0, plainLoopback: true) != nil
        },
        optionalText("mail.webhook_secret_file", "a path", \.mails.webhookSecretFile) { isPath($0) },
        optionalText("mail.from", "an address like login@example.com or Example <login@example.com>", \.mails.from) {
            MailAddress($0) != nil
        },
        text(
            "mail.language", "a language like \"en\"", \.mails.language,
            parse: { (2...8).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x61...0x7A).contains($0) } ? $0 : nil },
            print: { $0 }),
        optionalText("mail.templates", "a path", \.mails.templates) { isPath($0) },
        flag("mail.code_in_subject", \.mails.codeInSubject),
        count("mail.connections", 1...32, "connections", \.mails.connections),
        count("mail.per_second", 1...1000, "mails", \.mails.perSecond),
        count("mail.per_hour", 1...10_000_000, "mails", \.mails.perHour),
    ]

    private static func isLine(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension ServerConfiguration.Mails {
    /// The combinations of settings that make no sense.
    var problems: [String] {
        var problems: [String] = []
        if relay != nil, webhookURL != nil {
            problems.append("mail.relay and mail.webhook_url are both set: mails go one way, so remove one of them")
        }
        if areSent, from == nil { problems.append("mail.from is not set: mails need a sender, like login@example.com") }
        if !areSent, from != nil {
            problems.append("mail.from is set, but neither mail.relay nor mail.webhook_url is: no mail would be sent")
        }
        if relay == nil {
            for (key, isSet) in [
                ("user", user != nil), ("password_file", passwordFile != nil), ("auth_mechanism", mechanism != nil),
                ("ca_file", authorities != nil), ("helo", helo != nil),
            ] where isSet {
                problems.append("mail.\(key) is set, but mail.relay is not: it belongs to the relay")
            }
        }
        if user == nil, passwordFile != nil {
            problems.append("mail.password_file is set, but mail.user is not: set the user at the relay")
        }
        if webhookURL == nil, webhookSecretFile != nil {
            problems.append("mail.webhook_secret_file is set, but mail.webhook_url is not")
        }
        return problems
    }
}
