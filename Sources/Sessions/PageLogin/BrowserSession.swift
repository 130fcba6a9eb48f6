internal import Cryptography

/// What a browser keeps of its session: the session's id, with a tag, so that only this server can have made it. The session is
/// a row of the built-in client `browser`, so that everything that ends sessions ends it.
public struct BrowserHandle: Hashable, Sendable {
    /// The session.
    public let id: Identifier<Session>
    /// Whether the user wants to stay logged in. If not, the session is over after `shortIdle` without use.
    public let isKept: Bool

    /// How long a browser session goes on without use, unless the user wants to stay logged in.
    public static let shortIdle = Duration.seconds(1800)
}

extension Client {
    /// The id of the built-in client of browser sessions, which exists once a client has them.
    public static let browserID = "browser"

    /// The built-in client of browser sessions. It has no grant, so that no app can log in with its id.
    static func browser(createdAt now: Instant, epoch: Int64) -> Client {
        Client(id: browserID, name: "Browser", grantTypes: [], createdAt: now, epoch: epoch)
    }

    /// The start of the device ids of browser sessions that were made for this client, or for all that share them.
    var browserPlace: String {
        switch page.browserSession {
        case .shared: "shared-"
        case .client, .none:
            isOfAccountPages ? "account-" : Hex.encode(Array(sha256(Array(id.utf8)).prefix(8))) + "-"
        }
    }

    /// Whether this is the built-in client, for which the account pages of the server ask.
    var isOfAccountPages: Bool { id == Self.browserID }

    /// Whether a login for this client leaves a session in the browser.
    var keepsBrowserSession: Bool { isOfAccountPages || page.browserSession != .none }

    /// Whether a login for this client lets that session of a browser go on. The account pages belong to no app, so that they
    /// open by the session of any.
    func continues(_ session: Session) -> Bool { isOfAccountPages || session.device.id.hasPrefix(browserPlace) }
}

/// Writes and reads the values of session cookies: version, root key, kind, id, tag.
struct BrowserHandleCoder: Sendable {
    private static let prefix = "sjb_"
    private static let purpose = "sojourn browser session"
    private static let tagCount = 16

    private let keys: [(id: UInt8, mac: HMACSHA256Key)]

    init(rootKeys: RootKeys) {
        keys = rootKeys.all.map { ($0.id, HMACSHA256Key($0.derive(Self.purpose))) }
    }

    func encode(_ handle: BrowserHandle) -> String {
        let body = [keys[0].id, handle.isKept ? 1 : 0] + handle.id.bytes
        return Self.prefix + Base64URL.encode(body + keys[0].mac.authenticate(body).prefix(Self.tagCount))
    }

    /// The handle that `encode` wrote; nil for anything else.
    func decode(_ text: String) -> BrowserHandle? {
        guard text.hasPrefix(Self.prefix), text.utf8.count < 80,
            let bytes = Base64URL.decode(String(text.dropFirst(Self.prefix.count))),
            bytes.count == 2 + Identifier<Session>.byteCount + Self.tagCount
        else { return nil }
        let (body, tag) = (Array(bytes.dropLast(Self.tagCount)), Array(bytes.suffix(Self.tagCount)))
        guard let key = keys.first(where: { $0.id == bytes[0] }), bytes[1] <= 1,
            constantTimeEqual(tag, Array(key.mac.authenticate(body).prefix(Self.tagCount))),
            let id = Identifier<Session>(bytes: Array(body.dropFirst(2)))
        else { return nil }
        return BrowserHandle(id: id, isKept: bytes[1] == 1)
    }
}

extension PageLoginService {
    /// The value of the session cookie for a handle.
    public func cookie(_ handle: BrowserHandle) -> String { context.browserHandles.encode(handle) }

    /// The handle in a session cookie; nil if this server has not made it.
    public func handle(_ cookie: String) -> BrowserHandle? { context.browserHandles.decode(cookie) }

    /// Why the session of a browser ended; nil if it has not, or is gone.
    public func endReason(of handle: BrowserHandle) async throws(ServiceError) -> EndReason? {
        try await inStore(await store.session(handle.id))?.session.ending?.reason
    }

    /// The user of a browser's session, which may have ended; nil if it is gone.
    public func user(of handle: BrowserHandle) async throws(ServiceError) -> Identifier<User>? {
        try await inStore(await store.session(handle.id))?.session.userID
    }

    /// The session of a browser; nil if it has ended, or is not one of a browser.
    public func browserSession(_ handle: BrowserHandle) async throws(ServiceError) -> SessionRecord? {
        try await look(at: handle) { $0.isLiving($1, handle, at: $2) }
    }

    /// The session of a browser, if it opens the account pages. The look is no use of the session.
    public func accountSession(_ handle: BrowserHandle) async throws(ServiceError) -> SessionRecord? {
        try await look(at: handle) { $0.opensAccountPages($1, handle, at: $2) }
    }

    /// The session of a browser that a logout ends, with what began in it: also while the user is disabled, and after half an
    /// hour without use, which is no end of the apps' sessions.
    public func sessionToEnd(_ handle: BrowserHandle) async throws(ServiceError) -> SessionRecord? {
        try await look(at: handle) { policy, record, now in
            record.session.clientID == Client.browserID && policy.ending(of: record, at: now) == nil
        }
    }

    private func look(
        at handle: BrowserHandle, _ isFound: (RefreshPolicy, SessionRecord, Instant) -> Bool
    ) async throws(ServiceError) -> SessionRecord? {
        let now = context.clock.now
        let record = try await inStore(await store.wholeSession(handle.id))
        return record.flatMap { isFound(policy, $0, now) ? $0 : nil }
    }
}

extension Session {
    /// The end of the device id of a browser's session that lasts half an hour without use. No refresh reads more for it than
    /// for any other session.
    fileprivate static let shortEnd = "-short"

    /// The first instant at which the session opens nothing more in its browser for lack of use; nil: that of its lifetimes. The
    /// handle in the cookie decides, and the row shows it.
    public func browserEnd(_ settings: Settings) -> Instant? {
        guard clientID == Client.browserID, device.id.hasSuffix(Self.shortEnd) else { return nil }
        return shortIdleEnd(settings)
    }

    /// The first instant at which a browser has ended the session of a user that does not stay logged in.
    func shortIdleEnd(_ settings: Settings) -> Instant {
        settings.restores.idleStart(renewedAt, BrowserHandle.shortIdle) + BrowserHandle.shortIdle
    }
}

extension RefreshPolicy {
    /// Whether the session of a browser goes on at `now`.
    func isLiving(_ record: SessionRecord, _ handle: BrowserHandle, at now: Instant) -> Bool {
        opensAccountPages(record, handle, at: now) && record.user?.loginRefusal == nil
    }

    /// Whether the session of a browser opens the account pages at `now`: it also does while the user's own switch is on,
    /// because the user switches logins on again there.
    func opensAccountPages(_ record: SessionRecord, _ handle: BrowserHandle, at now: Instant) -> Bool {
        guard let user = record.user else { return false }
        return record.session.clientID == Client.browserID && user.disabledByAdmin == nil
            && ending(of: record, at: now) == nil
            && (handle.isKept && record.session.browserEnd(record.settings) == nil
                || now < record.session.shortIdleEnd(record.settings))
    }
}

extension RefreshPolicy {
    /// The authentication by which the session of a browser answers a request of that client without asking the user; nil if
    /// the user has to be asked.
    func reusable(
        _ record: SessionRecord, _ handle: BrowserHandle, _ phones: [BrowserPhone], for request: AuthorizationRequest,
        of client: Client, at now: Instant
    ) -> PastAuthentication? {
        guard client.page.browserSession != .none, !request.demandsLogin, !request.demandsChoice,
            isLiving(record, handle, at: now), record.session.device.id.hasPrefix(client.browserPlace),
            request.hintedUser ?? record.session.userID.description == record.session.userID.description
        else { return nil }
        return record.session.authentication(
            for: request, by: client.page, phoneLogins: phones.filter { answers($0, at: now) }.map(\.login),
            at: now)
    }

    /// Whether the session of a browser may answer by that phone at `now`: a phone that is gone or silent lets no browser in.
    public func answers(_ phone: BrowserPhone, at now: Instant) -> Bool {
        guard phone.login.isLoggedIn else { return phone.login.hasLetIn }
        if ending(of: phone.phone, at: now) != nil { return false }
        return phone.login.silentUntil(phone.phone.session, phone.phone.settings).map { now < $0 } ?? true
    }
}

/// A phone that has let a browser in.
public struct BrowserPhone: Hashable, Sendable {
    /// The login.
    public let login: PhoneLogin
    /// The session of the phone.
    public let phone: SessionRecord

    /// The phone of a login.
    public init(login: PhoneLogin, phone: SessionRecord) { (self.login, self.phone) = (login, phone) }
}

extension PageLoginCompletion {
    /// The session of the browser with the authentication that answers the request; nil if the user has to be asked.
    ///
    /// - Parameter handle: the handle that the browser has shown.
    func reusable(
        _ handle: BrowserHandle, for request: AuthorizationRequest, by policy: RefreshPolicy, at now: Instant
    ) -> (session: Session, PastAuthentication)? {
        guard let browser, let client, browser.userID == user.id,
            let past = policy.reusable(record(of: browser), handle, browserPhones, for: request, of: client, at: now)
        else { return nil }
        return (browser, past)
    }

    /// The record of the browser's session, with the built-in client.
    func record(of session: Session) -> SessionRecord {
        var record = SessionRecord(session: session, user: user, client: browserClient, settings: settings)
        record.phone = browserPhone
        return record
    }

    /// Whether the session of that handle opens the account pages of the user that logs in.
    private func isOfUser(_ handle: BrowserHandle, by policy: RefreshPolicy, at now: Instant) -> Bool {
        guard let browser else { return false }
        return browser.userID == user.id && policy.opensAccountPages(record(of: browser), handle, at: now)
    }

    /// Starts the session of the browser with a login, or lets it go on: the user has authenticated again in the same browser,
    /// and the apps that it let in remain its own. The session of another user or of another kind is replaced.
    ///
    /// - Parameters:
    ///   - isKept: whether the user wants to stay logged in; nil: as before.
    ///   - methods: the authentication methods of the login, with its mark.
    ///   - phoneLogin: the login of the phone that lets the browser in; nil: none does.
    mutating func noteBrowserSession(
        _ shown: BrowserHandle?, isKept: Bool?, id: Identifier<Session>, place: String, name: String?,
        _ authentication: PageLoginService.Authentication, _ methods: [String], phoneLogin: PhoneLogin? = nil,
        by policy: RefreshPolicy,
        from origin: Origin, at now: Instant
    ) -> BrowserHandle? {
        guard let client, client.keepsBrowserSession, browserClient != nil else { return nil }
        let isByProvider = authentication.isByProvider
        let own = shown.flatMap { isOfUser($0, by: policy, at: now) ? $0 : nil }
        // Another user has not asked to stay logged in here.
        let isKept = isKept ?? own?.isKept ?? false
        if let browser, let own, client.continues(browser), own.isKept == isKept,
            (browser.presence.identityAt != nil) == isByProvider,
            !isByProvider || browser.shownMethods == methods.shownMethods,
            browser.confirmation?.provider == authentication.method?.provider
        {
            var session = browser
            session.renewedAt = now
            if phoneLogin == nil {
                session.noteAuthentication(by: methods, authentication.presence(at: now), at: now)
            } else if !session.isByPhone {
                session.authenticationMethods += methods
            }
            kept = session
            return own
        }
        if let browser, browser.ending == nil, browser.clientID == Client.browserID {
            ended = Session.Ending(reason: .replaced, at: now)
            events.append(.ended(browser, .replaced, at: now, by: origin))
        }
        var session = Session(
            id: id, userID: user.id, clientID: Client.browserID,
            device: Device(
                id: client.browserPlace + place + (isKept ? "" : Session.shortEnd), name: name, platform: "browser"),
            scope: .empty,
            authenticationMethods: methods, startedAt: now, epoch: settings.epoch,
            presence: UserPresence(identityAt: isByProvider ? authentication.time(at: now) : nil),
            confirmation: authentication.confirmation(at: now))
        phoneLogin?.bind(&session)
        started = session
        events.append(AuditEvent(.sessionStarted, at: now, by: origin, session: session))
        return BrowserHandle(id: id, isKept: isKept)
    }
}

extension PageLoginService {
    /// Ends the session of a browser, and the app's session with that id if it began in this browser.
    public func logOut(
        _ handle: BrowserHandle, naming sessionID: String?, from origin: Origin
    ) async throws(ServiceError) {
        if let id = sessionID.flatMap({ Identifier<Session>($0) }) {
            let logins = try await inStore(await store.logins(ofSession: id))
            // Both ends name one another, whichever session is gone already.
            if logins.contains(where: { $0.browserSession == handle.id }) {
                _ = try await logout.end(id, .loggedOut, from: origin)
            }
        }
        _ = try await logout.end(handle.id, .loggedOut, from: origin)
    }
}
