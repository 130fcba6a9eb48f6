internal import Sessions

/// The provider check of a session, and the time of its last confirmation. The token of the provider stays sealed.
struct ProviderCheckLine {
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

extension PIN {
    /// The PIN of a session.
    init(_ line: inout TransferLine) throws(LineProblem) {
        let (hash, wrong) = (try line.bytes("mac_sha256"), try line.integer("wrong_pins"))
        guard hash.count == MAC.byteCount else { throw LineProblem("'mac_sha256' must have 32 bytes") }
        let replaced = try line.optionalBytes("replaced_mac_sha256")
        guard replaced?.count ?? MAC.byteCount == MAC.byteCount else {
            throw LineProblem("'replaced_mac_sha256' must have 32 bytes")
        }
        guard (0...Int64(Self.wrongMax)).contains(wrong) else {
            throw LineProblem("'wrong_pins' must be a number from 0 to \(Self.wrongMax)")
        }
        self.init(
            sessionID: try line.identifier("session_id"), userID: try line.identifier("user_id"), macHash: hash,
            replacing: replaced, wrongCount: Int(wrong), createdAt: try line.instant("created_at"),
            changedAt: try line.instant("changed_at"))
    }

    /// The line of a PIN.
    var members: TransferMembers {
        var members = TransferMembers(.pin)
        members.add("session_id", sessionID.description)
        members.add("user_id", userID.description)
        members.add("mac_sha256", bytes: macHash)
        members.add("replaced_mac_sha256", bytes: replacedMACHash)
        members.add("wrong_pins", Int64(wrongCount))
        members.add("created_at", createdAt)
        members.add("changed_at", changedAt)
        return members
    }
}
