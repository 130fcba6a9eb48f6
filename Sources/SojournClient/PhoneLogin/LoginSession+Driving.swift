extension LoginSession {
    /// How an act ended, and why.
    struct Conclusion: Sendable {
        var outcome: LoginSessionMachine.Outcome
        var error: SojournError?

        /// Throws the error of an act that was not accepted.
        func get() throws(SojournError) {
            switch outcome {
            case .accepted: return
            case .refused(let word): throw error ?? .refused(Refusal(status: 0, code: word))
            case .unanswered: throw error ?? .unreachable(Unreachable("no answer"))
            }
        }
    }

    /// How often the server is asked, at most, while something is expected of it.
    private static let pollInterval: Duration = .seconds(1)
    /// How often it is asked while the server cannot be reached, and while nothing but the end of a login is expected.
    private static let slowPollInterval: Duration = .seconds(15)

    // MARK: The beginning

    /// Begins the session: asks the server for its details, and follows it from then on.
    func run() async {
        publish()
        let limit = options.inputLimit
        let clock = account.clock
        if let session = try? await account.living(), session.gateID == nil { hasNoFactor = true }
        timer = Task { [weak self] in
            try? await clock.sleep(for: limit)
            if !Task.isCancelled { await self?.expire() }
        }
        switch origin {
        case .known(let found):
            take(found)
            machine.observe(found.status)
            publish()
            follow()
        case .code, .app:
            let call = await self.claimCall()
            _ = machine.begin(.claim)
            claim = Task {
                let conclusion = await self.carryOut(.claim, call)
                self.follow()
                return conclusion
            }
        }
    }

    private func claimCall() async -> LoginSessionCall {
        let code: ScannedCode
        switch origin {
        case .code(let found): code = found
        case .app(let client): return .appLogin(client: client, await account.randomNumber())
        case .known(let details): return .look(details.id)
        }
        if code.isEnrolment {
            let deviceID = try? await account.deviceIdentity().deviceID
            return .claimInvitation(
                code: code.text, source: code.source.rawValue, deviceID: deviceID ?? "",
                startsByHand: !options.skipsReadyForUserInteraction)
        }
        var wishes = LoginSessionWishes()
        wishes.startsByHand = !options.skipsReadyForUserInteraction
        wishes.skipsConfirmation = options.selectsSingleAccount && accounts.count == 1
        wishes.demandsSecondFactor = options.alwaysRequiresSecondFactor
        return .claim(code: code.text, source: code.source.rawValue, wishes)
    }

    /// The device's own limit for the user's input is over.
    private func expire() async {
        machine.expire()
        publish()
        if machine.status.isFinal, machine.status.cause == "timed_out" { _ = await stop(isReport: false) }
    }

    /// Lets another account of the phone present the code, so that the server takes its word from then on.
    func handOver(to other: Sojourn) async throws(SojournError) {
        guard machine.status.input == .confirmation, case .code = origin, !isOfInvitation else {
            throw .refused(Refusal(status: 0, code: machine.status.isFinal ? "session_terminated" : "not_awaited"))
        }
        let (identity, own) = (try await other.deviceIdentity(), try await account.deviceIdentity())
        guard identity.deviceID == own.deviceID else {
            throw .misconfigured("the accounts of one phone need the same SojournConfiguration.deviceID")
        }
        let (before, call) = (account, await claimCall())
        account = other
        for attempt in 1...4 {
            let reply = await exchange(call)
            switch reply.answer {
            case .accepted(let status):
                machine.observe(status)
                return publish()
            case .none where attempt < 4: await pause(attempt, reply.retryAfter)
            default:
                account = before
                throw reply.error ?? .unreachable(Unreachable("no answer"))
            }
        }
    }

    // MARK: Acts

    /// Begins an act, and waits for its answer. It goes on if the caller's task is cancelled, because it may have been sent.
    func act(
        _ act: LoginSessionMachine.Act, _ call: (String) -> LoginSessionCall
    ) async throws(SojournError) {
        try begin(act)
        let call = call(known?.id ?? "")
        let task = Task { await self.carryOut(act, call) }
        try await task.value.get()
    }

    func begin(_ act: LoginSessionMachine.Act) throws(SojournError) {
        if let word = machine.begin(act) { throw .refused(Refusal(status: 0, code: word)) }
        publish()
    }

    /// Gets from `source` what an act sends that has begun. Without it the act is taken back, because nothing was sent.
    func obtain<Proof>(
        for act: LoginSessionMachine.Act, _ source: () async throws(SojournError) -> Proof
    ) async throws(SojournError) -> Proof {
        do throws(SojournError) { return try await source() } catch {
            if case .presence(let failure) = error {
                machine.withdraw(act, failure)
            } else {
                _ = machine.take(.refused("not_sent"), to: act)
            }
            publish()
            throw error
        }
    }

    /// One attempt at a second factor: the proof, then the network.
    func prove(
        _ number: Int?, _ proof: (Sojourn, String) async throws(SojournError) -> LoginProof
    ) async throws(SojournError) {
        let act = LoginSessionMachine.Act.prove(attempt: machine.attempts + 1)
        try begin(act)
        let id = known?.id ?? ""
        let given = try await obtain(for: act) { () async throws(SojournError) in try await proof(account, id) }
        self.number = number
        let call = isAppLogin ? LoginSessionCall.proveAppLogin(id, given) : .prove(id, given, number: number)
        if isAppLogin { backendProofs.append((call, machine.attempts)) }
        let task = Task { await self.carryOut(act, call) }
        try await task.value.get()
    }

    /// Tells the server that the session is stopped.
    func stop(isReport: Bool) async -> Conclusion {
        if let claim { _ = await claim.value }
        // A login whose claim never came through ends at the server by its own limit.
        guard let id = known?.id else { return Conclusion(outcome: .accepted) }
        return await carryOut(.stop, .stop(id, isReport: isReport))
    }

    /// The number that a user has typed, if it can be one. What cannot be right is not sent, because there is one try.
    func checked(_ number: Int?) throws(SojournError) -> Int? {
        if let number, !(10...99).contains(number) {
            throw .refused(Refusal(status: 0, code: "invalid_number", member: "number"))
        }
        guard number != nil || known?.needsNumber != true else {
            throw .refused(Refusal(status: 0, code: "number_required", member: "number"))
        }
        return number
    }

    /// Sends the request of an act until it is answered.
    func carryOut(_ act: LoginSessionMachine.Act, _ call: LoginSessionCall) async -> Conclusion {
        var error: SojournError?
        var step: LoginSessionMachine.Step?
        while true {
            var retryAfter: Int64?
            switch step {
            case nil, .retry:
                let isSent = machine.send(act)
                let reply = isSent ? await exchange(call) : Reply(answer: .unsent)
                (error, retryAfter) = (reply.error ?? (isSent ? nil : error), reply.retryAfter)
                step = machine.take(reply.answer, to: act)
            case .look(let word):
                let reply = known == nil ? Reply(answer: .none) : await exchange(.look(known?.id ?? ""))
                var found: LoginStatus?
                if case .accepted(let status) = reply.answer, await isTellable(status) { found = status }
                step = machine.look(found, for: act, refusedAs: word)
            // The error of an answer that comes after the result says nothing about it.
            case .finish(let outcome): return Conclusion(outcome: outcome, error: machine.isTold(act) ? nil : error)
            }
            publish()
            if case .retry(let number) = step { await pause(number, retryAfter) }
        }
    }

    /// Waits before a retry. A user waits for it, so that a longer `Retry-After` counts only as what the error says at last.
    private func pause(_ number: Int, _ retryAfter: Int64?) async {
        let random = await account.randomNumber()
        let seconds = retryAfter.map { min($0, RetrySchedule.retryAfterWithinRenewalMax) }
        try? await account.clock.sleep(for: RetrySchedule.wait(attempt: number, retryAfter: seconds, random: random))
    }

    // MARK: The network

    /// What came of a request.
    struct Reply {
        var answer: LoginSessionMachine.Answer
        var error: SojournError?
        var retryAfter: Int64?
    }

    /// Sends one request with the account that acts, or of a phone that enrols.
    private func exchange(_ call: LoginSessionCall, attempt: Int? = nil) async -> Reply {
        let attempt = attempt ?? machine.attempts
        let answer: HTTPAnswer
        do throws(SojournError) {
            answer =
                isOfInvitation
                ? try await account.perform(call, of: enrolment, attempt: attempt)
                : try await account.perform(call, attempt: attempt)
        } catch {
            switch error {
            case .unreachable(let cause):
                return Reply(answer: .none, error: error, retryAfter: cause.retryAfter)
            case .cancelled: return Reply(answer: .none, error: error)
            case .ended(let reason):
                machine.loseSession(isDeleted: reason == .userDeleted)
                return Reply(answer: .unsent, error: error)
            case .notSignedIn:
                machine.loseSession(isDeleted: false)
                return Reply(answer: .unsent, error: error)
            default: return Reply(answer: .unsent, error: error)
            }
        }
        if case .enrol = call, (200..<300).contains(answer.status) { return await enrolled(answer) }
        let reply = await reply(answer)
        if case .proveAppLogin = call, case .accepted = reply.answer, access == nil {
            return Reply(answer: .none, error: .unreachable(Unreachable("an answer without web_nonce")))
        }
        // The last act has arrived, and its answer was lost: the same request gets the tokens again.
        if let last = enrolment.lastCall, case .accepted(let status) = reply.answer, status.history == .loggedInOneShot
        {
            if case .wait = call, enrolment.isUnderWay { return Reply(answer: .none) }
            return await exchange(last)
        }
        return reply
    }

    private func reply(_ answer: HTTPAnswer) async -> Reply {
        let cause = Unreachable("status \(answer.status)", status: answer.status, retryAfter: answer.retryAfter)
        let unclear = Reply(answer: .none, error: .unreachable(cause), retryAfter: answer.retryAfter)
        switch answer.status {
        case 200..<300:
            // An AppLogin has the login in a member, beside what opens the backend.
            guard let members = JSONValue(parsing: answer.body)?.members,
                let found = LoginDetails(members["login"] ?? members["enrolment"] ?? .object(members))
            else { return unclear }
            // An answer about another login is none.
            guard known == nil || known?.id == found.id else { return unclear }
            take(found)
            version = (members["login"]?.members ?? members["enrolment"]?.members ?? members).text("version")
            enrolment.token = members.text("enrolment_token") ?? enrolment.token
            if isAppLogin { access = BackendAccess(members, issuedAt: await account.now) ?? access }
            return Reply(answer: .accepted(found.status))
        case 500: return Reply(answer: .fault, error: .unreachable(cause), retryAfter: answer.retryAfter)
        case 408, 429: return unclear
        case 400..<500:
            guard let error = ErrorAnswer(parsing: answer.body) else { return unclear }
            let left = JSONValue(parsing: answer.body)?.members?.integer("attempts_left").map { Int(clamping: $0) }
            if error.word == "insufficient_user_authentication" {
                return Reply(answer: .refused(error.word), error: .presenceRequired(error.requirement))
            }
            return Reply(
                answer: .refused(error.word, attemptsLeft: left), error: .refused(error.refusal(answer.status)))
        default: return unclear
        }
    }

    /// What the user does with a second factor: without keys on this device an enrolment sets one.
    var context: SecondFactorEvent.Context {
        known?.setsSecondFactor == true || hasNoFactor && known?.isRegistration == true ? .firstSet : .verify
    }

    private func take(_ found: LoginDetails) {
        // What was told before stays, if an answer that was made earlier comes later.
        guard known == nil || found.status.rank >= machine.status.rank else { return }
        known = found
    }

    /// Tells the app what has happened.
    func publish() {
        known?.status = machine.status
        let events = machine.takeEvents().compactMap { event -> LoginSessionEvent? in
            switch event {
            case .state(let status): return .state(status)
            case .confirm:
                return known.map { $0.isRegistration ? .confirmEnrol($0) : .confirmLogin($0) }
            case .secondFactor(let result, let expectsInput):
                return .secondFactor(SecondFactorEvent(result, context: context, expectsInput: expectsInput))
            }
        }
        log.add(events, machine.status, known, isFinished: machine.isSettled)
        if machine.status.isFinal { timer?.cancel() }
    }

    // MARK: What the server tells

    /// Asks the server how the login stands, for as long as the session is kept and not over.
    private func follow() {
        guard follower == nil, !machine.status.isFinal else { return }
        let clock = account.clock
        follower = Task { [weak self] in
            while let pause = await self?.followOnce() {
                try? await clock.sleep(for: pause)
                if Task.isCancelled { return }
            }
        }
    }

    /// Asks once. Returns the pause before the next time; nil after the end.
    private func followOnce() async -> Duration? {
        guard !machine.status.isFinal, let id = known?.id else { return nil }
        if let until = known?.inputUntil, await account.now >= until {
            machine.expire()
            publish()
            if machine.status.isFinal { return nil }
        }
        let clock = account.clock
        let began = clock.uptime
        let patience = account.configuration.patience.components.seconds
        let reply = await exchange(.wait(id, version: version, seconds: min(max(patience - 5, 0), 15)))
        if case .accepted(let status) = reply.answer { await take(status) }
        publish()
        guard !machine.status.isFinal else { return nil }
        if case .refused("not_found", _) = reply.answer { return nil }
        if isOfInvitation, case .refused("invalid_token", _) = reply.answer { return nil }
        let isSlow = reply.error != nil || machine.status.history == .loggedIn
        let interval = isSlow ? Self.slowPollInterval : Self.pollInterval
        return max(interval - (clock.uptime - began), .milliseconds(50))
    }

    /// Takes what a poll tells.
    private func take(_ status: LoginStatus) async {
        // The machine waits for the answer to a proof that is under way.
        if !machine.isProofSent, await !isTellable(status) { return }
        machine.observe(status)
    }

    /// Whether the app can be told of a status: an AppLogin that is let in has what opens the backend first. If the answer to its
    /// proof was lost, the same request gets it again.
    private func isTellable(_ status: LoginStatus) async -> Bool {
        guard isAppLogin, access == nil else { return true }
        for proof in backendProofs.reversed()
        where LoginSessionMachine.isReached(.prove(attempt: proof.attempt), status) {
            switch await exchange(proof.call, attempt: proof.attempt).answer {
            case .accepted: return true
            // The next poll asks again.
            case .none, .fault: return false
            case .refused, .unsent: continue
            }
        }
        return true
    }
}
