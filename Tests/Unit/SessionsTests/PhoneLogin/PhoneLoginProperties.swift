import Sessions

// What must hold after every step of `PhoneLoginWorld`.
extension PhoneLoginWorld {
    /// Every phase. A login that has failed can be of a deleted user as well.
    static let table = Set(
        PhoneLogin.Phase.allCases.map { Reached(phase: $0, hasFailed: $0 == .failed) }
            + [Reached(phase: .deleted, hasFailed: true)])

    /// What is wrong with this world, which follows from `before` by `call`; nil: nothing.
    func wrong(after before: PhoneLoginWorld, _ call: PhoneLoginAttempt, _ outcome: PhoneLoginOutcome) -> String? {
        shape(before) ?? finality(before, call) ?? start(before, call, outcome) ?? denial(before, call, outcome)
            ?? times(before, call, outcome) ?? ends(before, call, outcome)
    }

    private func shape(_ before: PhoneLoginWorld) -> String? {
        let phase = login.state.phase
        let isWithoutCause = !login.state.isFinal || phase == .completed
        if phase != .deleted, (login.cause == nil) != isWithoutCause { return "the cause does not fit" }
        let hasFailed = login.cause?.isFailure == true
        if !Self.table.contains(Reached(phase: phase, hasFailed: hasFailed)) { return "the cause is of another end" }
        if phase == .completed, login.bond != .none { return "one shot with a bond" }
        if phase == .signedIn || phase == .signedOut, login.bond == .none { return "no bond" }
        if rules.kind == .app, login.state == .confirming { return "an app is asked to confirm" }
        if rules.kind == .app || !rules.startsByHand, login.state == .claimed { return "held" }
        if login.number != nil, login.claim == nil { return "a number before the scan" }
        if login.state == .claimed, login.number != nil { return "a number before the phone is ready" }
        return nil
    }

    /// Final states are final, and the account never changes.
    private func finality(_ before: PhoneLoginWorld, _ call: PhoneLoginAttempt) -> String? {
        let old = before.login
        if let user = old.userID, login.userID != user { return "the account changes" }
        if let user = login.userID, login.claim?.userID != user { return "the account is not the phone's" }
        guard old.state.isFinal else { return nil }
        if login.state == old.state { return nil }
        if !login.state.isFinal || login.cause != old.cause || login.endedAt != old.endedAt {
            return "a final state changes"
        }
        if case .userDeleted(old.userID) = call.act, login.state.outcome == .deleted { return nil }
        return "the outcome of an end changes"
    }

    /// No session without a living phone of one user that has acted; at most one for each login.
    private func start(_ before: PhoneLoginWorld, _ call: PhoneLoginAttempt, _ outcome: PhoneLoginOutcome) -> String? {
        if sessionsStarted > 1 { return "two sessions" }
        guard sessionsStarted > before.sessionsStarted else { return nil }
        guard let user = login.userID, let claim = before.login.claim else { return "a session without a user" }
        let acted = consents.union(factors)
        if acted != [user] { return acted.contains(user) ? "two users acted" : "a session without the user's act" }
        let takesNumber = before.login.needsNumber
        if takesNumber, !numbers.contains(user) { return "a session without the number" }
        if rules.kind == .enrolment, !consents.contains(user) { return "an account without the user's consent" }
        let demandsFactor =
            rules.kind == .app || !takesNumber || !isKnown(to: user) || rules.secondFactor == .required
            || (rules.secondFactor == nil && rules.isPresenceDue)
        if demandsFactor, !factors.contains(user) { return "a session without the second factor" }
        guard let phone = phones.first(where: { claim.isOf($0) }), phone.refusal == nil else {
            return "a session of a dead phone"
        }
        if rules.kind == .enrolment {
            if case .proveFactor = call.act, call.phone == phone, outcome.reply == .collected { return nil }
            return "an account for another phone"
        }
        guard case .collect(let browser, let isReturned) = call.act, browser == (hasBrowser ? Self.browser : nil) else {
            return "a session of another browser"
        }
        if claim.arrival == .linked, !isReturned { return "a link that completes by asking" }
        if outcome.reply != .collected { return "a session that no device collects" }
        return nil
    }

    private func isKnown(to user: Identifier<User>) -> Bool { rules.knownTo.contains { Self.users[$0].id == user } }

    /// A second phone, a wrong number and a stranger let no device in; a right act of the right phone is not refused.
    private func denial(_ before: PhoneLoginWorld, _ call: PhoneLoginAttempt, _ outcome: PhoneLoginOutcome) -> String? {
        let old = before.ticked
        guard let phone = call.phone, !before.isRetry(call) else { return nil }
        if phone.refusal != nil { return login != old ? "a dead phone acts" : nil }
        let isClaimant = old.claim?.isOf(phone) == true
        switch call.act {
        case .claim where old.state.awaitsInput && rules.kind != .app:
            if let asked = old.request.backchannel?.userID, asked != phone.userID {
                return login != old ? "another user claims a push" : nil
            }
            if rules.kind == .backchannel, let claim = old.claim, claim.deviceID != phone.deviceID {
                return login != old ? "a second phone changes a push" : nil
            }
            if let claim = old.claim, claim.deviceID != phone.deviceID || claim.secretHash != phone.secretHash {
                return login.cause == .contested ? nil : "contested"
            }
            if rules.kind == .device, rules.arrival == .linked, !rules.leadsBack {
                return login != old ? "a link that leads nowhere" : nil
            }
            if old.claim == nil, login.claim?.isOf(phone) != true { return "the first phone is refused" }
        case .confirm(let number):
            if !isClaimant { return login != old ? "a stranger confirms" : nil }
            if old.state != .confirming { return login != old ? "an act out of turn" : nil }
            if let number, old.number != nil, number != old.number { return isOver(.wrongNumber) }
            if number == nil, old.number != nil { return login != old ? "a confirmation without the number" : nil }
            if outcome.reply != .accepted { return "a right confirmation is refused" }
        case .proveFactor(let factor):
            if !isClaimant { return login != old ? "a stranger proves presence" : nil }
            if old.state != .proving { return login != old ? "an act out of turn" : nil }
            if let number = factor.number, old.number != nil, number != old.number { return isOver(.wrongNumber) }
            if factor.number == nil, old.number != nil, old.userID == nil { return login != old ? "no number" : nil }
            let isLetIn = rules.kind == .enrolment ? login.hasLetIn : login.state == .approved
            if factor.isValid != isLetIn { return "the second factor is not decisive" }
        case .stop where isClaimant:
            if !old.state.isFinal, !login.state.isFinal || login.cause?.isFailure == true {
                return "the phone cannot stop it"
            }
        default: break
        }
        return nil
    }

    private func isOver(_ cause: PhoneLogin.Cause) -> String? {
        login.state.outcome == .failed && login.cause == cause ? nil : "\(cause.rawValue) does not end it"
    }

    /// The time-outs: each in its states, and no other.
    private func times(_ before: PhoneLoginWorld, _ call: PhoneLoginAttempt, _ outcome: PhoneLoginOutcome) -> String? {
        let old = before.login
        if old.state.awaitsInput, now >= old.inputUntil, login.cause != .timedOut { return "the input has no time-out" }
        if login.cause == .timedOut, old.cause == nil, !(old.state.awaitsInput && now >= old.inputUntil) {
            return "a time-out too soon"
        }
        if old.state == .approved, let until = old.collectUntil, now >= until, login.cause != .notCollected {
            return "the collection has no time-out"
        }
        if sessionsStarted > before.sessionsStarted, now >= Sample.start + .seconds(120 + 120 + 120) { return "late" }
        if wrongFactors >= Self.decision.rules.factorAttempts, !login.state.isFinal { return "endless attempts" }
        return nil
    }

    /// A session with a bond ends with its phone, in the same decision; without a bond it never does.
    private func ends(_ before: PhoneLoginWorld, _ call: PhoneLoginAttempt, _ outcome: PhoneLoginOutcome) -> String? {
        let old = before.login
        if case .sessionEnded = call.act {
        } else if old.isLoggedIn, login.state.isFinal, isSessionAlive {
            return "the session outlives its login"
        }
        if login.bond == .none, before.isSessionAlive, !isSessionAlive {
            if case .sessionEnded = call.act { return nil }
            return "a login of one act ends its session"
        }
        guard old.isLoggedIn else { return nil }
        switch call.act {
        case .phoneEnded: if login.state.outcome != .signedOut { return "the phone's end is ignored" }
        case .phoneReplaced(let sessionID): if parent != sessionID { return "the parent is lost" }
        case .userDeleted, .sessionEnded: break
        default:
            if !before.isClaimantAlive, isSessionAlive { return "the phone's end by the clock is ignored" }
            guard case .ping(let interval) = login.bond, let answeredAt = old.answeredAt else { return nil }
            if (now >= answeredAt + interval) == isSessionAlive, login.cause == .presenceLost || isSessionAlive {
                return "a silent phone"
            }
        }
        return nil
    }

    private var isClaimantAlive: Bool {
        login.claim == nil || claimant?.hasEnded == false
    }

    private func isRetry(_ call: PhoneLoginAttempt) -> Bool { delivered.contains { $0.key == call.key } }
}
