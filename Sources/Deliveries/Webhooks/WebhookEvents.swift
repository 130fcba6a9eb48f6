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
        .emailChanged, .emailChangeUndone, .deletionRequested, .deletionCancelled, .passkeyAdded, .passkeyRemoved,
        .secondFactorAdded, .secondFactorRemoved, .secondFactorBlocked, .recoveryCodesMade, .recoveryCodeUsed,
        .userDeleted, .clientDeleted, .allSessionsRevoked,
    ]

    /// Whether a webhook may send events of that kind. Strangers cause as many requests for mails as they like, and what a mailbox
    /// is asked for is not for other receivers.
    public static func may(_ kind: AuditEvent.Kind) -> Bool {
        kind != .verificationRequested && kind != .verificationFailed
    }

    /// True if the webhook sends `recorded`.
    func contains(_ recorded: RecordedEvent) -> Bool {
        switch self {
        case .usual: recorded.revocation != nil || Self.ofMails.contains(recorded.event.kind)
        case .named(let kinds): kinds.contains(recorded.event.kind)
        }
    }
}
