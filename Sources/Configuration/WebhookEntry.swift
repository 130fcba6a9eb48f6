internal import HTTPClient
internal import JSON
internal import Deliveries
internal import Sessions

/// An entry of `webhooks`.
extension ListEntry {
    /// Reads a webhook; nil if a required member is missing.
    mutating func webhook() -> ServerConfiguration.Webhook? {
        let name = text("name", "1 to 64 lower-case letters, digits and hyphens") { Identity.Key.isValid(provider: $0) }
        let url = text("url", "an https URL, or an http URL of this machine") {
            OutboundURL($0, plainLoopback: true) != nil
        }.flatMap { OutboundURL($0, plainLoopback: true) }
        if name == nil { requireMember("name") }
        if url == nil { requireMember("url") }
        let secretFile = text("secret_file", "a path") { !$0.isEmpty && !$0.utf8.contains(0) }
        let events = kinds()
        guard let name, let url else { return nil }
        var webhook = ServerConfiguration.Webhook(name: name, url: url, secretFile: secretFile)
        if let events { webhook.events = .named(Set(events)) }
        return webhook
    }

    private mutating func kinds() -> [AuditEvent.Kind]? {
        guard let value = value("events") else { return nil }
        if let names = value.strings, !names.isEmpty {
            let kinds = names.compactMap(AuditEvent.Kind.init(rawValue:)).filter(WebhookEvents.may)
            if kinds.count == names.count { return kinds }
        }
        refuse("events", "a list of events of the audit trail", value)
        return nil
    }
}

extension ConfigurationKey {
    static let webhooks = objects(
        "webhooks", "a list of objects with name and url, in the file", \.webhooks,
        read: { entries, report in
            ListEntry.all("webhooks", entries, name: { $0?.name ?? "" }, report: report) { $0.webhook() }.compactMap {
                $0
            }
        }, name: \.name)
}
