extension PhoneLoginChange {
    /// Lets `PhoneLoginPolicy` decide `attempt` with the rows of the transaction, and takes over what follows for the login, for
    /// sessions and for the audit trail. `policy` says how the sessions of the phones stand (`Phone.swift`).
    mutating func act(
        _ attempt: PhoneLoginAttempt, by policy: RefreshPolicy, _ rules: PhoneLoginRules, from origin: Origin,
        at now: Instant
    ) -> PhoneLoginOutcome {
        // The act before this one, in the same transaction, may have been the claim.
        let askingPhoneHasClaimed = login.claim != nil && login.claim?.sessionID == phone?.session.id
        let claimant = askingPhoneHasClaimed ? phone : claimant
        var attempt = attempt
        attempt.phone = attempt.phone ?? phone.map { policy.phone(of: $0, at: now) }
        attempt.claimant = claimant.map { policy.phone(of: $0, at: now) }
        (attempt.pin, attempt.hasSessions) = (pin, !sessions.isEmpty)
        let outcome = PhoneLoginPolicy(rules).decide(attempt, on: login, at: now)
        login = outcome.login
        let claimed = login.claim?.sessionID == phone?.session.id ? phone : claimant
        events += outcome.effects.events(of: login, onPhone: claimed?.session.device, by: origin, at: now)
        for effect in outcome.effects {
            switch effect {
            case .endSession(let cause):
                ending = Session.Ending(reason: attempt.act.isReport ? .notMe : cause.endReason, at: now)
            case .moveSession(let phoneID): movesTo = phoneID
            case .notePresence(let proof): shown = (proof, now)
            case .countWrongPIN: countWrongPIN(from: origin, at: now)
            case .forgetWrongPINs: pin?.wrongCount = 0
            case .record: break
            }
        }
        return outcome
    }
}

extension PhoneLogin.Act {
    /// Whether the user says that another person asked for the login.
    fileprivate var isReport: Bool { [.stop(isReport: true), .report].contains(self) }
}

extension PhoneLogin.Cause {
    /// The reason for which a session ends with its login.
    var endReason: EndReason {
        switch self {
        case .ended(let reason): reason
        case .presenceLost: .presenceLost
        default: .parentEnded
        }
    }
}

extension PhoneLogin.Reply {
    /// Throws the refusal.
    func get() throws(ServiceError) {
        if case .refused(let refusal) = self { throw .login(refusal) }
    }
}
