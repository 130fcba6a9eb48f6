public import Cryptography
internal import HTTPClient
public import Sessions

/// A signed test message: it shows whether a receiver is reachable and knows the secret, and what it answers.
public struct WebhookProbe: Sendable {
    /// The result of a probe.
    public enum Outcome: Hashable, Sendable {
        /// The receiver's status and the beginning of its content.
        case answered(status: Int, content: String)
        /// No answer, for a reason in one word: `timed_out`, `unreachable`, `untrusted` …
        case failed(String)

        /// True if the receiver took the message.
        public var isTaken: Bool {
            if case .answered(let status, _) = self { (200..<300).contains(status) } else { false }
        }
    }

    /// The message's `webhook-id`.
    public let id: String
    /// The result.
    public let outcome: Outcome
    /// The time from the first byte to the last, or to the failure.
    public let duration: Duration

    /// Sends one message of type `webhook_test`, immediately and once, independent of the events that wait.
    public static func send(to target: WebhookTarget, clock: WallClock, random: RandomSource) async -> WebhookProbe {
        let (id, now) = ("test_" + Hex.encode(random.bytes(8)), clock.now)
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
