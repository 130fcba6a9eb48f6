/// That a user's e-mail address has become another one, as the audit trail keeps it: whoever had the old one can be told.
public struct EmailChange: Hashable, Sendable {
    /// What it was; nil: there was none.
    public let old: String?
    /// What it became; nil: there is none any more.
    public let new: String?

    /// The change from one profile to another; nil: it is the same address, to the byte.
    public init?(from old: User.Profile, to new: User.Profile) {
        // Not as text, for which a composed letter and a decomposed one are equal: they may be two mailboxes.
        guard old.email.map({ Array($0.utf8) }) != new.email.map({ Array($0.utf8) }) else { return nil }
        (self.old, self.new) = (old.email, new.email)
    }

    /// The change that `reason` tells of; nil if it tells of none.
    public init?(reason: String) {
        let sides = reason.split(separator: ">", omittingEmptySubsequences: false).map {
            String($0).replacing("%3E", with: ">").replacing("%25", with: "%")
        }
        guard sides.count == 2 else { return nil }
        (old, new) = (sides[0].isEmpty ? nil : sides[0], sides[1].isEmpty ? nil : sides[1])
    }

    /// `OLD>NEW`, either of which can be empty. Within an address `>` and `%`, which hardly any has, are percent-encoded.
    public var reason: String {
        [old, new].map { ($0 ?? "").replacing("%", with: "%25").replacing(">", with: "%3E") }.joined(separator: ">")
    }
}

extension UserChange {
    /// Follows a change of where the user is reached, if `old` was reached elsewhere. What was sent there sets no password any more:
    /// that somebody else reads it may be why it was changed.
    mutating func closeFormerAddresses(of old: User.Profile, at now: Instant, by origin: Origin) {
        let hasLeftMailbox = old.email != nil && EmailChange(from: old, to: user.profile) != nil
        let hasLeftNumber = old.phoneNumber != nil && old.phoneNumber != user.profile.phoneNumber
        if hasLeftMailbox || hasLeftNumber { user.passwordReset = nil }
        tellEmailChange(from: old, at: now, by: origin)
    }

    /// Tells the audit trail of a change of the user's address, if `old` had another one.
    mutating func tellEmailChange(from old: User.Profile, at now: Instant, by origin: Origin) {
        guard let change = EmailChange(from: old, to: user.profile) else { return }
        events.append(AuditEvent(.emailChanged, at: now, by: origin, userID: user.id, reason: change.reason))
    }
}
