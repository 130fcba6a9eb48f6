internal import JOSE

/// A request to resume a session by an assertion of its device's key (RFC 7523), as it came in.
public struct ResumptionRequest: Hashable, Sendable {
    /// The assertion.
    public var assertion: String
    /// The client that asks; nil when the request names none.
    public var clientID: String?
    /// Whether that client has proved itself.
    public var isClientAuthenticated: Bool
    /// The device that the request names, if it names one.
    public var deviceID: String?
    /// A narrower scope; nil: the session's.
    public var scope: Scope?
    /// The APIs that the rolling token is for; none: as for a refresh.
    public var resources: [String] = []
    /// The good proof of possession of a key (RFC 9449) that the request holds, if it does.
    public var proof: ProofOfPossession?
    /// What the request brings to show that the user is there.
    public var evidence = PresenceEvidence()

    /// A request.
    public init(
        assertion: String, clientID: String?, isClientAuthenticated: Bool = true, deviceID: String? = nil,
        scope: Scope? = nil, proof: ProofOfPossession? = nil
    ) {
        self.assertion = assertion
        self.clientID = clientID
        self.isClientAuthenticated = isClientAuthenticated
        self.deviceID = deviceID
        self.scope = scope
        self.proof = proof
    }
}

/// The authorization-grant token: a device that registered a key at its login resumes the session with an assertion signed
/// by it. All checks and limits are those of a refresh; only what is presented is another thing.
extension TokenService {
    /// No assertion may be good for longer: it is remembered so long, and can be made anew at any time.
    public static let assertionLifetimeMax = Duration.seconds(300)
    /// How far the clock of a device may be ahead.
    static let deviceLead = Duration.seconds(15)

    /// Resumes the session that the assertion names. Throws when it is not resumed; `.refused` says why.
    ///
    /// - Parameter refusing: is told which session of whom it is before an assertion that its key has signed is refused: no stranger
    ///   can bring that about.
    public func resume(
        _ request: ResumptionRequest, from origin: Origin,
        refusing: (Identifier<Session>, Identifier<User>) -> Void = { _, _ in }
    ) async throws(ServiceError) -> (TokenGrant, RefreshDecision) {
        let time = context.time
        let id = try await session(of: request.assertion, at: time.now, refusing: refusing)
        var presentation = RefreshPresentation(
            serial: 0, clientID: request.clientID, isClientAuthenticated: request.isClientAuthenticated,
            deviceID: request.deviceID, provenKeyThumbprint: request.proof?.keyThumbprint)
        presentation.proof = request.proof
        presentation.isOfDeviceKey = true
        let attempt = RefreshAttempt(
            presentation, RequestedToken(scope: request.scope, resources: context.demand(for: request.resources)),
            under: policy, from: origin, at: time)
        if !request.evidence.isEmpty { try await look(at: request.evidence, beside: attempt, in: id) }
        guard try await decide(attempt, in: id) else { throw .refused(.unknownSession) }
        let answer = await tokens(for: attempt) { refusing(id, $0) }
        try await hastenProviderCheck(of: id, after: answer)
        return try answer.get()
    }

    /// The session whose key has signed the assertion, to us, just now, and not twice. The key of a session never changes, so
    /// that this needs no transaction.
    private func session(
        of text: String, at now: Instant, refusing: (Identifier<Session>, Identifier<User>) -> Void
    ) async throws(ServiceError) -> Identifier<Session> {
        guard let assertion = try? KeyAssertion(text), let id = Identifier<Session>(assertion.issuer),
            assertion.audience.contains(context.issuer), assertion.isTimely(at: now, lead: Self.deviceLead)
        else { throw .refused(.invalidAssertion) }
        guard let record = try await inStore({ () async throws(StoreError) in try await store.session(id) }) else {
            throw .refused(.unknownSession)
        }
        guard let key = record.session.deviceKey.flatMap(DeviceKey.init(text:)),
            assertion.subject == record.session.userID.description,
            (try? assertion.verify(with: key.key)) != nil
        else { throw .refused(.invalidAssertion) }
        // Used up whatever comes of it: the device signs the next one by itself.
        let token = OneTimeToken(
            .deviceAssertion, of: id.description, id: assertion.id,
            goodUntil: Instant(secondsSinceEpoch: assertion.expiry), at: now)
        let isFresh = try await inStore { () async throws(StoreError) in try await store.use(token) }
        guard isFresh else {
            refusing(id, record.session.userID)
            throw .refused(.invalidAssertion)
        }
        return id
    }
}

extension KeyAssertion {
    /// Whether it is good at `now`, and not for too long, by a clock that is ahead by `lead` at most.
    func isTimely(at now: Instant, lead: Duration) -> Bool {
        let expiry = Instant(secondsSinceEpoch: expiry)
        let start = Instant(secondsSinceEpoch: notBefore ?? .min)
        return now < expiry && expiry <= now + TokenService.assertionLifetimeMax + lead && start <= now + lead
    }
}
