internal import JSON

// The calls of admins about second factors.

extension Administration {
    private var factors: SecondFactorService { SecondFactorService(context) }

    /// Sets the policy of the settings, with effect on every login, and with `required` on every refresh.
    public func setSecondFactorPolicy(
        _ policy: SecondFactorPolicy, by origin: Origin
    ) async throws(ServiceError) -> Settings {
        let now = context.clock.now
        return try await inStore(
            await store.updateSettings { change in
                let old = change.settings.secondFactorPolicy
                if old != policy {
                    change.settings.secondFactorPolicy = policy
                    let values = JSONValue.array([.string(old.rawValue), .string(policy.rawValue)])
                    change.events.append(
                        AuditEvent(
                            .settingsChanged, at: now, by: origin,
                            reason: JSONValue.object(["second_factor_policy": values]).compactText))
                }
                return change.settings
            })
    }

    /// What a user has.
    public func secondFactors(
        of reference: UserReference
    ) async throws(ServiceError) -> SecondFactorService.Overview {
        try await factors.overview(of: try await user(reference).id)
    }

    /// Removes an authenticator of a user; nil: every one, with the recovery codes. Sessions go on.
    public func removeSecondFactor(
        _ id: Identifier<TOTPFactor>?, of reference: UserReference, by origin: Origin
    ) async throws(ServiceError) {
        try await factors.remove(id, of: try await user(reference).id, isByAdmin: true, from: origin)
    }

    /// Decides whether policies apply to a user; nil: as settings and client say. Returns how many sessions have ended: those that
    /// do not meet the decision, unless they are kept, because a refresh reads none of it.
    public func requireSecondFactor(
        _ requirement: UserDetails.SecondFactorRequirement?, of reference: UserReference, keepingSessions: Bool,
        by origin: Origin
    ) async throws(ServiceError) -> Int {
        let (now, userID) = (context.clock.now, try await user(reference).id)
        let outcome = try await inStore(
            await store.changeFactors(of: userID) { factors -> Result<Void, ServiceError> in
                factors.require(requirement, by: origin, at: now)
                return .success(())
            })
        guard let outcome else { throw .notFound("user") }
        try outcome.get()
        if keepingSessions || requirement == .exempt { return 0 }
        let exempt = SecondFactorMark.exempt.word(at: now)
        var ended = 0
        for record in try await accounts.livingSessions(of: userID) {
            let session = record.session
            let isLet = requirement == .required ? session.meetsSecondFactorPolicy : true
            if isLet, !session.authenticationMethods.contains(exempt) { continue }
            if try await logout.end(session.id, .revokedByAdmin, from: origin) { ended += 1 }
        }
        return ended
    }

    /// Lets codes of authenticators be taken again after too many wrong ones.
    func unblockSecondFactor(of userID: Identifier<User>, by origin: Origin) async throws(ServiceError) {
        let now = context.clock.now
        _ = try await inStore(
            await store.changeFactors(of: userID) { factors -> Result<Void, ServiceError> in
                factors.unblock(by: origin, at: now)
                return .success(())
            })
    }
}

extension EnrolledFactors {
    /// Notes what an admin has decided for the user.
    mutating func require(
        _ requirement: UserDetails.SecondFactorRequirement?, by origin: Origin, at now: Instant
    ) {
        if details.secondFactor == requirement { return }
        details.secondFactor = requirement
        events.append(
            AuditEvent(
                .secondFactorPolicyChanged, at: now, by: origin, userID: details.userID,
                reason: requirement?.rawValue ?? "inherit"))
    }

    /// Forgets wrong codes, because an admin says so.
    mutating func unblock(by origin: Origin, at now: Instant) {
        if details.wrongFactors == 0 { return }
        (details.wrongFactors, details.wrongFactorAt) = (0, nil)
        events.append(AuditEvent(.secondFactorUnblocked, at: now, by: origin, userID: details.userID))
    }
}
