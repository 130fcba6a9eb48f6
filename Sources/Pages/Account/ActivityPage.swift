/// Something that happened to the account.
public enum ActivityEvent: Hashable, Sendable {
    /// A way to sign in.
    public enum Method: CaseIterable, Hashable, Sendable {
        case password, passkey, provider, phone, device, app, unknown
    }

    /// The reason of an end. The raw values are those of the API, in which other words may come up: these are `other`.
    public enum EndReason: String, CaseIterable, Sendable {
        case loggedOut = "logged_out"
        case replaced
        case revokedByUser = "revoked_by_user"
        case revokedByAdmin = "revoked_by_admin"
        case passwordChanged = "password_changed"
        case idleExpired = "idle_expired"
        case maxLifetimeReached = "max_lifetime_reached"
        case refreshTokenReused = "refresh_token_reused"
        case userDeleted = "user_deleted"
        case revokedByProvider = "revoked_by_provider"
        case recheckLost = "recheck_lost"
        case parentEnded = "parent_ended"
        case presenceLost = "presence_lost"
        case codeReused = "code_reused"
        case notMe = "not_me"
        case other

        /// The reason of a word on the wire.
        public init(wire: String) { self = EndReason(rawValue: wire) ?? .other }
    }

    /// A session began.
    case signedIn(Method)
    /// A session ended.
    case ended(EndReason)
    /// A login with a wrong password was refused.
    case signInFailed
    /// A login with right credentials was refused: paused, disabled or locked.
    case signInRefused
    /// A login with the phone was declined, or timed out.
    case signInAborted
    /// A refresh token was used twice.
    case tokenMisused
    /// A new password was stored.
    case passwordChanged
    /// A password reset was asked for.
    case resetRequested
    /// The e-mail address changed.
    case emailChanged
    /// Logins were paused.
    case loginsPaused
    /// Logins were resumed.
    case loginsResumed
    /// An identity provider was linked.
    case providerLinked
    /// An identity provider was unlinked.
    case providerUnlinked
    /// The account was created.
    case created
    /// A passkey was added.
    case passkeyAdded
    /// A passkey was removed.
    case passkeyRemoved
    /// An authenticator was added.
    case factorAdded
    /// An authenticator was removed.
    case factorRemoved
    /// The password was right, and the code of the second factor wrong.
    case factorFailed
    /// After too many wrong codes no code is taken.
    case factorBlocked
    /// Recovery codes were made.
    case recoveryCodesMade
    /// A recovery code was used.
    case recoveryCodeUsed
    /// A wrong PIN was entered in an app.
    case pinFailed
    /// The PIN of an app was set, changed or removed.
    case pinChanged
    /// The PIN of an app was locked.
    case pinLocked

    /// Whether the user should look at it.
    var isWarning: Bool {
        switch self {
        case .signInFailed, .factorFailed, .factorBlocked, .recoveryCodeUsed, .pinFailed, .pinLocked, .tokenMisused,
            .ended(.refreshTokenReused), .ended(.codeReused),
            .ended(.notMe):
            true
        default: false
        }
    }
}

/// One line of the history.
public struct ActivityEntry: Hashable, Sendable {
    /// What happened.
    public var event: ActivityEvent
    /// Seconds since 1970.
    public var at: Int64
    /// The name of the device.
    public var device: String?
    /// The name of the client.
    public var app: String?
    /// City and country.
    public var place: String?

    /// A line.
    public init(_ event: ActivityEvent, at: Int64, device: String? = nil, app: String? = nil, place: String? = nil) {
        self.event = event
        self.at = at
        self.device = device
        self.app = app
        self.place = place
    }
}

/// The history of the account in plain sentences, newest first.
public struct ActivityPage: HTMLPage {
    /// Name and navigation.
    public var header: AccountHeader
    /// The lines.
    public var entries: [ActivityEntry]
    /// The next page, `/account/activity?cursor=…`.
    public var older: PagePath?
    /// Whether newer lines come before these.
    public var hasNewer: Bool

    /// A page of the history.
    public init(header: AccountHeader, entries: [ActivityEntry], older: PagePath? = nil, hasNewer: Bool = false) {
        self.header = header
        self.entries = entries
        self.older = older
        self.hasNewer = hasNewer
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let list: HTML =
            entries.isEmpty
            ? "<p>\(words.noActivity)</p>"
            : "<ol class=\"list events\">\n\(entries.map { item($0, words) })</ol>"
        let pages = [
            hasNewer ? Controls.link(.accountActivity, words.newest) : nil,
            older.map { Controls.link($0, words.older) },
        ].compactMap(\.self)
        return header.page(
            .activity, language,
            content: """
                <p class="lead">\(words.activityLead)</p>
                \(list)
                \(pages.isEmpty ? nil : "<p class=\"ways\">\(pages.map { "<span>\($0)</span> " as HTML })</p>")
                """)
    }

    private func item(_ entry: ActivityEntry, _ words: any Words) -> HTML {
        // The sentence about a wrong PIN names the device itself.
        let named = entry.event == .pinFailed ? entry.device.map { DisplayName($0) } : nil
        let sentence: HTML = named.map(words.wrongPIN) ?? "\(words.activity(entry.event))"
        let places: [HTML] = [named == nil ? entry.device : nil, entry.app, entry.place].compactMap(\.self)
            .map { "\(DisplayName($0)) · " }
        return """
            <li\(attribute: "class", entry.event.isWarning ? "warn" : nil)><p>\(sentence)</p>
            <p class="sub">\(places)\(Controls.time(entry.at, words))</p></li>

            """
    }
}
