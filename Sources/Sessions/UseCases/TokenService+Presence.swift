internal import JOSE

/// What a request brings to show that the user is there.
public struct PresenceEvidence: Hashable, Sendable {
    /// An assertion of the presence key (RFC 7523 section 3): `iss` the session, `sub` the user, `aud` the issuer, `exp` at
    /// most five minutes ahead, `jti` once.
    public var assertion: String?
    /// The password.
    public var password: String?

    /// Evidence; nothing by default.
    public init(assertion: String? = nil, password: String? = nil) {
        self.assertion = assertion
        self.password = password
    }

    /// Whether it is nothing.
    public var isEmpty: Bool { assertion == nil && password == nil }
}

extension TokenService {
    /// What `evidence` shows for the session, beside `presentation`; nil: nothing. What would be refused whoever is there is
    /// not looked at: a token that has ended, was replaced or lacks the key that it is bound to is good for no guess, and uses up
    /// none of the tries that the session has.
    func presence(
        shownBy evidence: PresenceEvidence, beside presentation: RefreshPresentation, in id: Identifier<Session>,
        from origin: Origin, at time: ClockGuard.Reading
    ) async throws(ServiceError) -> PresenceProof? {
        guard let record = try await inStore({ () async throws(StoreError) in try await store.session(id) }),
            policy.accepts(presentation, fromUserOf: record, at: time), let user = record.user
        else { return nil }
        // Before a guess or an assertion is spent. The decision that follows finds it used by this very request.
        try presentation.useProof(on: record.session)
        do throws(ServiceError) {
            let proof = try await presence(shownBy: evidence, of: user, in: record.session, from: origin, at: time.now)
            // Whoever was told meanwhile to try again does so in their own time: the token must not be spent by then.
            if Task.isCancelled { throw .overloaded }
            return proof
        } catch .invalidCredentials {
            // The token is good: whoever has mistyped is asked again, and must not lose the session over it.
            throw .wrongPassword(policy.demand(afterWrongPasswordIn: record))
        }
    }

    /// The same, of a session that was read. The password says more than the key. An assertion that is not taken shows
    /// nothing and spoils nothing: whoever repeats a request after a lost answer brings the one that is used up.
    func presence(
        shownBy evidence: PresenceEvidence, of user: User, in session: Session, from origin: Origin, at now: Instant
    ) async throws(ServiceError) -> PresenceProof? {
        if let password = evidence.password {
            try await verify(password, of: user, in: session, from: origin)
            return .password(hash: user.passwordHash)
        }
        guard let text = evidence.assertion, let key = session.presence.key.flatMap(DeviceKey.init(text:)) else {
            return nil
        }
        return try await isGood(text, of: key, in: session, at: now) ? .key : nil
    }

    /// Whether `key` has signed the assertion for this session, to us, just now, and not twice.
    func isGood(
        _ text: String, of key: DeviceKey, in session: Session, at now: Instant
    ) async throws(ServiceError) -> Bool {
        guard let assertion = try? KeyAssertion(text), assertion.issuer == session.id.description,
            assertion.subject == session.userID.description, assertion.audience.contains(context.issuer),
            assertion.isTimely(at: now, lead: Self.deviceLead), (try? assertion.verify(with: key.key)) != nil
        else { return false }
        let token = OneTimeToken(
            .presenceAssertion, of: session.id.description, id: assertion.id,
            goodUntil: Instant(secondsSinceEpoch: assertion.expiry), at: now)
        return try await inStore { () async throws(StoreError) in try await store.use(token) }
    }
}

extension RefreshPolicy {
    /// What to ask for again. A session that asks for nothing says what it was given.
    func demand(afterWrongPasswordIn record: SessionRecord) -> PresenceRequirement {
        presenceDemand(on: record)
            ?? PresenceRequirement(ageMax: PresenceRequirement.ageMaxOfChanges, ways: [.password])
            .asked(of: record.user, in: record.session)
    }

    /// Whether `presentation` would do if the user showed to be there. It is asked of a copy: nothing is spent.
    fileprivate func accepts(
        _ presentation: RefreshPresentation, fromUserOf record: SessionRecord, at time: ClockGuard.Reading
    ) -> Bool {
        var (presentation, session) = (presentation, record.session)
        presentation.presence = .password(hash: record.user?.passwordHash)
        let decision = decide(
            presentation, &session, user: record.user, client: record.client, settings: record.settings, now: time.now,
            earliest: time.earliest)
        switch decision {
        case .refused, .undecided, .unconfirmed: return false
        case .repeated, .rotated, .converged, .reissued, .caughtUp, .restored, .resumed: return true
        }
    }
}
