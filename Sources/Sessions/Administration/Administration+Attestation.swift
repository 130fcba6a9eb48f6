extension Administration {
    /// Records what the operator's own attestation of app and device says of a session; nil takes it away. The next access
    /// tokens have the verdict as the claim `attestation`. Throws `conflict` if the session has ended.
    public func setAttestation(
        _ verdict: String?, of id: Identifier<Session>, by origin: Origin
    ) async throws(ServiceError) -> SessionRecord {
        if let verdict, !Device.isValid(text: verdict) {
            throw .invalid(
                member: "verdict", detail: "must have 1 to \(Device.textLengthMax) bytes and no control characters")
        }
        let now = context.clock.now
        let policy = context.policy
        let outcome = try await inStore(
            await store.updateSession(id) { change -> Result<SessionRecord, ServiceError> in
                if policy.ending(of: change.record, at: now) != nil {
                    return .failure(.conflict(code: "session_ended", detail: "the session has ended"))
                }
                if change.session.attestation != verdict {
                    change.session.attestation = verdict
                    change.events.append(
                        AuditEvent(.attestationChanged, at: now, by: origin, session: change.session, reason: verdict))
                }
                return .success(change.record)
            })
        guard let outcome else { throw .notFound("session") }
        return try outcome.get()
    }
}
