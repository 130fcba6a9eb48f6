/// A change of a user's e-mail address as the audit trail records it, so that the old address can be notified.
public struct EmailChange: Hashable, Sendable {
    /// The old address; nil if there was none.
    public let old: String?
    /// The new address; nil if it was removed.
    public let new: String?

    /// The change between two profiles; nil if the addresses have equal bytes.
    public init?(from old: User.Profile, to new: User.Profile) {
        // The comparison uses bytes, because `String` treats composed and decomposed letters as equal, but they may name two
        // mailboxes.
        guard old.email.map({ Array($0.utf8) }) != new.email.map({ Array($0.utf8) }) else { return nil }
        (self.old, self.new) = (old.email, new.email)
    }

    /// Parses the `reason` of an audit event; nil if it is not of this form.
    public init?(reason: String) {
        let sides = reason.split(separator: ">", omittingEmptySubsequences: false).map {
            String($0).replacing("%3E", with: ">").replacing("%25", with: "%")
        }
        guard sides.count == 2 else { return nil }
        (old, new) = (sides[0].isEmpty ? nil : sides[0], sides[1].isEmpty ? nil : sides[1])
    }

    /// `OLD>NEW`; each side can be empty. The characters `>` and `%` within an address are percent-encoded.
    public var reason: String {
        [old, new].map { ($0 ?? "").replacing("%", with: "%25").replacing(">", with: "%3E") }.joined(separator: ">")
    }
}

extension UserChange {
    /// Ends the user's verifications if the e-mail address or telephone number is no longer that of `old`, because a code or link
    /// may have been sent there, and others may read it. Records a change of the e-mail address.
    mutating func closeFormerAddresses(of old: User.Profile, at now: Instant, by origin: Origin) {
        let hasLeftMailbox = old.email != nil && EmailChange(from: old, to: user.profile) != nil
        let hasLeftNumber = old.phoneNumber != nil && old.phoneNumber != user.profile.phoneNumber
        if hasLeftMailbox || hasLeftNumber { endsVerifications = true }
        recordEmailChange(from: old, at: now, by: origin)
    }

    /// Records a change of the e-mail address, if `old` has another one.
    mutating func recordEmailChange(from old: User.Profile, at now: Instant, by origin: Origin) {
        guard let change = EmailChange(from: old, to: user.profile) else { return }
        events.append(AuditEvent(.emailChanged, at: now, by: origin, userID: user.id, reason: change.reason))
    }
}
