/// The rows of one moment, read by a procedure. Each method makes one request (see `Answer`); none of them holds a rule of the
/// domain.
///
/// `after` is the key of the last row that was read; nil starts with the first row. A list that is shorter than `limit` is the
/// last one.
public protocol StoreReader:
    UserReader, IdentityReader, ProviderCheckReader, ForeignTokenReader, PasskeyReader, SessionReader, UsedTokenReader,
    KeyReader, FailedAttemptsReader, AuditReader, RevocationReader, DeliveryReader, PINReader
{
    /// Settings and clients.
    func catalogue() -> Answer<Catalogue>

    // MARK: Tokens and checks beside sessions

    /// The login with that id.
    func login(_ id: Identifier<Session>) -> Answer<PageLogin?>

    /// The login whose code has that hash.
    func login(code hash: [UInt8]) -> Answer<PageLogin?>

    /// The logins on the page whose sessions belong to that session of a browser.
    func logins(inBrowser id: Identifier<Session>) -> Answer<[PageLogin]>

    /// The logins on the page that have continued that session by their codes, in the order of their ids.
    func logins(continuing id: Identifier<Session>) -> Answer<[PageLogin]>

    /// The logins on the page that the session of a browser has answered by that login with a phone.
    func logins(letInBy id: Identifier<Session>) -> Answer<[PageLogin]>

    /// The logins with a phone that the session of a browser has collected, the latest first.
    func phoneLogins(inBrowser id: Identifier<Session>) -> Answer<[PhoneLogin]>

    /// Every login on the page, in the order of their ids.
    func logins(after id: Identifier<Session>?, limit: Int) -> Answer<[PageLogin]>

    /// Every login with which the client may have got an ID token, in the order of their ids: those on the page, and those that
    /// backends have requested.
    func idTokenLogins(after id: Identifier<Session>?, limit: Int) -> Answer<[LoginReference]>

    /// The login with a phone that `key` finds.
    func phoneLogin(_ key: PhoneLogin.Lookup) -> Answer<PhoneLogin?>

    /// The living logins that depend on the session of a phone, in the order of their ids.
    func phoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<[PhoneLogin]>

    /// Whether the phone with that session has claimed a login that is not over.
    func hasPhoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<Bool>

    /// The logins with a phone, the newest first: those that phones of a user have claimed, that invite the user or that a backend
    /// has requested of the user, and those in a phase, if given.
    func phoneLogins(
        ofUser userID: Identifier<User>?, in phase: PhoneLogin.Phase?, after cursor: SessionCursor?, limit: Int
    ) -> Answer<[PhoneLogin]>

    /// Up to `limit` logins that time may have changed by `now`.
    func phoneLogins(dueBy now: Instant, limit: Int) -> Answer<[Identifier<Session>]>

    /// The number of logins that wait for a phone, at most `limit`.
    func waitingPhoneLoginCount(areInvitations: Bool, limit: Int) -> Answer<Int>

    /// Up to `limit` logins with a ping that is due by `now`, the oldest first.
    func duePings(by now: Instant, limit: Int) -> Answer<[LoginReference]>

    /// The number of logins that backends have requested of a user and that wait for the user at `now`.
    func openPushCount(to userID: Identifier<User>, at now: Instant) -> Answer<Int>
}

/// An installation of an app. It has at most one active session.
public struct SessionPlace: Hashable, Sendable {
    /// The user.
    public let userID: Identifier<User>
    /// The app.
    public let clientID: String
    /// The device.
    public let deviceID: String

    /// The installation of an app on a device of a user.
    public init(userID: Identifier<User>, clientID: String, deviceID: String) {
        (self.userID, self.clientID, self.deviceID) = (userID, clientID, deviceID)
    }

    /// The installation that a session belongs to.
    public init(of session: Session) {
        self.init(userID: session.userID, clientID: session.clientID, deviceID: session.device.id)
    }
}

/// A cursor in the list of a user's sessions, which is sorted by start and id, newest first.
public struct SessionCursor: Hashable, Sendable, CustomStringConvertible {
    /// The start of the last session that was listed.
    public let startedAt: Instant
    /// The id of that session.
    public let id: Identifier<Session>

    /// The cursor after a session.
    public init(after session: Session) { (startedAt, id) = (session.startedAt, session.id) }

    /// The cursor after a row with that start and that id.
    public init(startedAt: Instant, id: Identifier<Session>) { (self.startedAt, self.id) = (startedAt, id) }

    /// The cursor that `description` wrote; nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let startedAt = Int64(parts[0]), let id = Identifier<Session>(parts[1]) else {
            return nil
        }
        self.startedAt = Instant(secondsSinceEpoch: startedAt)
        self.id = id
    }

    /// Seconds since 1970, a full stop, the id.
    public var description: String { "\(startedAt.secondsSinceEpoch).\(id)" }
}
