extension Sojourn {
    /// What a caller needs of an access token.
    public enum Need: Hashable, Sendable {
        /// Good for 30 seconds more. A renewal that is due is tried first, but not for longer than `renewalWait`: then the stored
        /// token is handed out, and the renewal goes on in the background.
        case usable
        /// Renewed since `refresh_after`; an error otherwise.
        case fresh
        /// Another one than this, which an API has refused. It is renewed twice in ten seconds at most; then, and if no other one
        /// comes, the error is `refused` with the code `invalid_token`.
        case renewed(after: AccessToken)
    }

    /// An access token for a call to an API.
    public func accessToken(_ need: Need = .usable) async throws(SojournError) -> AccessToken {
        var userID: String?
        for _ in 0..<4 {
            guard let loaded = try await current(), let session = loaded.record.session else { throw .notSignedIn }
            if let ending = session.ending { throw .ended(ending.reason) }
            guard isOpen(session) else {
                publishState()
                throw .presenceRequired(ways(toOpen: session))
            }
            guard userID == nil || userID == session.account.userID else { throw .cancelled }
            userID = session.account.userID
            guard needsRenewal(session, need) else {
                if need == .renewed(after: session.token) { throw .noOtherToken }
                return session.token
            }
            let fallback = fallback(session, need)
            // A token that is good by a clock which the server has confirmed is worth more than waiting.
            let isGood = fallback != nil && session.isUsable(at: now)
            if let error = obstacle(hasToken: isGood) {
                if let fallback, error.allowsStoredToken { return fallback }
                throw error
            }
            if case .renewed(let refused) = refusal(need), refused == session.token { rejections.append(clock.uptime) }
            let flight = flight(of: loaded.version)
            guard let outcome = await outcome(of: flight, within: isGood ? configuration.renewalWait : nil) else {
                if Task.isCancelled { throw .cancelled }
                if let fallback { return fallback }
                continue
            }
            guard let token = try token(after: outcome, fallback) else { continue }
            // No other token follows the one of a session that nothing renews.
            if need == .renewed(after: token), !session.isRenewable { throw .noOtherToken }
            return token
        }
        throw .unreachable(Unreachable("the record changes all the time"))
    }

    /// Tells that an API has refused an access token with 401, so that the next call renews it. For other HTTP clients than
    /// `data(for:)`.
    public func reject(_ token: AccessToken) {
        rejected = token
    }

    /// The token that a renewal has brought; nil: the record has to be looked at again.
    private func token(
        after outcome: Renewal.Outcome, _ fallback: AccessToken?
    ) throws(SojournError) -> AccessToken? {
        let error: SojournError
        switch outcome {
        case .renewed(let loaded):
            guard let session = loaded.record.session, !session.isLocked else { return nil }
            return session.token
        case .overtaken: return nil
        case .notSignedIn: throw .notSignedIn
        case .ended(let reason): throw .ended(reason)
        case .kept(let verdict): error = SojournError(verdict) ?? .unreachable(Unreachable("no verdict"))
        case .store(let failure): error = SojournError(failure)
        case .key(let failure): error = SojournError(failure)
        }
        if let fallback, error.allowsStoredToken { return fallback }
        throw error
    }

    /// `need`, with the refusals that `reject` has noted.
    private func refusal(_ need: Need) -> Need {
        if need == .usable, let rejected { .renewed(after: rejected) } else { need }
    }

    private func needsRenewal(_ session: StoredSession, _ need: Need) -> Bool {
        if case .renewed(let refused) = refusal(need), refused == session.token {
            // An API that refuses every token must not make every call a renewal. A caller that needs another token asks the
            // server once more, because the session may have ended since.
            rejections.removeAll { clock.uptime - $0 >= .seconds(10) }
            return rejections.count < (need == .usable ? 1 : 2) || session.isDue(at: now)
        }
        return session.isDue(at: now)
    }

    /// The stored token, if the caller takes it when no renewal succeeds. The SDK's own guess of the time ends no token: an
    /// expired one is handed out while the server has not confirmed the clock.
    private func fallback(_ session: StoredSession, _ need: Need) -> AccessToken? {
        guard need == .usable, session.token != rejected else { return nil }
        return session.isUsable(at: now) || !serverClock.isAnchored ? session.token : nil
    }

    /// Why no renewal can begin now. A caller with a token that works waits longer.
    private func obstacle(hasToken: Bool) -> SojournError? {
        guard configuration.mayRenew else {
            return .unreachable(Unreachable("this process leaves renewals to another one"))
        }
        guard let hold = retries.hold(at: clock.uptime, hasToken: hasToken) else { return nil }
        switch heldError {
        case .unreachable(var cause):
            cause.retryAfter = hold.components.seconds + 1
            return .unreachable(cause)
        case let error: return error ?? .unreachable(Unreachable("waiting"))
        }
    }
}

extension SojournError {
    /// The API has refused a token after which no other one comes now.
    static let noOtherToken = SojournError.refused(
        Refusal(status: 401, code: "invalid_token", detail: "the API has refused the newest token"))

    /// Whether a call may go on with the stored token after this failure of a renewal.
    fileprivate var allowsStoredToken: Bool {
        switch self {
        case .unreachable, .suspended, .refused, .misconfigured, .store, .key, .locked: true
        case .presenceRequired, .presence, .secondFactorRequired, .ended, .notSignedIn, .cancelled: false
        }
    }
}
