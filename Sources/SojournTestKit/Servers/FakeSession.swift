import SojournClient

/// A session of `FakeServer`. Times are milliseconds since 1970.
struct FakeSession {
    var id: String
    var userID: String
    var deviceID: String
    var clientID: String
    var mode: String
    /// What was granted, in tokens; the client's scope limits it.
    var scope: [String]
    /// The key to which the session is bound, in any unambiguous form.
    var key: String?
    /// The key that resumes the session.
    var deviceKey: String?
    var startedAt: Int64
    var parent = 0
    var child = 1
    var childAnsweredAt: Int64
    var childConfirmedAt: Int64?
    var childRequestKey: String?
    /// From when the idle time counts.
    var renewedAt: Int64
    /// The key that signs after the user has proved to be present.
    var presenceKey: String?
    /// The key to which messages are encrypted.
    var encryptionKey: PublicJWK?
    /// The PIN of the app.
    var pin: FakePIN?
    /// When the user was shown last, by way: `presence`, `password` or `id_token`.
    var shownAt: [String: Int64] = [:]
    /// The platform that the device has named.
    var platform: String?
    /// The verdict of the app's backend about app and device.
    var attestation: String?
    /// Why it has ended.
    var ending: String?

    /// Whether the presence key of the login has not signed yet.
    var isActivationPending: Bool { presenceKey != nil && shownAt["presence"] == nil }

    /// The table of convergent, confirmed rotation (`RefreshPolicy.rotate` of the server). Returns the word of a refusal, or nil
    /// if the child is granted.
    mutating func rotate(serial: Int, requestKey: String?, interval: Int64, now: Int64) -> String? {
        let sinceAnswer = now - childAnsweredAt
        let isRecent = sinceAnswer < interval
        let isBound = key != nil
        let isSameRequest = requestKey != nil && requestKey == childRequestKey
        let confirmation = childConfirmedAt.flatMap { $0 > childAnsweredAt ? $0 : nil }

        if serial == child {
            if isRecent {
                if !isBound, confirmation == nil, now > childAnsweredAt { childConfirmedAt = now }
                return nil
            }
            issueChild(serial + 1, of: serial, requestKey, now)
            return nil
        }
        if serial == parent {
            if let confirmation, !isBound {
                if isSameRequest || now - confirmation < interval { return nil }
                ending = "refresh_token_reused"
                return ending
            }
            if isRecent || isSameRequest || isBound {
                moveAnswer(interval: interval, now: now)
                return nil
            }
            issueChild(child + 1, of: serial, requestKey, now)
            return nil
        }
        if serial < child {
            if isBound { return nil }
            ending = "refresh_token_reused"
            return ending
        }
        // Newer than the stored child: the database was restored.
        issueChild(serial + 1, of: serial, requestKey, now)
        return nil
    }

    /// Whether `serial` is an older token that a request of that time (milliseconds) presents, after which the child was given out.
    /// A session that is bound to a key takes older tokens.
    func hasRotated(since sentAt: Int64, beyond serial: Int) -> Bool {
        key == nil && serial < child && serial != parent && sentAt <= childAnsweredAt
    }

    /// Whether a renewal that names this platform comes from the registered one: the first letters count.
    func isConfirmed(by named: String?) -> Bool {
        func family(_ text: String) -> String { text.prefix { $0.isLetter }.lowercased() }
        return platform.map { known in named.map { family($0) == family(known) } ?? false } ?? true
    }

    /// Begins the rotation interval anew, in steps, so that a duplicate under way meets no second rotation.
    mutating func moveAnswer(interval: Int64, now: Int64) {
        if now > childAnsweredAt, now - childAnsweredAt >= interval / 4 { childAnsweredAt = now }
    }

    /// Begins the idle time anew, in steps.
    mutating func noteRenewal(interval: Int64, now: Int64) {
        if now > renewedAt, now - renewedAt >= interval / 4 { renewedAt = now }
    }

    private mutating func issueChild(_ serial: Int, of parent: Int, _ requestKey: String?, _ now: Int64) {
        (self.parent, child) = (parent, serial)
        (childAnsweredAt, renewedAt) = (now, now)
        (childRequestKey, childConfirmedAt) = (requestKey, nil)
    }
}
