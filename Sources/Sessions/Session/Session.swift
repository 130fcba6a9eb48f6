/// One user's login session on one device in one client: the row that holds the *per-device refresh token*.
///
/// A session stores only the serials of its refresh tokens. The tokens are derived from the session's id, a serial and the root
/// key (`RefreshToken`), so that a stolen database does not suffice to mint tokens.
public struct Session: Hashable, Sendable, Identifiable {
    /// How and when a session ended. Once recorded, an ending is final.
    public struct Ending: Hashable, Sendable {
        /// The reason.
        public let reason: EndReason
        /// The time at which it was recorded, or at which the clock had ended the session.
        public let at: Instant

        /// The ending for `reason` at `at`.
        public init(reason: EndReason, at: Instant) {
            self.reason = reason
            self.at = at
        }
    }

    /// 16 random bytes.
    public let id: Identifier<Session>
    /// The user.
    public let userID: Identifier<User>
    /// The app.
    public let clientID: String
    /// The installation of the app.
    public var device: Device
    /// How the app guards the refresh token.
    public var authenticationMode: AuthenticationMode
    /// The scope that the login was granted; a refresh can narrow the access token below it, and never widens it.
    public let scope: Scope
    /// The APIs that the login asked for (RFC 8707 section 2.2), among which a refresh can choose. Empty: it asked for none,
    /// and a refresh can choose among those of the client.
    public let resources: [String]
    /// How the user authenticated (RFC 8176), for the claim `amr`.
    public var authenticationMethods: [String]
    /// The RFC 7638 thumbprint of the key that the session is bound to, if any (RFC 9449 section 6).
    public let keyThumbprint: String?
    /// The public key by which the device can resume the session without a token, as `DeviceKey.text` has it, if any.
    public let deviceKey: String?
    /// The time of the interactive login. It never changes.
    public let startedAt: Instant
    /// The value of the store's counter at the start: a "revoke all" ends the sessions before it (`Settings`).
    public let epoch: Int64

    /// The serial of the refresh token that was exchanged for `child`; 0 before the first exchange.
    public var parent: UInt64
    /// The serial of the refresh token last issued.
    public var child: UInt64
    /// The time at which `child` was last given out. The next rotation is due one rotation interval later.
    public var childAnsweredAt: Instant
    /// The last refresh, from which the idle time counts, to a quarter of the rotation interval. It is apart from
    /// `childAnsweredAt`, because a client that refreshes all the time would put off the next rotation for ever.
    public var renewedAt: Instant
    /// A short hash of the `Idempotency-Key` of the request that made `child`, if it had one.
    public var childRequestKey: UInt64?
    /// The time at which `child` was first presented, if that was before the next rotation was due. The client then no longer
    /// needs `parent`.
    public var childConfirmedAt: Instant?

    /// Set when the session has ended.
    public var ending: Ending?
    /// The record of the user's presence since the login.
    public var presence: UserPresence
    /// The identity provider that is asked again to confirm the user, and when it last did; nil: none is.
    public var confirmation: ProviderConfirmation?
    /// The session of the phone that let this one in and on which it depends; nil: it depends on none. Its column is
    /// `parent_session_id`.
    public var phoneID: Identifier<Session>?
    /// Until when the session may do less, because a phone let it in a short time ago; nil: it never had to.
    public var probationUntil: Instant?
    /// The verdict of the operator's own attestation of app and device, for the claim `attestation`; nil: there is none.
    public var attestation: String?
    /// The verdict that `Client.attestation` demands.
    public static let genuine = "genuine"
    /// The public key to which messages to the device are encrypted, as `EncryptionKey.text` has it; nil: there is none.
    public var encryptionKey: String?

    /// A session as it stands in the store.
    public init(
        id: Identifier<Session>, userID: Identifier<User>, clientID: String, device: Device,
        authenticationMode: AuthenticationMode = .no, scope: Scope = .empty, resources: [String] = [],
        authenticationMethods: [String] = [], keyThumbprint: String? = nil, deviceKey: String? = nil,
        startedAt: Instant, epoch: Int64, parent: UInt64 = 0,
        child: UInt64 = 1,
        childAnsweredAt: Instant? = nil, renewedAt: Instant? = nil, childRequestKey: UInt64? = nil,
        childConfirmedAt: Instant? = nil,
        ending: Ending? = nil,
        presence: UserPresence = UserPresence(), confirmation: ProviderConfirmation? = nil,
        phoneID: Identifier<Session>? = nil, probationUntil: Instant? = nil, attestation: String? = nil,
        encryptionKey: String? = nil
    ) {
        self.id = id
        self.userID = userID
        self.clientID = clientID
        self.device = device
        self.authenticationMode = authenticationMode
        self.scope = scope
        self.resources = resources
        self.authenticationMethods = authenticationMethods
        self.keyThumbprint = keyThumbprint
        self.deviceKey = deviceKey
        self.startedAt = startedAt
        self.epoch = epoch
        self.parent = parent
        self.child = child
        self.childAnsweredAt = childAnsweredAt ?? startedAt
        self.renewedAt = renewedAt ?? self.childAnsweredAt
        self.childRequestKey = childRequestKey
        self.childConfirmedAt = childConfirmedAt
        self.ending = ending
        self.presence = presence
        self.confirmation = confirmation
        self.phoneID = phoneID
        self.probationUntil = probationUntil
        self.attestation = attestation
        self.encryptionKey = encryptionKey
    }

    /// Whether at most the serials and times of refreshes differ from those of `old`, an earlier state of the session. Every
    /// other member that can change is compared here, because the stores write only those of a refresh if this is true.
    public func isRotation(of old: Session) -> Bool {
        device == old.device && authenticationMode == old.authenticationMode
            && authenticationMethods == old.authenticationMethods && ending == old.ending && presence == old.presence
            && confirmation == old.confirmation && phoneID == old.phoneID && probationUntil == old.probationUntil
            && attestation == old.attestation && encryptionKey == old.encryptionKey
    }

    /// Whether the session may still do less, because a phone let it in a short time ago.
    public func isOnProbation(at now: Instant) -> Bool { probationUntil.map { now < $0 } ?? false }

    /// Records the end, unless one is recorded already.
    public mutating func end(_ reason: EndReason, at instant: Instant) {
        if ending == nil { ending = Ending(reason: reason, at: instant) }
    }
}
