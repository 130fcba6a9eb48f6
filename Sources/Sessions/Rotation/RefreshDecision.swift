/// What a refresh presents, as far as the decision needs it.
public struct RefreshPresentation: Hashable, Sendable {
    /// The serial in the token, whose tag was good.
    public var serial: UInt64
    /// The client that asks; nil when the call knows no clients, which is enough for the sessions of public ones.
    public var clientID: String?
    /// Whether that client has proved itself; if not, its word is enough for the sessions of public ones.
    public var isClientAuthenticated: Bool
    /// The device that the request names, if it names one.
    public var deviceID: String?
    /// A short hash of the request's `Idempotency-Key`, if it has one.
    public var requestKey: UInt64?
    /// The thumbprint of the key of which the request holds a good proof, if it does.
    public var provenKeyThumbprint: String?
    /// That proof, if something is to come of the decision.
    var proof: ProofOfPossession?

    /// Whether it is not a token but a good assertion of the session's device key; the serial then means nothing.
    public var isOfDeviceKey = false
    /// How the request shows that the user is there, if it does.
    public var presence: PresenceProof?

    /// A presentation of the token number `serial`.
    public init(
        serial: UInt64, clientID: String?, isClientAuthenticated: Bool = true, deviceID: String? = nil,
        requestKey: UInt64? = nil, provenKeyThumbprint: String? = nil
    ) {
        self.serial = serial
        self.clientID = clientID
        self.isClientAuthenticated = isClientAuthenticated
        self.deviceID = deviceID
        self.requestKey = requestKey
        self.provenKeyThumbprint = provenKeyThumbprint
    }
}

/// What a refresh comes to: one case for each row of the table, or a refusal.
public enum RefreshDecision: Hashable, Sendable {
    /// The child again, a moment after it was given out: it stays the child, and is known to have arrived.
    case repeated
    /// The child, later: it is confirmed, and has a child of its own.
    case rotated
    /// The parent, a moment after its child was given out, or by the request that made it: everybody converges.
    case converged
    /// The parent, when the child was never seen to arrive: a new child, the unseen one is dead.
    case reissued
    /// A token from longer ago, with a good proof of the session's key: a stale process of the right device.
    case caughtUp
    /// A token newer than any in the store, which was restored from a backup.
    case restored
    /// No token but the session's device key: the child again.
    case resumed
    /// Nobody can tell whether the session has ended: the clock has jumped (`ClockGuard`). No new token, and no refusal.
    case undecided
    /// The identity provider's last word is too old, and it has not given another one. No new token, and no refusal.
    case unconfirmed
    /// No new token.
    case refused(RefusalReason)

    /// The word in metrics.
    public var name: String {
        switch self {
        case .repeated: "repeated"
        case .rotated: "rotated"
        case .converged: "converged"
        case .reissued: "reissued"
        case .caughtUp: "caught_up"
        case .restored: "restored"
        case .resumed: "resumed"
        case .undecided: "undecided"
        case .unconfirmed: "unconfirmed"
        case .refused(let reason): reason.rawValue
        }
    }
}

/// Decides refreshes. Pure, synchronous and total: the store runs it inside the transaction that writes `session`.
///
/// Convergent, confirmed rotation. An honest client is never logged out, however many answers are lost; a thief and a
/// victim who both go on refreshing are found out, also when the thief asks all the time. `RefreshInterleavingTests` explores every history of a small model
/// around this very function and fails when a row is changed.
public struct RefreshPolicy: Hashable, Sendable {
    /// The maximum that the configuration file sets and nobody can raise at run time.
    public let absoluteMaximum: Duration
    /// The identity providers of the configuration that are asked again, by name.
    public let recheckTerms: [String: RecheckTerms]

    /// A policy under `absoluteMaximum`.
    public init(absoluteMaximum: Duration, recheckTerms: [String: RecheckTerms] = [:]) {
        self.absoluteMaximum = absoluteMaximum
        self.recheckTerms = recheckTerms
    }

    /// The policy by the settings alone, in which the maximum that a node serves with stands, too.
    static let ofSettingsAlone = RefreshPolicy(absoluteMaximum: .seconds(Int64.max))

    /// The absolute maximum here: this node's, or the one that the node which started last serves with, if that is shorter.
    public func absoluteMaximum(beside settings: Settings) -> Duration {
        min(absoluteMaximum, settings.servedMaximum ?? absoluteMaximum)
    }

    /// The lifetimes of `record` today.
    public func lifetimes(settings: Settings, client: Client?, user: User?) -> Lifetimes {
        Lifetimes(
            settings: settings.sessions, client: client, user: user,
            absoluteMaximum: absoluteMaximum(beside: settings))
    }

    /// Decides what `presentation` gets at `now`, and edits `session` accordingly. The first check that fails answers.
    /// What the clock has ended at `now`, and would not have ended at `earliest`, is left undecided.
    public func decide(
        _ presentation: RefreshPresentation, _ session: inout Session, user: User?, client: Client?,
        settings: Settings, now: Instant, earliest: Instant? = nil
    ) -> RefreshDecision {
        if let ending = recordedEnding(of: session, user: user, client: client, settings: settings, now: now) {
            session.end(ending.reason, at: ending.at)
            return .refused(.ended(ending.reason))
        }
        let hasProvedClient = presentation.clientID != nil && presentation.isClientAuthenticated
        guard presentation.clientID ?? session.clientID == session.clientID,
            hasProvedClient || client?.isPublic == true
        else { return .refused(.bindingMismatch) }
        if let key = session.keyThumbprint, key != presentation.provenKeyThumbprint {
            return .refused(.bindingMismatch)
        }
        if let device = presentation.deviceID, device != session.device.id { return .refused(.deviceMismatch) }
        if let refusal = user?.loginRefusal { return .refused(refusal) }
        let lifetimes = lifetimes(settings: settings, client: client, user: user)
        if let ending = lifetimes.ending(of: session, at: now) {
            if let earliest, lifetimes.ending(of: session, at: earliest) == nil { return .undecided }
            session.end(ending.reason, at: ending.at)
            return .refused(.ended(ending.reason))
        }
        if let proof = presentation.presence { session.note(proof, at: now) }
        let interval = settings.sessions.rotationInterval
        let isUnconfirmed = isUnconfirmed(session, at: now)
        if isUnconfirmed
            || openDemand(of: presentation, on: session, client: client, settings: settings, now: now) != nil
        {
            // A thief is found out all the same; anybody else has to come back later, or with the user, and nothing is spent.
            var renewed = session
            let decision = rotate(presentation, &renewed, interval: interval, now: now)
            guard case .refused = decision else { return isUnconfirmed ? .unconfirmed : .refused(.userAbsent) }
            session = renewed
            return decision
        }
        return rotate(presentation, &session, interval: interval, now: now)
    }

    /// The table of convergent, confirmed rotation. Every check before it has passed.
    private func rotate(
        _ presentation: RefreshPresentation, _ session: inout Session, interval: Duration, now: Instant
    ) -> RefreshDecision {
        let sinceAnswer = now - session.childAnsweredAt
        let isRecent = sinceAnswer < interval
        let isBound = session.keyThumbprint != nil  // and the proof is good, or the binding check had refused
        let isSameRequest = presentation.requestKey != nil && presentation.requestKey == session.childRequestKey

        if presentation.isOfDeviceKey {
            // The idle time begins anew, in steps, so that who resumes again and again costs few writes.
            if sinceAnswer > .zero, sinceAnswer >= interval / 4 { session.childAnsweredAt = now }
            return .resumed
        }
        if presentation.serial == session.child {
            if isRecent {
                if !isBound { session.confirmChild(at: now) }
                return .repeated
            }
            session.issueChild(of: presentation, serial: session.child + 1, now: now)
            return .rotated
        }
        if presentation.serial == session.parent {
            if let confirmedAt = session.childConfirmation, !isBound {
                // Whoever holds the child needs the parent no more. Nothing moves: its retries could keep the child for ever.
                if isSameRequest || now - confirmedAt < interval { return .converged }
                session.end(.refreshTokenReused, at: now)
                return .refused(.ended(.refreshTokenReused))
            }
            if isRecent || isSameRequest || isBound {
                // Without this move, a duplicate still in flight would meet a second rotation and end an honest session.
                if sinceAnswer > .zero, sinceAnswer >= interval / 4 { session.childAnsweredAt = now }
                return .converged
            }
            session.issueChild(of: presentation, serial: session.child + 1, now: now)
            return .reissued
        }
        if presentation.serial < session.child {
            if isBound { return .caughtUp }
            session.end(.refreshTokenReused, at: now)
            return .refused(.ended(.refreshTokenReused))
        }
        session.issueChild(of: presentation, serial: presentation.serial + 1, now: now)
        return .restored
    }

    /// The ending that is recorded, in the session itself or by a cut that ended many sessions in one write.
    func recordedEnding(
        of session: Session, user: User?, client: Client?, settings: Settings, now: Instant
    ) -> Session.Ending? {
        if let ending = session.ending { return ending }
        if let cut = settings.revokedBefore, session.epoch < cut.epoch {
            return Session.Ending(reason: .revokedByAdmin, at: cut.at)
        }
        guard user != nil else { return Session.Ending(reason: .userDeleted, at: now) }
        // A client that was deleted took its sessions along, even when one of the same name was made again.
        guard let client, client.epoch <= session.epoch else { return Session.Ending(reason: .revokedByAdmin, at: now) }
        return nil
    }

    /// The ending of `record` as it stands at `now`: recorded, or brought by the clock.
    public func ending(of record: SessionRecord, at now: Instant) -> Session.Ending? {
        recordedEnding(
            of: record.session, user: record.user, client: record.client, settings: record.settings, now: now)
            ?? lifetimes(settings: record.settings, client: record.client, user: record.user)
            .ending(of: record.session, at: now)
    }
}

extension Session {
    /// Makes the presented token the parent and `serial` the child.
    fileprivate mutating func issueChild(of presentation: RefreshPresentation, serial: UInt64, now: Instant) {
        parent = presentation.serial
        child = serial
        childAnsweredAt = now
        childRequestKey = presentation.requestKey
        childConfirmedAt = nil
    }

    /// Notes that the child has arrived, once: it came back before it was time for the next one.
    fileprivate mutating func confirmChild(at now: Instant) {
        if childConfirmation == nil, now > childAnsweredAt { childConfirmedAt = now }
    }

    /// When `child` came back for the first time since it was last given out, if it has.
    fileprivate var childConfirmation: Instant? {
        // A resumption and a restored backup move `childAnsweredAt`, and a child that was given out later is not confirmed.
        childConfirmedAt.flatMap { $0 > childAnsweredAt ? $0 : nil }
    }
}
