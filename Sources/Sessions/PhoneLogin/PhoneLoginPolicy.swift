// The whole decision on a login with a phone, from the top down: `decide` is the entry point; `expire` is what time and the
// end of the phone's session have brought before; `perform` chooses the act; then the acts of the phone, of the device and of
// the server. `PhoneLoginPolicy+Ends.swift` has the ends.

/// Decides what an act does to a login. Pure, synchronous and total, because the store runs it inside the transaction that
/// writes the row.
///
/// No device is let in without an act of the user on the one phone that has claimed the login; a second phone, and a wrong
/// number, end it for everybody. `PhoneLoginInterleavingTests` explores every history of a small model and fails when a rule is broken.
public struct PhoneLoginPolicy: Hashable, Sendable {
    /// The durations and bounds.
    public let rules: PhoneLoginRules

    /// A decision by those rules.
    public init(_ rules: PhoneLoginRules = PhoneLoginRules()) { self.rules = rules }

    /// Decides `attempt` on `login`: the answer, the login after it, and what follows. A retry of an act with the same key gets the
    /// same answer and changes nothing.
    public func decide(_ attempt: PhoneLoginAttempt, on login: PhoneLogin, at now: Instant) -> PhoneLoginOutcome {
        var (after, effects) = (login, [PhoneLogin.Effect]())
        let reply = decide(attempt, &after, at: now, &effects)
        notify(&after, wasWaiting: login.state.awaitsInput, at: now)
        return PhoneLoginOutcome(reply: reply, login: after, effects: effects)
    }

    /// The login as it stands at `now`: what time and the end of its phone's session have brought. An act decides the same before
    /// anything else, and writes it; a look does not.
    ///
    /// - Parameter claimant: the phone that has claimed it, as its session stands; nil: none has, or the session is forgotten.
    public func standing(_ login: PhoneLogin, claimant: Phone?, at now: Instant) -> PhoneLogin {
        decide(PhoneLoginAttempt(.tick, claimant: claimant), on: login, at: now).login
    }

    private func decide(
        _ attempt: PhoneLoginAttempt, _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        expire(&login, attempt, at: now, &effects)
        if let key = attempt.key, let known = login.answered.last(where: { $0.key == key }) {
            return repeated(known.reply, login, at: now)
        }
        let (before, past) = (login, effects.count)
        let reply = perform(attempt, &login, at: now, &effects)
        // A report of a login of one act ends sessions, and leaves the row as it is.
        if let key = attempt.key, login != before || effects.dropFirst(past).contains(where: \.isBesideLogin) {
            login.remember(reply, for: key)
        }
        return reply
    }

    /// Lets the client be told once the result can be asked for, and not once it has come for it.
    private func notify(_ login: inout PhoneLogin, wasWaiting: Bool, at now: Instant) {
        guard login.request.backchannel?.sealedToken != nil else { return }
        if login.hasLetIn { login.pingAt = nil }
        if wasWaiting, !login.state.awaitsInput { login.pingAt = now }
    }

    /// Ends a login when its time is over, the session of its phone has ended, or its phone is silent.
    private func expire(
        _ login: inout PhoneLogin, _ attempt: PhoneLoginAttempt, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) {
        if login.state.isFinal { return }
        if login.state.awaitsInput, now >= login.inputUntil { return abort(&login, .timedOut, at: now, &effects) }
        if login.state == .approved, let collectUntil = login.collectUntil, now >= collectUntil {
            return abort(&login, .notCollected, at: now, &effects)
        }
        // A phone that enrols has no session that could end.
        guard login.claim != nil, login.kind != .enrolment, !attempt.act.isOfOtherRow else { return }
        guard let claimant = attempt.claimant, !claimant.hasEnded else {
            return losePhone(&login, .parentEnded, at: now, &effects)
        }
        if login.isLoggedIn, case .ping(let interval) = login.bond, let answeredAt = login.answeredAt,
            now >= claimant.silentSince(answeredAt, interval) + interval
        {
            losePhone(&login, .presenceLost, at: now, &effects)
        }
    }

    /// The answer to a retry. A session is given out again for a short time only, because the secret of the request would
    /// otherwise be worth as much as the session.
    private func repeated(_ reply: PhoneLogin.Reply, _ login: PhoneLogin, at now: Instant) -> PhoneLogin.Reply {
        guard reply == .collected, let collectUntil = login.collectUntil else { return reply }
        if !login.hasLetIn { return .refused(.terminated) }
        let window = login.kind == .enrolment ? rules.enrolmentRetryWindow : rules.retryWindow
        return now < collectUntil + window ? reply : .refused(.spent)
    }

    private func perform(
        _ attempt: PhoneLoginAttempt, _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        if !attempt.act.isOfPhone { return performOfOthers(attempt, &login, at: now, &effects) }
        guard let phone = attempt.phone else { return .refused(.notClaimant) }
        if let refusal = phone.refusal { return .refused(.phone(refusal)) }
        if login.state.isFinal {
            guard case .stop(isReport: true) = attempt.act, login.claim?.isOfInstallation(phone) == true,
                undo(.notMe, attempt, login, &effects)
            else { return .refused(.terminated) }
            effects.append(.record(.reported))
            return .accepted
        }
        if phone.isBarred, attempt.act.letsIn { return .refused(.barred) }
        switch attempt.act {
        case .claim(let arrival, let wishes):
            return claim(attempt, phone, arrival, wishes, &login, at: now, &effects)
        case .adopt(let factor): return adopt(phone, factor, &login, at: now, &effects)
        default: break
        }
        guard login.claim?.isOf(phone) == true else { return .refused(.notClaimant) }
        switch attempt.act {
        case .start: return start(attempt, phone, &login)
        case .confirm(let number): return confirm(phone, number, &login, at: now, &effects)
        case .proveFactor(let factor): return proveFactor(attempt, phone, factor, &login, at: now, &effects)
        case .stop(let isReport):
            if isReport { effects.append(.record(.reported)) }
            if login.isLoggedIn {
                logOut(&login, .ended(.revokedByUser), at: now, &effects)
            } else {
                abort(&login, .denied, at: now, &effects)
            }
            return .accepted
        default:
            login.noteAnswer(at: now)
            return .accepted
        }
    }

    private func performOfOthers(
        _ attempt: PhoneLoginAttempt, _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        switch attempt.act {
        case .userDeleted(let userID): noteDeletion(of: userID, &login, at: now, &effects)
        case .sessionEnded(let reason): noteEnd(reason, attempt, &login, at: now, &effects)
        case .report: return report(attempt, &login, at: now, &effects)
        case .revoke: revoke(attempt, &login, at: now, &effects)
        case .tick where login.isLoggedIn:
            // The clean-up looks again when this answer is too old.
            if let phone = attempt.claimant, let interval = login.bond.interval, let answeredAt = login.answeredAt {
                login.answeredAt = phone.silentSince(answeredAt, interval)
            }
        case .phoneReplaced(let sessionID):
            guard !login.state.isFinal, login.claim != nil else { return .accepted }
            login.claim?.sessionID = sessionID
            if login.isLoggedIn { effects.append(.moveSession(to: sessionID)) }
        case _ where login.state.isFinal: return .refused(.terminated)
        case .collect(let browser, let isReturned):
            return collect(attempt.claimant, from: browser, isReturned: isReturned, &login, at: now)
        case .cancel:
            if login.isLoggedIn { return .refused(.spent) }
            abort(&login, .canceled, at: now, &effects)
        case .fail:
            if login.isLoggedIn { return .refused(.notAwaited) }
            fail(&login, .fault, at: now, &effects)
        case .phoneEnded: if login.claim != nil { losePhone(&login, .parentEnded, at: now, &effects) }
        default: break
        }
        return .accepted
    }

    // MARK: The phone

    /// The first phone gets the login. A second one ends it, because codes are shown to one phone only; another account of the
    /// first one takes its place while none is chosen.
    private func claim(
        _ attempt: PhoneLoginAttempt, _ phone: Phone, _ arrival: PhoneLogin.Arrival, _ wishes: PhoneLogin.Wishes,
        _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        let known = login.claim
        if known?.isOf(phone) == true { return .accepted }
        if login.kind == .app { return .refused(.notClaimant) }
        if let asked = login.request.backchannel?.userID, asked != phone.userID || arrival != .pushed {
            return .refused(.notClaimant)
        }
        // Without a place to return to, no link of the device was given out.
        if arrival == .linked, login.kind == .device, login.request.returnURI == nil { return .refused(.notClaimant) }
        let isOtherPhone = known.map {
            $0.deviceID != phone.deviceID || $0.clientID != phone.clientID || $0.secretHash != phone.secretHash
        }
        if isOtherPhone == true {
            // A push comes to all phones of its user, so that a second one is no sign of a stolen code.
            if !login.state.awaitsInput || login.kind == .backchannel { return .refused(.taken) }
            fail(&login, .contested, at: now, &effects)
            return .refused(.contested)
        }
        if login.userID != nil { return .refused(.taken) }
        login.claim = PhoneLogin.Claim(phone, known?.arrival ?? arrival, wishes)
        if known == nil {
            switch login.kind {
            // Its client was told how long it waits.
            case .backchannel: break
            case .enrolment: login.inputUntil = now + rules.enrolmentLifetime
            case .authorize, .device, .app: login.inputUntil = now + rules.inputLifetime
            }
            login.state = .claimed
            effects.append(.record(.claimed))
            if !wishes.startsByHand { open(attempt.drawnNumber, phone, &login) }
        } else if login.state != .claimed {
            login.state = firstInput(phone, login)
        }
        return .accepted
    }

    private func start(_ attempt: PhoneLoginAttempt, _ phone: Phone, _ login: inout PhoneLogin) -> PhoneLogin.Reply {
        switch login.state {
        case .requested, .claimed: open(attempt.drawnNumber, phone, &login)
        case .confirming, .proving: break
        case .approved, .signedIn, .ended: return .refused(.notAwaited)
        }
        return .accepted
    }

    /// Asks the user, and shows the number on the other device, which showed the code until now.
    private func open(_ number: Int, _ phone: Phone, _ login: inout PhoneLogin) {
        login.state = firstInput(phone, login)
        if login.needsNumber { login.number = number }
    }

    private func firstInput(_ phone: Phone, _ login: PhoneLogin) -> PhoneLogin.State {
        if login.kind == .app { return .proving }
        let isSkipped = login.claim?.wishes.skipsConfirmation == true && needsFactor(phone, login)
        return isSkipped ? .proving : .confirming
    }

    /// Whether the login takes a second factor. Without a number it always does, because a mere touch proves too little.
    private func needsFactor(_ phone: Phone, _ login: PhoneLogin) -> Bool {
        if login.kind == .app || !login.needsNumber { return true }
        if !login.isKnown(to: phone.userID) || login.claim?.wishes.demandsSecondFactor == true { return true }
        switch login.request.factorRule {
        case .required: return true
        case .notRequired: return false
        case nil: return phone.isPresenceDue
        }
    }

    private func confirm(
        _ phone: Phone, _ number: Int?, _ login: inout PhoneLogin, at now: Instant,
        _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        guard login.state == .confirming else { return .refused(.notAwaited) }
        if let refusal = check(number, &login, at: now, &effects) { return .refused(refusal) }
        login.userID = phone.userID
        if needsFactor(phone, login) {
            login.state = .proving
        } else {
            approve(&login, at: now, &effects)
        }
        return .accepted
    }

    /// There is one try, because a second one would help a guess.
    private func check(
        _ number: Int?, _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Refusal? {
        guard let shown = login.number else { return nil }
        guard let number else { return .numberRequired }
        if number == shown { return nil }
        fail(&login, .wrongNumber, at: now, &effects)
        return .wrongNumber
    }

    private func proveFactor(
        _ attempt: PhoneLoginAttempt, _ phone: Phone, _ factor: PhoneFactor, _ login: inout PhoneLogin, at now: Instant,
        _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        guard login.state == .proving else { return .refused(.notAwaited) }
        // A number that was typed with the confirmation need not be typed again. A signature always covers it.
        if login.userID == nil || factor.number != nil,
            let refusal = check(factor.number, &login, at: now, &effects)
        {
            return .refused(refusal)
        }
        if let mac = factor.pin {
            if let refusal = check(mac, attempt.pin, &effects) { return .refused(refusal) }
        } else if !factor.isValid {
            login.wrongFactors += 1
            let left = rules.factorAttempts - login.wrongFactors
            if left <= 0 { fail(&login, .secondFactorFailed, at: now, &effects) }
            return .refused(.wrongFactor(attemptsLeft: max(left, 0)))
        }
        login.userID = phone.userID
        if let proof = factor.proof { effects.append(.notePresence(proof)) }
        if let pin = attempt.pin, pin.wrongCount > 0 { effects.append(.forgetWrongPINs) }
        if login.kind == .enrolment { return enrol(&login, at: now, &effects) }
        approve(&login, at: now, &effects)
        return .accepted
    }

    /// Starts the session of the phone itself. It comes with the same act, because no other device has to collect it.
    private func enrol(
        _ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        end(&login, .completed, nil, at: now)
        (login.approvedAt, login.collectUntil) = (now, now)
        effects.append(.record(.approved))
        return .collected
    }

    private func approve(_ login: inout PhoneLogin, at now: Instant, _ effects: inout [PhoneLogin.Effect]) {
        login.state = .approved
        login.approvedAt = now
        login.collectUntil = now + (login.kind == .app ? rules.nonceLifetime : rules.collectLifetime)
        // A backend may come for as long as it was told to wait.
        if login.kind == .backchannel, now + rules.collectLifetime < login.inputUntil {
            login.collectUntil = login.inputUntil
        }
        effects.append(.record(.approved))
    }

    /// The new phone of the user takes over what the old one has let in.
    private func adopt(
        _ phone: Phone, _ factor: PhoneFactor, _ login: inout PhoneLogin, at now: Instant,
        _ effects: inout [PhoneLogin.Effect]
    ) -> PhoneLogin.Reply {
        guard login.isLoggedIn, let claim = login.claim else { return .refused(.notAwaited) }
        guard login.userID == phone.userID else { return .refused(.notClaimant) }
        if claim.sessionID == phone.sessionID { return .accepted }
        guard factor.isValid else { return .refused(.wrongFactor(attemptsLeft: 0)) }
        if let proof = factor.proof { effects.append(.notePresence(proof)) }
        login.claim = PhoneLogin.Claim(phone, claim.arrival, claim.wishes)
        login.answeredAt = now
        effects.append(.moveSession(to: phone.sessionID))
        return .accepted
    }

    // MARK: The device

    /// Starts the session once. A link is completed only by the device to which the phone has handed its token, because a link
    /// travels further than a picture: for every other one the login stays pending, however often it asks.
    private func collect(
        _ claimant: Phone?, from browser: [UInt8]?, isReturned: Bool, _ login: inout PhoneLogin, at now: Instant
    ) -> PhoneLogin.Reply {
        guard browser == login.browser else { return .refused(.otherBrowser) }
        if login.state.awaitsInput || login.claim?.arrival == .linked && !isReturned { return .refused(.pending) }
        guard login.state == .approved else { return .refused(.spent) }
        if let refusal = claimant?.refusal { return .refused(.phone(refusal)) }
        // A typed code was approved in a browser. Its session says nothing about the user's phone.
        switch login.claim?.arrival == .typed ? .none : login.bond {
        case .none: end(&login, .completed, nil, at: now)
        case .session, .ping: (login.state, login.answeredAt) = (.signedIn, now)
        }
        return .collected
    }
}
