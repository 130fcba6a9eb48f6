/// The rows of one moment, read by a procedure. Each method makes one request (see `Answer`); none of them holds a rule of the
/// domain. They stand in the files of the features (`Accounts/UserRows.swift`); `SQLiteRows` and `PostgresRows` answer them.
///
/// `after` is the key of the last row that was read; nil starts with the first row. A list that is shorter than `limit` is the
/// last one.
public protocol StoreReader:
    UserReader, IdentityReader, ProviderCheckReader, ForeignTokenReader, PasskeyReader, SessionReader, PageLoginReader,
    PhoneLoginReader, UsedTokenReader, KeyReader, FailedAttemptsReader, AuditReader, RevocationReader, DeliveryReader,
    PINReader, CleanUpReader, VerificationReader, MailReader, UserDetailsReader, SecondFactorReader, LogoReader
{
    /// Settings and clients.
    func catalogue() -> Answer<Catalogue>
}

/// An installation of an app. It has at most one active session.
public struct Installation: Hashable, Sendable {
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
