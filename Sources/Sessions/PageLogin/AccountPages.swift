internal import Cryptography

/// A user before the account pages of the server: the session of a browser opened them.
public struct AccountPageSession: Sendable {
    /// The session, its user, client and settings.
    public let record: SessionRecord
    /// The user.
    public let user: User
    /// How long the session goes on without use.
    public let idle: Duration
    /// Whether the user has authenticated within the last minutes, as a change of how the account is guarded demands.
    public let isRecent: Bool

    /// The session of the browser.
    public var session: Session { record.session }

    /// Whether the user's own switch is on: no login succeeds, and the pages offer nothing but to switch logins on again.
    public var isPaused: Bool { user.disabledByUser != nil }
}

extension AuthorizationRequest {
    /// The request of the account pages for a login, after which the browser goes on to a page of this server.
    ///
    /// - Parameter page: the URL of the page.
    public init(ofAccountPage page: String, id: String) {
        self.init(id: id, clientID: Client.browserID, redirectURI: page, codeChallenge: "")
    }

    /// Whether the server itself has asked, for its account pages. The login then starts the session of the browser, and no
    /// code goes anywhere. No client can make such a request, because the built-in client has no grant and no redirect URI.
    public var isOfAccountPages: Bool { clientID == Client.browserID }
}

extension PageLoginService {
    /// How old the last use of a browser's session is before the account pages note another one.
    private static let useInterval = Duration.seconds(300)

    /// The user of a browser's session, for the account pages; nil if the session has ended. The visit counts as use of the
    /// session, to five minutes.
    public func accountVisit(_ handle: BrowserHandle) async throws(ServiceError) -> AccountPageSession? {
        let (now, policy) = (context.clock.now, policy)
        var found = try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) in try reader.wholeSession(handle.id) })
        guard let record = found, policy.opensAccountPages(record, handle, at: now) else { return nil }
        if now - record.session.renewedAt >= Self.useInterval {
            found = try await inStore(
                await store.updateSession(handle.id) { change in
                    guard policy.opensAccountPages(change.record, handle, at: now) else { return nil }
                    change.session.renewedAt = max(change.session.renewedAt, now)
                    return change.record
                } ?? nil)
        }
        guard let record = found, let user = record.user else { return nil }
        let lifetimes = policy.lifetimes(settings: record.settings, client: record.client, user: user)
        let shortEnd = handle.isKept ? nil : record.session.shortIdleEnd(record.settings)
        let ends = [lifetimes.idleEnd(of: record.session), lifetimes.finalEnd(of: record.session), shortEnd]
        return AccountPageSession(
            record: record, user: user, idle: (ends.compactMap(\.self).min() ?? now) - now,
            isRecent: PresenceRequirement.ofChanges.isMet(by: record.session, at: now))
    }

    /// Logs a user in for the account pages: the browser gets a session, and the one that it has goes on if it is the user's.
    /// The user's own switch does not prevent it.
    ///
    /// Throws `invalidCredentials` if the password was changed meanwhile, `passkeyRefused` if the passkey's answer was used before
    /// or is gone, and `loginRefused` if an admin has disabled the user.
    public func openAccountPages(
        as authentication: Authentication, in browser: Browser, from origin: Origin
    ) async throws(ServiceError) -> (handle: BrowserHandle, idle: Duration) {
        try await makeBrowserClient()
        let opened = try await openSession(as: authentication, in: browser, of: Client.browserID, from: origin) {
            approval, now in
            approval.refusal(ofAccountPages: authentication, from: origin, at: now)
        }
        // The built-in client was deleted at this moment.
        guard let opened else { throw .unauthorizedClient }
        return opened
    }

    /// Uses up the form that waits for the login of a request, because the page of the request stays good for another login.
    /// False: it was done before.
    public func use(_ request: AuthorizationRequest) async throws(ServiceError) -> Bool {
        let now = context.clock.now
        let token = OneTimeToken(
            .pendingForm, of: request.clientID, id: request.id, goodUntil: now + CarriedRequest.lifetime, at: now)
        return try await inStore(await store.use(token))
    }

    /// Adds the built-in client of browser sessions, unless it is there.
    private func makeBrowserClient() async throws(ServiceError) {
        guard try await client(Client.browserID) == nil else { return }
        let now = context.clock.now
        try await inStore(await store.updateCatalogue { $0.addBrowserClient(at: now) })
    }
}

extension PageLoginCompletion {
    /// Why the account pages cannot open; nil if they can.
    fileprivate mutating func refusal(
        ofAccountPages authentication: PageLoginService.Authentication, from origin: Origin, at now: Instant
    ) -> ServiceError? {
        if case .password(let proven) = authentication,
            let refusal = PresenceProof.password(hash: proven.passwordHash).refusal(for: user)
        {
            return refusal
        }
        if isReplay { return authentication.replayError }
        guard user.disabledByAdmin != nil else { return nil }
        events.append(
            AuditEvent(
                .loginRefused, at: now, by: origin, userID: user.id, clientID: Client.browserID,
                reason: RefusalReason.loginDisabledByAdmin.rawValue))
        return .loginRefused(.loginDisabledByAdmin)
    }
}
