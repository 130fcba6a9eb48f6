/// What the user has opened in this process, for one session.
struct Unlocked: Sendable {
    var sessionID: String?
    /// What the last prompt opened; nil in a mode without biometry.
    var gate: OpenGate?
    /// The uptime of the unlock.
    var at: Duration
}

extension Sojourn {
    /// Locks the session at once: the next use of its tokens needs `unlock`. It changes nothing in a session with the mode `NO`.
    public func lock() async {
        let gate = unlocked?.gate
        unlocked = nil
        cache?.record?.record.session?.lock()
        publishState()
        await gate?.close()
    }

    /// Locks the session if the unlock has lasted long enough.
    func lockIfLapsed() async {
        guard let unlocked, let limit = configuration.unlockLasts, clock.uptime - unlocked.at >= limit else { return }
        await lock()
    }

    /// Whether the tokens of `session` can be used without the user. In the mode `PASSWORD` stored tokens are used only by a
    /// process to which the user has given the password.
    func isOpen(_ session: StoredSession) -> Bool {
        guard session.sealed != nil || session.mode == .password else { return true }
        return unlocked != nil && unlocked?.sessionID == session.sessionID && !session.isLocked
    }

    /// What opens a session that is not open.
    func ways(toOpen session: StoredSession) -> PresenceRequirement {
        let isSealed = session.sealed != nil && session.mode == .biometric
        return PresenceRequirement(
            ways: isSealed ? ["presence", "password", "id_token"] : ["password", "id_token"], maxAge: nil)
    }

    /// The gate of `session`, if it is open.
    func openGate(of session: StoredSession?) -> OpenGate? {
        guard let session, let gate = unlocked?.gate, gate.id == session.gateID,
            unlocked?.sessionID == session.sessionID
        else { return nil }
        return gate
    }

    /// The bytes of a record for the store. Tokens that are stored under seal are sealed anew, and never written as they are.
    func bytes(of record: SessionRecord, sealedBy gate: OpenGate?) throws(StoreError) -> [UInt8] {
        guard let session = record.session, session.sealed != nil, !session.isLocked else { return record.json }
        var record = record
        guard let gate, gate.id == session.gateID, record.seal(by: gate.sealingKey) else {
            throw .failed(0, "seal the tokens")
        }
        return record.json
    }
}
