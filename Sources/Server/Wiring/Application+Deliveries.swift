public import Configuration
internal import Cryptography
internal import Endpoints
internal import Geolocation
public import Deliveries
internal import Sessions
internal import Sockets
internal import Telemetry

extension Application {
    /// The webhooks of the configuration.
    func webhooks(
        _ configurations: [ServerConfiguration.Webhook], _ environment: Environment, locations: GeoDatabaseFile? = nil
    ) throws(StartError) -> [Delivery] {
        if configurations.isEmpty { return [] }
        let node = node(environment)
        let locate = locations.map { file -> WebhookMessage.Locator in { file.location(of: $0) } }
        let metrics = DeliveryMetrics.webhooks(configurations.map(\.name), in: metrics, clock: context.clock)
        var webhooks: [Delivery] = []
        for (webhook, metrics) in zip(configurations, metrics) {
            webhooks.append(
                Delivery(
                    webhook: try webhook.target(environment), context: context, logger: environment.logger,
                    metrics: metrics, node: node, locate: locate))
        }
        return webhooks
    }

    /// The deliveries to the receivers of clients: logout tokens and pushed security events. `receivers` are the ranges of
    /// addresses, beside public ones, that events may be pushed to.
    func clientDeliveries(_ receivers: [AddressRange], _ environment: Environment) -> [ClientDeliveries] {
        let (logger, node) = (environment.logger, node(environment))
        return [
            .logoutTokens(
                context: context, logger: logger, metrics: .logoutTokens(in: metrics, clock: context.clock), node: node),
            .securityEvents(
                context: context, receivers: receivers, logger: logger,
                metrics: .securityEvents(in: metrics, clock: context.clock), node: node),
        ]
    }

    /// What tells clients that logins which they have requested of users have a result and, if mails are sent, users what has
    /// happened to their accounts. Each runs until its task is cancelled.
    func notices(
        _ environment: Environment, locations: GeoDatabaseFile? = nil
    ) -> [@Sendable () async -> Void] {
        let pings = BackchannelNotices(
            context: context, logger: environment.logger, metrics: NoticeMetrics(in: metrics))
        if context.mails == nil { return [{ await pings.run() }] }
        var place: (@Sendable (String, String) -> String?)?
        if let locations { place = { address, language in locations.place(of: address, language: language)?.name } }
        let mails = MailNotices(
            context: context, logger: environment.logger, node: node(environment), place: place)
        return [{ await pings.run() }, { await mails.run() }]
    }

    /// The right of this node to clean up, which the nodes of one database share; nil for a database file.
    func cleanUpLease(_ environment: Environment) -> CleanUpLease? {
        guard case .postgres = database else { return nil }
        return CleanUpLease(context, node: node(environment), logger: environment.logger)
    }

    /// The name of this node among all nodes.
    func node(_ environment: Environment) -> String {
        // Only one process has a database file open, so the next process continues at once, under the same name.
        if case .postgres = database { Hex.encode(environment.random.bytes(8)) } else { "file" }
    }
}

extension ServerConfiguration.Webhook {
    /// The target, with the secrets from the variable or the file.
    public func target(_ environment: Environment) throws(StartError) -> WebhookTarget {
        WebhookTarget(name: name, url: url, secrets: try secrets(environment), events: events)
    }

    private func secrets(_ environment: Environment) throws(StartError) -> [[UInt8]] {
        let (source, text) = try secretText(environment)
        return try Self.secrets(in: text, of: source)
    }

    /// The secrets of a text from that source.
    static func secrets(in text: String, of source: String) throws(StartError) -> [[UInt8]] {
        if let secrets = WebhookSecrets.parse(text) { return secrets }
        throw .webhook(
            "\(source) must hold whsec_ and 24 to 64 bytes in base64, once or twice: echo whsec_$(openssl rand -base64 32)"
        )
    }

    /// The name of the source, and its text.
    private func secretText(_ environment: Environment) throws(StartError) -> (source: String, text: String) {
        if let text = environment.webhookSecretVariables[secretVariable] { return (secretVariable, text) }
        guard let path = secretFile else {
            throw .webhook(
                "the webhook \(name) needs secret_file, or \(secretVariable): without a secret the receiver cannot verify the sender"
            )
        }
        let source = "secret_file \(path) of the webhook \(name)"
        do throws(PrivateFile.Failure) { return (source, try PrivateFile.text(path)) } catch {
            throw .webhook("\(source): \(error.description)")
        }
    }
}
