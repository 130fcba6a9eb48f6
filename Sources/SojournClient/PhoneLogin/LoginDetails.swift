public import Foundation

/// What the user is shown of a login, as the server told it last.
public struct LoginDetails: Hashable, Sendable, Identifiable {
    /// The device that wants to be logged in.
    public struct Requester: Hashable, Sendable {
        /// The `User-Agent` of the device.
        public var userAgent: String?
        /// Its network address.
        public var remoteAddress: String?
        /// Its city and country, as far as the server knows them.
        public var place: String?
        /// Whether the user has used the browser before.
        public var isKnown: Bool
    }

    /// The login's ID, which is also that of the session that it starts.
    public var id: String
    /// Where it stands.
    public var status: LoginStatus
    /// `authorize`, `device`, `backchannel`, `app` or `enrolment`.
    public var kind: String
    /// The client that wants a session.
    public var clientID: String?
    /// The client's name for people.
    public var clientName: String?
    /// What the device shows as well, so that the user can compare; nil if it shows nothing (OpenID Connect CIBA).
    public var bindingMessage: String?
    /// What the client, which has proved itself, says before the user decides, as JSON; nil if it says nothing.
    public var announceInfo: String?
    /// What the client says after the login, as JSON; nil before, and if it says nothing.
    public var sessionInfo: String?
    /// What a device without a secret says before the user decides: one line of plain text, 200 characters at most. Anyone can have
    /// written it: show it in quotation marks as the words of the device, or not at all.
    public var announceQuote: String?
    /// What such a device says after the login, likewise.
    public var sessionQuote: String?
    /// Whether it enrolls this device with a new account.
    public var isRegistration: Bool
    /// The username of the account that an enrolment makes; nil: the user chooses it, or the account exists.
    public var username: String?
    /// Whether the second factor of an enrolment is the first one of its account.
    public var setsSecondFactor: Bool
    /// Whether it logs the app itself in at its backend.
    public var isAppLogin: Bool
    /// Whether the user has to type the number that the other device shows.
    public var needsNumber: Bool
    /// How many wrong second factors are left.
    public var attemptsLeft: Int?
    /// The device that wants to be logged in. For a login in the app it is empty.
    public var requester: Requester
    /// The city and country of this phone, as far as the server knows them.
    public var ownPlace: String?
    /// Whether the requester is known to be in another country than this phone. Ask twice: a code that was relayed comes from
    /// somewhere else.
    public var isInAnotherCountry: Bool
    /// Where the app leads the user after the approval of a login that a link began: it opens the URL, once, by the system. That
    /// finishes the login in the browser or the app that began it. Nil before the approval, after the login, and for every login that
    /// began otherwise.
    public var returnURL: URL?
    /// The account: of a login once the user has chosen it, of an enrolment from the beginning.
    public var accountID: String?
    /// For how many seconds the phone may be silent; nil: the login does not depend on pings.
    public var pingSeconds: Int64?
    /// In Unix seconds of the server.
    public var startedAt: Int64?
    /// When the time for the user's input is over, in Unix seconds of the server.
    public var inputUntil: Int64?
    /// In Unix seconds of the server; nil before the end.
    public var endedAt: Int64?
}

/// What opens the app's backend after an AppLogin.
public struct BackendAccess: Hashable, Sendable {
    /// Opens a web session once, or is exchanged once for tokens at `/oauth/token`.
    public var webNonce: String
    /// The page that opens the web session.
    public var url: String?
    /// When the nonce expires, in Unix seconds of the server.
    public var expiresAt: Int64?
}

/// How a login session behaves in this app. The options can demand more of the user than the server does, and never less.
public struct LoginSessionOptions: Sendable {
    /// Whether the session waits for the user at once. False: it stays in `READY_FOR_USER_INTERACTION` until
    /// `startUserInteraction`.
    public var skipsReadyForUserInteraction = true
    /// Whether the confirmation is left out if this phone has one account and a second factor follows. Without a second factor
    /// the user is asked all the same, because every login takes an act of the user.
    public var selectsSingleAccount = false
    /// Whether a second factor is demanded although the server does not.
    public var alwaysRequiresSecondFactor = false
    /// How long the session waits for the user; the server's own limit may be shorter.
    public var inputLimit: Duration = .seconds(180)
    /// The other accounts of this phone, each in a slot of its own. All slots must have the same
    /// `SojournConfiguration.deviceID`, because the server takes two devices for two phones.
    public var otherAccounts: [Sojourn] = []

    /// The default behaviour.
    public init() {}
}
