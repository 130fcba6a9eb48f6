internal import Sessions

/// The provider check of a session, and the time of its last confirmation. The token of the provider stays sealed.
struct ProviderCheckLine {
    /// The provider check.
    let check: ProviderCheck
    /// The time of the last confirmation.
    let confirmedAt: Instant

    init(_ check: ProviderCheck, confirmedAt: Instant) {
        self.check = check
        self.confirmedAt = confirmedAt
    }

    init(_ line: inout TransferLine) throws(LineProblem) {
        guard let key = Identity.Key(provider: try line.text("provider"), subject: try line.text("subject")) else {
            throw LineProblem("'provider' and 'subject' name no identity")
        }
        check = ProviderCheck(
            sessionID: try line.identifier("session_id"), provider: key.provider, subject: key.subject,
            clientID: try line.text("provider_client_id"), sealedToken: try line.optionalBytes("sealed_token"),
            rotates: try line.required("rotates", line.value("rotates", "true or false")),
            dueAt: try line.instant("due_at"), failingSince: try line.optionalInstant("failing_since"),
            revision: try line.integer("revision"))
        confirmedAt = try line.instant("confirmed_at")
    }

    /// The line. It omits whether an answer was lost, because the import must assume that.
    var members: TransferMembers {
        var members = TransferMembers(.providerCheck)
        members.add("session_id", check.sessionID.description)
        members.add("provider", check.provider)
        members.add("subject", check.subject)
        members.add("provider_client_id", check.clientID)
        members.add("sealed_token", bytes: check.sealedToken)
        members.add("rotates", check.rotates)
        members.add("due_at", check.dueAt)
        members.add("failing_since", check.failingSince)
        members.add("revision", check.revision)
        members.add("confirmed_at", confirmedAt)
        return members
    }
}
