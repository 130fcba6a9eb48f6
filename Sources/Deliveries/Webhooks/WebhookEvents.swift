public import Sessions

/// The choice of the events that a webhook sends.
public enum WebhookEvents: Hashable, Sendable {
    /// The events that cause mails to users, and every event that the feed of revocations contains: a receiver of these
    /// does not need the feed.
    case usual
    /// Exactly these events of the audit trail.
    case named(Set<AuditEvent.Kind>)

    private static let ofMails: Set<AuditEvent.Kind> = [
        .sessionStarted, .sessionEnded, .refreshTokenMisused, .loginsDisabled, .loginsEnabled, .passwordChanged,
        .emailChanged, .passkeyAdded, .passkeyRemoved, .userDeleted, .clientDeleted, .allSessionsRevoked,
    ]

    /// True if the webhook sends `recorded`.
    func contains(_ recorded: RecordedEvent) -> Bool {
        switch self {
        case .usual: recorded.revocation != nil || Self.ofMails.contains(recorded.event.kind)
        case .named(let kinds): kinds.contains(recorded.event.kind)
        }
    }
}
