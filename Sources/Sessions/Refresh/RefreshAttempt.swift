// Shaped for speed: one object carries a refresh from the request's thread to the store's and back, because a value of two
// dozen texts would be copied at each call and kept in each async frame. A closure that captures this object alone allocates
// nothing. The async frames of one refresh took 34 000 bytes with values and inlined rare branches; they take 6000 bytes.
// Measure: `sojourn-bench refresh`.

internal import Cryptography
internal import Synchronization

/// One refresh on its way through the server: what the request presents, what it asks for, and what the transaction decides.
public final class RefreshAttempt: Sendable {
    /// The refresh token; for a client that keeps one string, the access token that holds it; or the assertion of a device key.
    public let token: String
    /// Whether `token` is an assertion of the session's device key; the serial then means nothing.
    public let isOfDeviceKey: Bool
    /// The client; nil where the call names none, which is enough for the sessions of public clients.
    public let clientID: String?
    /// Whether the client has authenticated; if not, its name is enough for the sessions of public clients.
    public let isClientAuthenticated: Bool
    /// The device that the request names, if it names one.
    public let deviceID: String?
    /// A short hash of the request's `Idempotency-Key`, if it has one.
    public let requestKey: UInt64?
    /// When the client sent the request, by its own corrected clock (`sent_at`); nil: it does not say.
    public let sentAt: Instant?
    /// The valid proof of possession of a key (RFC 9449), if the request has one.
    public let proof: ProofOfPossession?
    /// The thumbprint of the key that the proof proves.
    public let provenKeyThumbprint: String?
    /// The evidence of the user's presence in the request.
    public let evidence: PresenceEvidence
    /// What the request says of its device, if it says anything.
    public let deviceReport: DeviceReport?
    /// A narrower scope for the access token (RFC 6749 section 6); nil: all that was granted.
    public let scope: Scope?
    /// The APIs that the access token is for (RFC 8707 section 2.2); none: those of the login, or the server's own audience.
    public let resources: [String]
    /// The page that sends the request, if the client has to allow it.
    public let page: CallingPage?

    private let state: Mutex<State>

    /// The results of the steps of the refresh. A `Mutex` guards them, because it allocates no memory. It is never contended,
    /// because each step follows the one before.
    private struct State: Sendable {
        /// The serial in the token, whose tag is valid.
        var serial: UInt64 = 0
        var sessionID: Identifier<Session>?
        var presence: PresenceProof?
        var circumstances: Circumstances?
        var verdict: Verdict?
        var refusedUserID: Identifier<User>?
        var grant: Result<TokenGrant, ServiceError>?
        var needsOtherRows = false
        var isEnding = false
    }

    /// The context, origin and time of the decision.
    struct Circumstances: Sendable {
        let context: ServiceContext
        let origin: Origin
        let time: ClockGuard.Reading
    }

    /// The decision of the transaction.
    enum Verdict: Sendable {
        case granted(TokenGrant.Entitlement)
        /// The token belongs to a session of that user and is refused, or does not grant what the request asks for.
        case refused(ServiceError, Identifier<User>)
        /// The token belongs to no known session, or cannot be decided now. It counts against no user.
        case failed(ServiceError)
    }

    /// A refresh with `token`, or, if `isOfDeviceKey`, with an assertion.
    public init(
        token: String, clientID: String?, isClientAuthenticated: Bool = true, deviceID: String? = nil,
        idempotencyKey: String? = nil, sentAt: Instant? = nil, scope: Scope? = nil, resources: [String] = [],
        proof: ProofOfPossession? = nil, evidence: PresenceEvidence = PresenceEvidence(),
        deviceReport: DeviceReport? = nil,
        isOfDeviceKey: Bool = false, page: CallingPage? = nil
    ) {
        self.token = token
        self.isOfDeviceKey = isOfDeviceKey
        self.clientID = clientID
        self.isClientAuthenticated = isClientAuthenticated
        self.deviceID = deviceID
        requestKey = idempotencyKey.map(Self.shortHash)
        self.sentAt = sentAt
        self.proof = proof
        provenKeyThumbprint = proof?.keyThumbprint
        self.evidence = evidence
        self.deviceReport = deviceReport
        self.scope = scope
        self.resources = resources
        self.page = page
        state = Mutex(State())
    }

    /// An attempt with the refresh token number `serial`, as far as `RefreshPolicy.renew` looks at it.
    public init(
        serial: UInt64, clientID: String?, isClientAuthenticated: Bool = true, deviceID: String? = nil,
        requestKey: UInt64? = nil, sentAt: Instant? = nil, provenKeyThumbprint: String? = nil,
        proof: ProofOfPossession? = nil, presence: PresenceProof? = nil, deviceReport: DeviceReport? = nil,
        isOfDeviceKey: Bool = false
    ) {
        token = ""
        self.deviceReport = deviceReport
        self.isOfDeviceKey = isOfDeviceKey
        self.clientID = clientID
        self.isClientAuthenticated = isClientAuthenticated
        self.deviceID = deviceID
        self.requestKey = requestKey
        self.sentAt = sentAt
        self.proof = proof
        self.provenKeyThumbprint = provenKeyThumbprint ?? proof?.keyThumbprint
        evidence = PresenceEvidence()
        scope = nil
        resources = []
        page = nil
        state = Mutex(State(serial: serial, presence: presence))
    }

    /// A copy of what is presented, which proves the user's presence by `presence`.
    func proving(_ presence: PresenceProof) -> RefreshAttempt {
        RefreshAttempt(
            serial: serial, clientID: clientID, isClientAuthenticated: isClientAuthenticated, deviceID: deviceID,
            requestKey: requestKey, sentAt: sentAt, provenKeyThumbprint: provenKeyThumbprint, proof: proof,
            presence: presence, deviceReport: deviceReport, isOfDeviceKey: isOfDeviceKey)
    }

    /// Whether the request was under way for more than half the rotation interval (two seconds at least), or was sent more
    /// than 30 s ahead of now. Two processes of one app could each have rotated meanwhile, so that an honest request would look
    /// like reuse.
    public func isStale(at now: Instant, interval: Duration) -> Bool {
        guard let sentAt, interval > .zero else { return false }
        return now - sentAt > max(interval / 2, .seconds(2)) || sentAt - now > .seconds(30)
    }

    /// Whether the request says that it was sent at `instant` or before. It counts whole seconds, rounded down, and a clock that is
    /// anchored in answers is behind the server's by what they took, so that an honest request is never sent too late by it.
    func wasSent(by instant: Instant) -> Bool { sentAt.map { $0 <= instant } ?? false }

    /// Eight bytes of SHA-256: enough to distinguish the retries of one device, and too few to recover the key.
    static func shortHash(_ idempotencyKey: String) -> UInt64 {
        sha256(Array(idempotencyKey.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

// The steps in their order.
extension RefreshAttempt {
    /// Begins the decision on a session, at the present time. Serial 0: that of a token of another system, or of none.
    func begin(
        serial: UInt64 = 0, of sessionID: Identifier<Session>? = nil, in context: ServiceContext, from origin: Origin
    ) {
        let circumstances = Circumstances(context: context, origin: origin, time: context.time)
        state.withLock { state in
            state.serial = serial
            state.sessionID = sessionID
            state.circumstances = circumstances
        }
    }

    /// The context, origin and time of the decision; set by `begin`.
    var circumstances: Circumstances {
        guard let circumstances = state.withLock({ $0.circumstances }) else {
            preconditionFailure("a refresh is decided before it has begun")
        }
        return circumstances
    }

    /// The serial in the token.
    public var serial: UInt64 { state.withLock { $0.serial } }

    /// The session of the token, once its tag was found valid; nil: the token names none.
    public var sessionID: Identifier<Session>? { state.withLock { $0.sessionID } }

    /// The proof of the user's presence, if the request brought one that is valid.
    var presence: PresenceProof? {
        get { state.withLock { $0.presence } }
        set { state.withLock { $0.presence = newValue } }
    }

    /// The decision on the session that `change` holds.
    func verdict(on change: inout SessionChange) -> Verdict {
        if let page, let refusal = refusal(of: page, change.record) { return .failed(refusal) }
        let circumstances = circumstances
        let context = circumstances.context
        return context.policy.decide(
            self, &change, for: context.resourceRequirement(for: resources), from: circumstances.origin,
            at: circumstances.time)
    }

    /// Why the client of the session does not take the request from that page; nil: it does.
    @inline(never)
    private func refusal(of page: CallingPage, _ record: SessionRecord) -> ServiceError? {
        do throws(ServiceError) { try page.admit(in: record) } catch { return error }
        return nil
    }

    /// Runs the decision inside the transaction of `change`, and records it; again, if the transaction is run again.
    func settle(_ change: inout SessionChange) { record(verdict(on: &change)) }

    /// Records the decision, and discards the tokens of an earlier one.
    func record(_ verdict: Verdict) {
        state.withLock { state in
            state.verdict = verdict
            state.grant = nil
            state.needsOtherRows = false
        }
    }

    /// Records that the decision reads or writes rows of other sessions, so that it is made in a transaction of its own.
    ///
    /// - Parameter isEnding: whether the session ends by it, as far as the decision is known.
    func noteOtherRows(isEnding: Bool) {
        state.withLock { state in
            (state.verdict, state.grant) = (nil, nil)
            (state.needsOtherRows, state.isEnding) = (true, isEnding)
        }
    }

    /// Whether the session is known to end by a decision about other rows.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// Whether the decision is about rows of other sessions too.
    var needsOtherRows: Bool { state.withLock { $0.needsOtherRows } }

    /// The decision; nil before it was made.
    var verdict: Verdict? { state.withLock { $0.verdict } }

    /// The signed tokens, or why they could not be signed; nil: nothing was signed yet.
    var grant: Result<TokenGrant, ServiceError>? {
        get { state.withLock { $0.grant } }
        set { state.withLock { $0.grant = newValue } }
    }

    /// What the evidence can prove at best.
    func strongestProof(of user: User?) -> PresenceProof {
        if evidence.passkey != nil { return .passkey }
        if evidence.code == nil { return .password(hash: user?.passwordHash) }
        return evidence.password == nil ? .code : .passwordAndCode(hash: user?.passwordHash)
    }

    /// The user of the session, if the credential was genuine and was refused. A request without the session's secrets never
    /// sets it.
    public var refusedUserID: Identifier<User>? { state.withLock { $0.refusedUserID } }

    /// Records that a genuine token, or assertion, of a session of that user is refused.
    func noteRefusal(of userID: Identifier<User>, in sessionID: Identifier<Session>? = nil) {
        state.withLock { state in
            state.refusedUserID = userID
            if let sessionID { state.sessionID = sessionID }
        }
    }
}
