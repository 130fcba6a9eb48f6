internal import Cryptography
internal import HTTPClient
internal import Sessions
internal import Telemetry

extension Application {
    /// The webhook that the configuration asks for; nil: it asks for none.
    func webhook(_ configuration: Configuration.Webhook, _ surroundings: Surroundings) throws(StartError) -> Webhook? {
        guard let text = configuration.url else { return nil }
        guard let url = OutboundURL(text, plainLoopback: true) else { throw .webhook("webhook.url cannot be asked") }
        guard let path = configuration.secretFile else {
            throw .webhook("webhook.url needs webhook.secret_file: without a secret nobody knows who speaks")
        }
        let bytes: [UInt8]
        do throws(PrivateFile.ReadFailure<Never>) {
            bytes = try PrivateFile.read(path, limit: 4096) { _ in }
        } catch {
            switch error {
            case .system(let failure): throw .webhook("webhook.secret_file \(path): \(failure.description)")
            }
        }
        guard let secret = Webhook.secret(String(decoding: bytes, as: UTF8.self)) else {
            throw .webhook(
                "webhook.secret_file \(path) must hold whsec_ and 24 to 64 bytes in base64: "
                    + "echo whsec_$(openssl rand -base64 32)")
        }
        return Webhook(
            target: Webhook.Target(url: url, secret: secret, kinds: Set(configuration.events)), context: context,
            client: HTTPClient(HTTPClient.Options(width: 1)), logger: surroundings.logger,
            metrics: WebhookMetrics(metrics), node: Hex.encode(surroundings.random.bytes(8)))
    }
}
