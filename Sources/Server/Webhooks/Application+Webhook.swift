internal import Cryptography
internal import HTTPClient
internal import Sessions
internal import Telemetry

extension Application {
    /// The webhooks that the configuration asks for.
    func webhooks(
        _ configurations: [Configuration.Webhook], _ surroundings: Environment, places: GeoDatabaseFile? = nil
    ) throws(StartError) -> [Webhook] {
        if configurations.isEmpty { return [] }
        // A file has one process at a time: the next one goes on at once, also after one that was killed.
        var node = "file"
        if case .postgres = database { node = Hex.encode(surroundings.random.bytes(8)) }
        var webhooks: [Webhook] = []
        for (webhook, metrics) in zip(configurations, WebhookMetrics.all(configurations.map(\.name), in: metrics)) {
            let target = Webhook.Target(
                name: webhook.name, url: webhook.url, secrets: try webhook.secrets(surroundings),
                events: webhook.events)
            // A thread for each, so that one that is slow delays no other.
            webhooks.append(
                Webhook(
                    target: target, context: context, client: HTTPClient(HTTPClient.Options(width: 1)),
                    logger: surroundings.logger, metrics: metrics, node: node, places: places))
        }
        return webhooks
    }
}

extension Configuration.Webhook {
    /// The secrets that sign its messages, from the variable or the file.
    func secrets(_ surroundings: Environment) throws(StartError) -> [[UInt8]] {
        let (source, text) = try secretText(surroundings)
        if let secrets = Webhook.secrets(text) { return secrets }
        throw .webhook(
            "\(source) must hold whsec_ and 24 to 64 bytes in base64, once or twice: echo whsec_$(openssl rand -base64 32)"
        )
    }

    /// Where they come from, and what is there.
    private func secretText(_ surroundings: Environment) throws(StartError) -> (source: String, text: String) {
        if let text = surroundings.webhookSecretVariables[secretVariable] { return (secretVariable, text) }
        guard let path = secretFile else {
            throw .webhook(
                "the webhook \(name) needs secret_file, or \(secretVariable): without a secret the receiver cannot verify the sender"
            )
        }
        do throws(PrivateFile.ReadFailure<Never>) {
            let bytes = try PrivateFile.read(path, limit: 4096) { _ in }
            return ("secret_file \(path) of the webhook \(name)", String(decoding: bytes, as: UTF8.self))
        } catch {
            switch error {
            case .system(let failure):
                throw .webhook("secret_file \(path) of the webhook \(name): \(failure.description)")
            }
        }
    }
}
