import Sessions

/// A rule of the decision, broken: the walk must turn red for each of them.
enum PhoneLoginMutation: String, CaseIterable, Sendable {
    case finalIsReopened, contestedIsRefusedOnly, contestedTakesOver, wrongNumberHasASecondTry, wrongNumberPasses
    case numberIsOptional, touchSuffices, accountMoves, collectsAgain, collectsLate, inputHasNoEnd, activeTimesOut
    case retriesCount, parentEndIsIgnored, oneShotIsLoggedOut, clockIsIgnored, silenceIsIgnored, deletionIsForgotten
    case factorsHaveNoEnd, wrongFactorPasses, strangerConfirms, activeCannotBeStopped, linkIsPolled, endIsSilent
    case returnedElsewhere, linkLeadsNowhere
    case numberIsNotSigned, endedPhoneActs, replacedPhoneIsLost, unknownDeviceSuffices,
        numberComesEarly
    case secretIsIgnored, enrolsWithoutFactor, enrolsWithoutConsent, anotherUserIsPushed

    /// The decision, except on the broken rule.
    func decide(_ call: PhoneLoginAttempt, on before: PhoneLogin, at now: Instant) -> PhoneLoginOutcome {
        var call = call
        weaken(&call, before)
        var time = now
        if self == .inputHasNoEnd, before.state.awaitsInput { time = min(now, before.inputUntil + .seconds(-1)) }
        if self == .collectsLate, let until = before.collectUntil, before.state == .approved {
            time = min(now, until + .seconds(-1))
        }
        var outcome = PhoneLoginWorld.decision.decide(call, on: before, at: time)
        var login = outcome.login
        repair(call, before, &login, &outcome, at: now)
        outcome.login = login
        return outcome
    }

    /// Breaks what the decision is given.
    private func weaken(_ call: inout PhoneLoginAttempt, _ before: PhoneLogin) {
        switch self {
        case .retriesCount: call.key = nil
        case .anotherUserIsPushed:
            if case .claim = call.act, let asked = before.request.backchannel?.userID { call.phone?.userID = asked }
        case .clockIsIgnored where call.claimant?.hasEnded == true: call.claimant?.refusal = nil
        case .silenceIsIgnored: call.claimant?.renewedAt = Sample.start + .seconds(1_000_000)
        case .endedPhoneActs:
            call.phone?.refusal = nil
            call.claimant?.refusal = nil
        case .wrongNumberPasses:
            if case .confirm(.some) = call.act { call.act = .confirm(number: PhoneLoginWorld.shown) }
        case .numberIsOptional: if call.act == .confirm(number: nil) { call.act = .confirm(number: before.number) }
        case .numberIsNotSigned:
            if case .proveFactor(let factor) = call.act, factor.number == nil {
                call.act = .proveFactor(PhoneFactor(isValid: factor.isValid, number: before.number))
            }
        case .wrongFactorPasses:
            if case .proveFactor(let factor) = call.act {
                call.act = .proveFactor(PhoneFactor(isValid: true, number: factor.number))
            }
        case .strangerConfirms: if case .confirm = call.act { call.phone = call.claimant }
        case .linkIsPolled:
            if case .collect(let browser, _) = call.act { call.act = .collect(browser: browser, isReturned: true) }
        case .returnedElsewhere:
            if case .collect(_, let isReturned) = call.act {
                call.act = .collect(browser: before.browser, isReturned: isReturned)
            }
        case .linkLeadsNowhere:
            if case .claim(.linked, let options) = call.act { call.act = .claim(.scanned, options) }
        case .secretIsIgnored:
            if let hash = before.claim?.secretHash { call.phone?.secretHash = hash }
        case .replacedPhoneIsLost: if case .phoneReplaced = call.act { call.act = .tick }
        default: break
        }
    }

    /// Breaks what the decision has made.
    private func repair(
        _ call: PhoneLoginAttempt, _ before: PhoneLogin, _ login: inout PhoneLogin, _ outcome: inout PhoneLoginOutcome,
        at now: Instant
    ) {
        let isNew = before.cause == nil
        switch (self, login.cause) {
        case (.contestedIsRefusedOnly, .contested) where isNew, (.wrongNumberHasASecondTry, .wrongNumber) where isNew,
            (.parentEndIsIgnored, .parentEnded) where before.isLoggedIn,
            (.factorsHaveNoEnd, .secondFactorFailed) where isNew,
            (.activeCannotBeStopped, .denied) where before.state == .approved:
            login = before
            outcome.effects = []
        case (.contestedTakesOver, .contested) where isNew:
            login = before
            outcome.reply = .accepted
            if let phone = call.phone, let claim = before.claim {
                login.claim = PhoneLogin.Claim(phone, claim.arrival, claim.wishes)
            }
        case (.endIsSilent, _): outcome.effects.removeAll { if case .endSession = $0 { true } else { false } }
        case (.deletionIsForgotten, _) where login.state.outcome == .deleted: login.state = before.state
        default: repairOthers(call, before, &login, &outcome, at: now)
        }
    }

    private func repairOthers(
        _ call: PhoneLoginAttempt, _ before: PhoneLogin, _ login: inout PhoneLogin, _ outcome: inout PhoneLoginOutcome,
        at now: Instant
    ) {
        switch (self, call.act) {
        case (.finalIsReopened, .claim) where before.state.outcome == .aborted: reopen(&login)
        case (.touchSuffices, .confirm) where login.state == .proving && outcome.reply == .accepted:
            approve(&login, at: now)
        case (.accountMoves, .claim) where outcome.reply == .refused(.taken) && before.userID != nil:
            if let phone = call.phone, let claim = before.claim {
                login.claim = PhoneLogin.Claim(phone, claim.arrival, claim.wishes)
                login.userID = phone.userID
            }
        case (.collectsAgain, .collect) where outcome.reply == .refused(.spent):
            outcome = PhoneLoginOutcome(reply: .collected, login: login)
        case (.activeTimesOut, _) where login.state == .approved && now >= login.inputUntil:
            login.state = .ended(.init(.aborted, .timedOut, at: now))
        case (.oneShotIsLoggedOut, .phoneEnded) where before.state.outcome == .completed:
            login.state = .ended(.init(.signedOut, nil, at: login.endedAt ?? now))
        case (.unknownDeviceSuffices, .confirm)
        where !before.isKnown(to: call.phone?.userID) && login.state == .proving:
            approve(&login, at: now)
        case (.enrolsWithoutFactor, .confirm) where login.state == .proving && outcome.reply == .accepted:
            enrol(&login, &outcome, at: now)
        case (.enrolsWithoutConsent, .proveFactor) where before.state == .confirming && before == login:
            login.userID = call.phone?.userID
            enrol(&login, &outcome, at: now)
        case (.numberComesEarly, .claim) where login.state == .claimed:
            login.number = PhoneLoginWorld.shown
        default: break
        }
    }

    private func enrol(_ login: inout PhoneLogin, _ outcome: inout PhoneLoginOutcome, at now: Instant) {
        login.state = .ended(.init(.completed, nil, at: now))
        outcome = PhoneLoginOutcome(reply: .collected, login: login)
    }

    private func reopen(_ login: inout PhoneLogin) {
        login.state = .requested
    }

    private func approve(_ login: inout PhoneLogin, at now: Instant) {
        (login.state, login.approvedAt) = (.approved, now)
        login.collectUntil = now + PhoneLoginWorld.decision.rules.collectLifetime
    }
}
