internal import Cryptography
internal import FoundationEssentials
internal import HTTP
public import HTTPClient
internal import Sessions

/// A receiver of messages.
public struct WebhookTarget: Sendable {
    /// The name of the webhook, unique in the configuration.
    public let name: String
    /// The URL to which messages are posted.
    public let url: OutboundURL
    /// The keys that sign each message: one, or two while the receiver changes from one to the other.
    public let secrets: [[UInt8]]
    /// The events that are sent.
    public let events: WebhookEvents

    /// A receiver of messages.
    public init(name: String, url: OutboundURL, secrets: [[UInt8]], events: WebhookEvents) {
        (self.name, self.url, self.secrets, self.events) = (name, url, secrets, events)
    }

    /// The signed request that delivers a message.
    func request(_ id: String, at now: Instant, _ body: [UInt8]) -> OutboundRequest {
        let timestamp = String(now.secondsSinceEpoch)
        let fields: Fields = [
            "Content-Type": "application/json", "webhook-id": id, "webhook-timestamp": timestamp,
            "webhook-signature": WebhookSecrets.signature(id, timestamp, body, secrets: secrets),
        ]
        return OutboundRequest(.post, url, fields: fields, body: body)
    }
}

/// The keys and the signatures of Standard Webhooks.
public enum WebhookSecrets {
    /// The signature of id, time and content, separated by dots. Each secret adds one, so that a receiver that knows any of
    /// them accepts the message.
    static func signature(_ id: String, _ timestamp: String, _ body: [UInt8], secrets: [[UInt8]]) -> String {
        let message = Array("\(id).\(timestamp).".utf8) + body
        return secrets.map { "v1," + Data(HMACSHA256Key($0).authenticate(message)).base64EncodedString() }
            .joined(separator: " ")
    }

    /// Reads the secrets of a file or a variable: one or two, each `whsec_` and 24 to 64 bytes in base64, separated by white
    /// space or commas.
    public static func parse(_ text: String) -> [[UInt8]]? {
        let words = text.split { $0.isWhitespace || $0 == "," }
        let secrets = words.compactMap(secret)
        return (1...2).contains(words.count) && secrets.count == words.count ? secrets : nil
    }

    private static func secret(_ word: Substring) -> [UInt8]? {
        guard word.hasPrefix("whsec_"), let bytes = Data(base64Encoded: String(word.dropFirst("whsec_".count))),
            (24...64).contains(bytes.count)
        else { return nil }
        return Array(bytes)
    }
}
