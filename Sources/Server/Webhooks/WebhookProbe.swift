internal import Cryptography
internal import HTTPClient
internal import Sessions

/// A message that tells nothing, signed like any other: to see whether a receiver is reached, knows the secret, and what it says.
public struct WebhookProbe: Sendable {
    /// What became of it.
    public enum Outcome: Hashable, Sendable {
        /// The receiver's status and the beginning of its content.
        case answered(status: Int, content: String)
        /// No answer, for a reason in one word: `timed_out`, `unreachable`, `untrusted` …
        case failed(String)

        /// Whether the receiver took it.
        public var isTaken: Bool {
            if case .answered(let status, _) = self { (200..<300).contains(status) } else { false }
        }
    }

    /// The message's `webhook-id`.
    public let id: String
    /// What became of it.
    public let outcome: Outcome
    /// From the first byte to the last, or to the failure.
    public let duration: Duration

    /// Sends one, at once and once, whatever waits for the receiver. Its type is `webhook_test`.
    public static func send(
        to webhook: Configuration.Webhook, _ surroundings: Environment
    ) async throws(StartError) -> WebhookProbe {
        let target = Webhook.Target(
            name: webhook.name, url: webhook.url, secrets: try webhook.secrets(surroundings), events: .named([]))
        let (id, now) = ("test_" + Hex.encode(surroundings.random.bytes(8)), surroundings.clock.now)
        let message = WebhookMessage(testing: id, at: now)
        let client = HTTPClient(HTTPClient.Options(width: 1))
        let start = ContinuousClock.now
        let outcome: Outcome
        do throws(OutboundError) {
            let answer = try await client.send(target.request(id, at: now, WebhookMessage.encode(message)))
            outcome = .answered(
                status: answer.status, content: String(decoding: answer.body.prefix(200), as: UTF8.self))
        } catch { outcome = .failed(error.word) }
        return WebhookProbe(id: id, outcome: outcome, duration: ContinuousClock.now - start)
    }
}
