internal import HTTP
public import Sessions

/// Sends a signed test message to a webhook.
public struct TestWebhook: AdminAct {
    /// See `AdminAct`.
    public static let scope = AdminKey.Scope.support

    /// The webhook.
    public var webhook: ActSubject

    /// The act on it.
    public init(_ webhook: ActSubject) { self.webhook = webhook }

    /// See `AdminAct`.
    public var call: AdminCall { AdminCall(.post, webhook.path(in: "webhooks", "/test")) }

    /// See `AdminAct`.
    public var words: [String]? { ["webhook", "test"] + Shell.operands(webhook.word) }
}
