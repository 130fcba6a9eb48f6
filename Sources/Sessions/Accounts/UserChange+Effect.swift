extension UserChange {
    /// Removes the user's lock, the shared counts of failed attempts, and on each node the delays up to now.
    mutating func unlock(at now: Instant) {
        user.wrongPasswords = User.WrongPasswords(count: 0, lastAt: now)
        forgetsFailedAttempts = true
    }

    /// The writes of a user change, in the order in which a store makes them before it writes the events.
    public struct Effect: Hashable, Sendable {
        /// The user to write, unless another user has the username; nil if there is nothing to write.
        public let written: User?
        /// The sessions to end, in this order. A later ending does not affect sessions that an earlier one has ended.
        public let endings: [EndingSessions]
        /// True if the user is deleted.
        public let deletes: Bool
        /// True if the open verifications of the user end: a code or link on its way must not outlive what ended the trust in it.
        public let endsVerifications: Bool

        /// The end of all sessions because their devices may be another person's; nil: no such end.
        var distrust: EndingSessions? {
            deletes ? nil : endings.first { $0.isOfAll && !$0.reason.leavesDeviceKnown }
        }

        /// Returns true if `namesake`, the user with the name that is to be written, is another user.
        public func isRefused(by namesake: Identifier<User>?) -> Bool {
            if let written, let namesake { namesake != written.id } else { false }
        }
    }

    /// The effect of this change on `stored`. This function is pure.
    public func effect(on stored: User, now: Instant) -> Effect {
        var endings = ending.map { [$0] } ?? []
        if deletes {
            // Deletion also ends the sessions that the change has not ended for another reason.
            endings.append(EndingSessions(.userDeleted, at: ending?.at ?? events.first?.at ?? now))
        }
        let isSwitchedOff =
            (user.disabledByAdmin != nil && stored.disabledByAdmin == nil)
            || (user.disabledByUser != nil && stored.disabledByUser == nil)
        return Effect(
            written: deletes || user == stored ? nil : user, endings: endings, deletes: deletes,
            endsVerifications: endsVerifications || isSwitchedOff || endings.contains(where: \.isOfAll))
    }
}

extension UserChange {
    /// Disables or enables logins by `edit` and records the event. The event carries a revocation if existing access tokens
    /// become invalid, or valid again.
    mutating func switchLogins(
        _ kind: AuditEvent.Kind, at now: Instant, by origin: Origin, reason: String? = nil, _ edit: (inout User) -> Void
    ) {
        let wasBlocked = user.rejectsAccessTokens
        edit(&user)
        var event = AuditEvent(kind, at: now, by: origin, userID: user.id, reason: reason)
        if user.rejectsAccessTokens != wasBlocked {
            event.revokes = user.rejectsAccessTokens ? .userBlocked : .userUnblocked
        }
        events.append(event)
    }
}
