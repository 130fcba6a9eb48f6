extension UserChange {
    /// Lifts the user's lock, what is counted beside it, and on each node the delays up to now.
    mutating func unlock(at now: Instant) {
        user.wrongPasswords = User.WrongPasswords(count: 0, lastAt: now)
        forgetsGuesses = true
    }

    /// What a store has to do for a change of a user, in this order, before it writes the events.
    public struct Effect: Hashable, Sendable {
        /// The user to be written, unless somebody else has the name; nil: nothing to write.
        public let written: User?
        /// Sessions to be ended, one ending after the other: what the first has ended, the second does not find.
        public let endings: [EndingSessions]
        /// Whether the user is deleted.
        public let deletes: Bool

        /// Whether `namesake`, who has the name of the user to be written, is somebody else.
        public func isRefused(by namesake: Identifier<User>?) -> Bool {
            if let written, let namesake { namesake != written.id } else { false }
        }
    }

    /// What this change of `stored` comes to. Pure.
    public func effect(on stored: User, now: Instant) -> Effect {
        var endings = ending.map { [$0] } ?? []
        if deletes {
            // Whom the change did not end for a reason of its own.
            endings.append(EndingSessions(.userDeleted, at: ending?.at ?? events.first?.at ?? now))
        }
        return Effect(written: deletes || user == stored ? nil : user, endings: endings, deletes: deletes)
    }
}
