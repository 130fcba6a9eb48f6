/// What a store keeps for one slot: the device, the session of its user if there is one, and what is owed to the server.
///
/// As JSON it has schema 1. Members that this version does not know are kept, because an app and its extensions may have
/// different versions of the SDK.
package struct SessionRecord: Hashable, Sendable {
    /// The version of the format. A record with a higher one is unreadable here, and is kept.
    package static let schema: Int64 = 1
    /// How many sessions that the user left wait for their `POST /v1/logout`.
    package static let debtsMax = 5

    /// Names this device at the server. It outlives sessions.
    package var deviceID: String
    /// The secret from which `Idempotency-Key`s are derived, 32 bytes. Each login makes a new one.
    package var retrySecret: [UInt8]
    /// The session; nil before the first login and after a sign-out.
    package var session: StoredSession?
    /// Whether a user signed out, and no login has followed.
    package var isSignedOut = false
    /// What the server's time was ahead of the wall clock, in seconds.
    package var clockOffset: Int64?
    /// The sessions that the user left and that the server has not heard of.
    package var debts: [LogoutDebt] = []
    /// The login on the server's page that waits for its answer.
    package var pendingLogin: PendingLogin?
    /// The proofs of mailboxes that are under way, one of a purpose.
    package var verifications: [StoredVerification] = []
    /// The members that this version does not know.
    package var unknown: [String: JSONValue] = [:]

    /// A record without a session.
    package init(deviceID: String, retrySecret: [UInt8]) {
        (self.deviceID, self.retrySecret) = (deviceID, retrySecret)
    }
}

package struct StoredSession: Hashable, Sendable {
    package struct Ending: Hashable, Sendable {
        package var reason: EndReason
        /// In Unix seconds of the server.
        package var at: Int64
    }

    package var sessionID: String?
    /// Nil for a session that the device key renews.
    package var refreshToken: String?
    package var accessToken: String
    package var tokenType: String
    package var issuedAt: Int64
    package var expiresAt: Int64
    package var refreshAfter: Int64?
    package var idleExpiresAt: Int64?
    package var sessionExpiresAt: Int64?
    /// The server's rotation interval in seconds.
    package var rotationInterval: Int64?
    /// How the session can be renewed, as its login said; empty: not at all. Nil: the login did not say.
    package var renewal: [String]?
    package var mode: AuthenticationMode
    /// The members of `user` as the server sent them.
    package var user: [String: JSONValue]
    /// The thumbprint of the key to which the session is bound, or which renews it.
    package var keyThumbprint: String?
    /// The enrollment at the presence gate whose keys the session has. It stays when the mode changes, so that the way back
    /// needs no new one.
    package var gateID: String?
    /// The thumbprint of the key to which the server encrypts messages in this session; nil: it knows none.
    package var encryptionKey: String?
    /// The tokens under the sealing key of the gate, as they are stored; nil if they are stored as they are.
    package var sealed: [UInt8]?
    package var ending: Ending?

    /// The session of a login's answer.
    package init(_ answer: TokenAnswer, keyThumbprint: String?) {
        accessToken = answer.accessToken
        tokenType = answer.tokenType
        (issuedAt, expiresAt) = (answer.issuedAt, answer.expiresAt)
        mode = .no
        user = [:]
        self.keyThumbprint = keyThumbprint
        refreshToken = answer.refreshToken
        take(answer)
    }

    /// Takes over what a renewal brings. What the answer leaves out stays as it is.
    package mutating func take(_ answer: TokenAnswer) {
        accessToken = answer.accessToken
        tokenType = answer.tokenType
        (issuedAt, expiresAt, refreshAfter) = (answer.issuedAt, answer.expiresAt, answer.refreshAfter)
        // A session that the device key renews never gets a refresh token: a thief of it could use it unnoticed, because the
        // device never presents a serial.
        if refreshToken != nil { refreshToken = answer.refreshToken ?? refreshToken }
        sessionID = answer.sessionID ?? sessionID
        idleExpiresAt = answer.sessionIdleExpiresAt ?? idleExpiresAt
        sessionExpiresAt = answer.sessionExpiresAt ?? sessionExpiresAt
        rotationInterval = answer.rotationInterval ?? rotationInterval
        renewal = answer.renewal ?? renewal
        mode = answer.mode ?? mode
        user = answer.user ?? user
        ending = nil
    }

    /// The user.
    package var account: Account { Account(members: user) }

    /// The access token.
    package var token: AccessToken { AccessToken(value: accessToken, type: tokenType, expiresAt: expiresAt) }

    /// Whether requests need a proof of the key.
    package var isBound: Bool { tokenType.lowercased() == "dpop" }

    /// Whether the session can be renewed. One that cannot ends with its access token (`stay_logged_in` of the client).
    package var isRenewable: Bool { renewal != [] }

    /// Whether the server has to be asked: for a renewal strictly after `refresh_after`, and whether the session has ended once the
    /// token of a session without renewal is over.
    package func isDue(at now: Int64) -> Bool {
        guard isRenewable else { return now >= expiresAt }
        return refreshAfter.map { now > $0 } ?? false || !isUsable(at: now)
    }

    /// Whether the access token is good for a request: for 30 seconds more.
    package func isUsable(at now: Int64) -> Bool { expiresAt - now >= 30 }
}

/// A session that the user left, whose end the server has not confirmed.
package struct LogoutDebt: Hashable, Sendable {
    package var sessionID: String?
    /// The refresh token, or the access token of a session that has none.
    package var token: String
    /// `refresh_token`, `Bearer` or `DPoP`.
    package var kind: String
    /// The key to which the session is bound.
    package var keyThumbprint: String?
    /// When the session ends by itself.
    package var expiresAt: Int64?
}

extension SessionRecord {
    /// Removes everything of the user. The session becomes a debt, unless the server has ended it.
    package mutating func signOut() {
        if let session, session.ending == nil { owe(session) }
        (session, pendingLogin, verifications) = (nil, nil, [])
        isSignedOut = true
    }

    /// Stores the session of a login. A session of another ID that was left without a sign-out becomes a debt.
    package mutating func begin(_ new: StoredSession, retrySecret: [UInt8]) {
        if let session, session.ending == nil, session.sessionID != new.sessionID { owe(session) }
        debts.removeAll { $0.sessionID != nil && $0.sessionID == new.sessionID }
        (session, pendingLogin) = (new, nil)
        // A user without a name may be about to sign up.
        if !new.account.isAnonymous { verifications = [] }
        self.retrySecret = retrySecret
        isSignedOut = false
    }

    /// Remembers that the server has to be told of the end of `session`. The oldest debt gives way.
    package mutating func owe(_ session: StoredSession) {
        let token = session.refreshToken ?? session.accessToken
        guard !token.isEmpty else { return }
        debts.append(
            LogoutDebt(
                sessionID: session.sessionID, token: token,
                kind: session.refreshToken == nil ? session.tokenType : "refresh_token",
                keyThumbprint: session.isBound ? session.keyThumbprint : nil,
                expiresAt: session.idleExpiresAt ?? session.sessionExpiresAt))
        debts.removeFirst(max(0, debts.count - Self.debtsMax))
    }
}

/// A record with the version under which it is stored.
package struct LoadedRecord: RenewableRecord {
    package typealias Grant = TokenAnswer

    package var version: RecordVersion
    package var record: SessionRecord

    package init(version: RecordVersion, record: SessionRecord) { (self.version, self.record) = (version, record) }

    /// Reads a stored record.
    package init(_ stored: StoredRecord) throws(StoreError) {
        self.init(version: stored.version, record: try SessionRecord(parsing: stored.bytes))
    }

    package var renewability: Renewability {
        guard let session = record.session else { return .notSignedIn }
        return session.ending.map { .ended($0.reason) } ?? .renewable
    }

    /// The record after a change by a renewal.
    package func applying(_ change: RenewalMachine<LoadedRecord>.Change, at now: Int64) -> SessionRecord {
        var changed = record
        switch change {
        case .grant(let answer): changed.session?.take(answer)
        case .ended(let reason): changed.session?.ending = StoredSession.Ending(reason: reason, at: now)
        }
        return changed
    }
}
