internal import Cryptography
internal import HTTPClient
internal import Sessions
internal import Telemetry

extension Application {
    /// The webhook that the configuration asks for; nil: it asks for none.
    func webhook(
        _ configuration: Configuration.Webhook, _ surroundings: Surroundings, places: GeoDatabaseFile? = nil
    ) throws(StartError) -> Webhook? {
        guard let address = configuration.url else { return nil }
        guard let url = OutboundURL(address, plainLoopback: true) else { throw .webhook("webhook.url cannot be asked") }
        let (source, text) = try Self.webhookSecret(configuration, surroundings)
        guard let secret = Webhook.secret(text) else {
            throw .webhook(
                "\(source) must hold whsec_ and 24 to 64 bytes in base64: echo whsec_$(openssl rand -base64 32)")
        }
        return Webhook(
            target: Webhook.Target(url: url, secret: secret, kinds: Set(configuration.events)), context: context,
            client: HTTPClient(HTTPClient.Options(width: 1)), logger: surroundings.logger,
            metrics: WebhookMetrics(metrics), node: Hex.encode(surroundings.random.bytes(8)), places: places)
    }

    /// Where the secret comes from, and what is there.
    private static func webhookSecret(
        _ configuration: Configuration.Webhook, _ surroundings: Surroundings
    ) throws(StartError) -> (source: String, text: String) {
        let variable = Configuration.SpecialVariable.webhookSecret.rawValue
        if let text = surroundings.webhookSecretVariable { return (variable, text) }
        guard let path = configuration.secretFile else {
            throw .webhook(
                "webhook.url needs webhook.secret_file, or \(variable): without a secret nobody knows who speaks")
        }
        do throws(PrivateFile.ReadFailure<Never>) {
            let bytes = try PrivateFile.read(path, limit: 4096) { _ in }
            return ("webhook.secret_file \(path)", String(decoding: bytes, as: UTF8.self))
        } catch {
            switch error {
            case .system(let failure): throw .webhook("webhook.secret_file \(path): \(failure.description)")
            }
        }
    }
}
