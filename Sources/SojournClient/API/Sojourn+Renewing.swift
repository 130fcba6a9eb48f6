import Foundation

typealias Renewal = RenewalMachine<LoadedRecord>

/// A renewal under way, for all who wait for it.
struct Flight {
    /// Asks the system for the time to finish.
    let background: BackgroundTime
    /// A waiter gets nil when its time is over or its task is cancelled. The renewal goes on.
    var waiters: [Int: CheckedContinuation<Renewal.Outcome?, Never>] = [:]
}

extension Sojourn {
    /// The longest time between loading a record and sending its token.
    private static let loadedAgeMax: Duration = .seconds(1)

    /// The renewal of the record with that version; begun, if there is none. It runs in a task of its own, because a caller that
    /// is cancelled must not cancel it for the others.
    ///
    /// - Parameter isUserPresent: whether a renewal that begins shows that the user is present, by the gate that is open.
    func flight(of version: RecordVersion, isUserPresent: Bool = false) -> RecordVersion {
        if flights[version] == nil {
            let task = Task {
                let outcome = await self.renew(seen: version, isUserPresent: isUserPresent)
                self.land(version, outcome, isUserPresent: isUserPresent)
            }
            // When the system suspends the process soon, the request is abandoned: its answer would come too late.
            flights[version] = Flight(background: BackgroundTime { task.cancel() })
        }
        return version
    }

    /// Waits for a renewal: for ever if `limit` is nil. Nil: the time is over, or the caller is cancelled.
    func outcome(of version: RecordVersion, within limit: Duration?) async -> Renewal.Outcome? {
        lastWaiter += 1
        let id = lastWaiter
        let timer = limit.map { limit in
            Task {
                try? await clock.sleep(for: limit)
                self.release(version, id, nil)
            }
        }
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard flights[version] != nil, !Task.isCancelled else { return continuation.resume(returning: nil) }
                flights[version]?.waiters[id] = continuation
            }
        } onCancel: {
            Task { await self.release(version, id, nil) }
        }
    }

    private func release(_ version: RecordVersion, _ id: Int, _ outcome: Renewal.Outcome?) {
        flights[version]?.waiters.removeValue(forKey: id)?.resume(returning: outcome)
    }

    /// Ends a flight, and tells all who wait.
    private func land(_ version: RecordVersion, _ outcome: Renewal.Outcome, isUserPresent: Bool) {
        note(outcome, isUserPresent: isUserPresent)
        let flight = flights.removeValue(forKey: version)
        flight?.background.end()
        for waiter in flight?.waiters.values.map(\.self) ?? [] { waiter.resume(returning: outcome) }
        releaseIdleWaiters()
    }

    /// Draws the conclusions from a renewal.
    private func note(_ outcome: Renewal.Outcome, isUserPresent: Bool) {
        switch outcome {
        case .renewed(let loaded):
            (reachability, heldError) = (.current, nil)
            if isUserPresent || presence?.isOfAPI == false { presence = nil }
            retries.noteAnswer()
            if !loaded.record.debts.isEmpty { payDebtsInBackground() }
        case .overtaken, .notSignedIn, .ended: break
        case .kept(let verdict):
            heldError = SojournError(verdict)
            var retryAfter: Int64?
            switch verdict {
            case .suspended(let suspension): reachability = .suspended(suspension)
            case .presenceRequired(let requirement):
                if let session = cache?.record?.record.session, isOpen(session) { presence = (requirement, false) }
            case .unreachable(let cause):
                retryAfter = cause.retryAfter
                noteUnreachable()
            default: noteUnreachable()
            }
            retries.noteFailure(at: clock.uptime, retryAfter: retryAfter, random: randomNumber())
        case .store(let error): hold(SojournError(error))
        case .key(let error): hold(SojournError(error))
        }
        publishState()
    }

    private func noteUnreachable() {
        if case .unreachable = reachability { return }
        reachability = .unreachable(since: now)
    }

    private func hold(_ error: SojournError) {
        heldError = error
        retries.noteFailure(at: clock.uptime, retryAfter: nil, random: randomNumber())
    }

    // MARK: One renewal

    /// Drives the machine. Every rule is in it; here are the deeds.
    private func renew(seen: RecordVersion?, isUserPresent: Bool) async -> Renewal.Outcome {
        // Until the answer is stored. The transport ends a request when the time is over.
        let background = BackgroundTime {}
        defer { background.end() }
        var machine = Renewal(of: seen)
        var attempt = RenewalAttempt(isUserPresent: isUserPresent)
        var output = machine.handle(.begin)
        while true {
            let input: Renewal.Input
            switch output {
            case .load: input = await load(for: &attempt)
            case .send(let loaded): input = await send(loaded, &attempt)
            case .replace(let version, let change): input = await replace(version, change, &attempt)
            case .wait(let number, let retryAfter):
                try? await clock.sleep(
                    for: RetrySchedule.wait(attempt: number, retryAfter: retryAfter, random: randomNumber()))
                input = .waited
            case .finish(let outcome):
                log("renewal: \(outcome.name)")
                return outcome
            }
            output = machine.handle(input)
        }
    }

    /// Signs, reads the clock, and loads the record, in this order.
    private func load(for attempt: inout RenewalAttempt) async -> Renewal.Input {
        let session = cache?.record?.record.session
        attempt.signatures = await signatures(for: attempt.need ?? SigningNeed(renewing: session))
        attempt.gate = openGate(of: session)
        if attempt.isUserPresent, let session, let gate = attempt.gate {
            // A new one each time, because the server takes each only once.
            attempt.userAssertion = try? await assertion(by: gate, for: session)
        }
        (attempt.sentAt, attempt.loadedAt) = (now, clock.uptime)
        do throws(StoreError) {
            let loaded = try await loadStored()
            attempt.need = SigningNeed(renewing: loaded?.record.session)
            attempt.gate = openGate(of: loaded?.record.session) ?? attempt.gate
            return .loaded(loaded)
        } catch { return .loadFailed(error) }
    }

    private func send(_ loaded: LoadedRecord, _ attempt: inout RenewalAttempt) async -> Renewal.Input {
        attempt.presented = loaded
        if let session = loaded.record.session, session.isLocked {
            return .answered(.presenceRequired(ways(toOpen: session)))
        }
        if let session = loaded.record.session, !session.isRenewable {
            attempt.sentUptime = clock.uptime
            return await confirm(session, attempt.userAssertion)
        }
        guard let signatures = attempt.signatures, signatures.need == attempt.need else { return .unsent }
        if clock.uptime - attempt.loadedAt > Self.loadedAgeMax, !attempt.isReloaded {
            attempt.isReloaded = true
            return .unsent
        }
        if let error = signatures.error { return .signFailed(error) }
        attempt.sentUptime = clock.uptime
        do throws(SojournError) {
            guard let message = try renewalMessage(loaded.record, signatures, attempt) else {
                // Without its key a session that the key renews cannot be renewed by anything but a login.
                return .answered(signatures.isKeyGone ? .ended(.keyLost) : .misconfigured("no way to renew"))
            }
            let patience = patience(for: loaded.record.session)
            do throws(TransportFailure) {
                let answer = try await exchange(message, within: patience)
                return .answered(Verdict(of: answer, isKeyGone: signatures.isKeyGone))
            } catch { return .answered(.unreachable(Unreachable(error))) }
        } catch {
            if case .misconfigured(let fault, _) = error { return .answered(.misconfigured(fault)) }
            return .answered(.unreachable(Unreachable("no request")))
        }
    }

    /// Asks the server whether a session that nothing renews goes on (`stay_logged_in` of the client), and shows the user's presence
    /// if an assertion does. The session has one access token, and no credential that a renewal could present.
    private func confirm(_ session: StoredSession, _ userAssertion: String?) async -> Renewal.Input {
        do throws(KeyError) {
            if session.isBound, try await deviceKey(session.keyThumbprint) == nil {
                let isOver = serverClock.isAnchored && now >= session.expiresAt
                return .answered(.ended(isOver ? .maxLifetimeReached : .keyLost))
            }
        } catch { return .signFailed(error) }
        do throws(SojournError) {
            let call = userAssertion.map(AccountCall.showPresence(assertion:)) ?? .profile
            var message = try call.message(to: try server())
            message.fields += try await authorization(message.method, message.url, by: session.token)
            do throws(TransportFailure) {
                let answer = try await exchange(message, within: patience(for: session))
                return .answered(Verdict(of: answer, about: session))
            } catch { return .answered(.unreachable(Unreachable(error))) }
        } catch {
            if case .misconfigured(let fault, _) = error { return .answered(.misconfigured(fault)) }
            return .answered(.unreachable(Unreachable("no request")))
        }
    }

    private func renewalMessage(
        _ record: SessionRecord, _ signatures: Signatures, _ attempt: RenewalAttempt
    ) throws(SojournError) -> HTTPMessage? {
        var request = TokenRequest(
            server: try server(), clientID: configuration.clientID, resources: configuration.resources)
        (request.platform, request.appVersion) = (configuration.platform, configuration.appVersion)
        request.userAssertion = attempt.userAssertion
        let sentAt = attempt.sentAt
        if let token = record.session?.refreshToken {
            return try request.byRefreshToken(token, in: record, sentAt: sentAt, proof: signatures.proof)
        }
        guard let assertion = signatures.assertion else { return nil }
        return try request.byAssertion(assertion, in: record, sentAt: sentAt, proof: signatures.proof)
    }

    private func replace(
        _ version: RecordVersion, _ change: Renewal.Change, _ attempt: inout RenewalAttempt
    ) async -> Renewal.Input {
        guard let presented = attempt.presented, presented.version == version else { return .replaced(nil) }
        // A process that was frozen after the answer came could store what the server has left behind meanwhile.
        guard clock.uptime - attempt.sentUptime <= patience(for: presented.record.session) else {
            return .replaced(nil)
        }
        var record = presented.applying(change, at: now)
        record.clockOffset = serverClock.offset(wall: clock.wallSeconds, uptime: clock.uptime) ?? record.clockOffset
        do throws(StoreError) {
            // The gate may have been closed since: its key still seals what this renewal brings.
            let bytes = try bytes(of: record, sealedBy: attempt.gate)
            guard try await store.replace(version, with: bytes) else { return .replaced(nil) }
            return .replaced(try await loadStored())
        } catch { return .replaceFailed(error) }
    }

    /// How long one attempt may take: not longer than a quarter of a short rotation interval, because requests of two processes
    /// have to fit into one interval.
    func patience(for session: StoredSession?) -> Duration {
        guard let interval = session?.rotationInterval, interval > 0 else { return configuration.patience }
        return min(configuration.patience, .milliseconds(max(250 * min(interval, 1 << 40), 500)))
    }
}

/// What the deeds of one renewal have in common.
private struct RenewalAttempt {
    /// Whether the request shows that the user is present.
    var isUserPresent: Bool
    var userAssertion: String?
    /// The gate that was open when the record was loaded.
    var gate: OpenGate?
    var signatures: Signatures?
    /// What the loaded record needs to have signed.
    var need: SigningNeed?
    var sentAt: Int64 = 0
    var loadedAt: Duration = .zero
    var sentUptime: Duration = .zero
    var presented: LoadedRecord?
    /// Whether the record was loaded again because the first one was too old: a slow store must not stop all renewals.
    var isReloaded = false
}

extension RenewalMachine.Outcome {
    /// A word for the log.
    fileprivate var name: String {
        switch self {
        case .renewed: "renewed"
        case .overtaken: "another process was first"
        case .notSignedIn: "not signed in"
        case .ended(let reason): "the session has ended: \(reason.rawValue)"
        case .kept(let verdict): "kept: \(verdict.name)"
        case .store(let error): "the store failed: \(error)"
        case .key(let error): "the keyring failed: \(error)"
        }
    }
}

extension Verdict {
    /// A word for the log.
    fileprivate var name: String {
        switch self {
        case .granted: "granted"
        case .ended(let reason): reason.rawValue
        case .suspended(let suspension): suspension.rawValue
        case .presenceRequired: "the user's presence is required"
        case .signAgain: "the signature was refused"
        case .unreachable(let cause): cause.detail
        case .secondFactorRequired: "a second factor is required"
        case .refused(let refusal): refusal.code
        case .misconfigured(let word, let detail): detail.map { "\(word): \($0)" } ?? word
        }
    }
}
