internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The page of what has happened to the account.
extension Endpoints {
    /// The number of lines on a page, and how many events are read for it at most.
    private static let entriesMax = 20
    private static let readsMax = 10

    /// `GET /account/activity?cursor=`: the audit events of the user in sentences, newest first.
    func showAccountActivity(_ call: Call) async throws -> Response {
        try await account(call, .accountActivity) { stay in
            let query = AuthorizationParameters((try? call.request.queryItems()) ?? [])
            let cursor = query["cursor"].flatMap { QueryParameters.number($0) }
            let (found, next) = try await entries(of: stay.user, before: cursor, in: stay.language)
            let page = ActivityPage(
                header: stay.header, entries: found,
                older: next.map { PagePath("/account/activity", ["cursor": "\($0)"]) }, hasNewer: cursor != nil)
            return page.response(.ok, in: stay.language)
        }
    }

    /// The lines before a cursor, and the cursor of the next page; nil on the last one. Many events are no line, so that a page
    /// reads several times.
    private func entries(
        of user: User, before cursor: Int64?, in language: PageLanguage
    ) async throws(ServiceError) -> (entries: [ActivityEntry], next: Int64?) {
        let sessions = try await services.accounts.latestSessions(of: user.id, limit: 500)
        let byID = Dictionary(sessions.map { ($0.id, $0) }) { first, _ in first }
        let clients = try await services.administration.clients()
        let names = Dictionary(clients.map { ($0.id, $0.name ?? $0.id) }) { first, _ in first }
        var (entries, cursor) = ([ActivityEntry](), cursor)
        for _ in 0..<Self.readsMax {
            let events = try await services.accounts.history(of: user.id, before: cursor, limit: Self.entriesMax)
            for recorded in events {
                let event = recorded.event
                let session = event.sessionID.flatMap { byID[$0] }
                if let entry = entry(event, session, names, language) { entries.append(entry) }
                cursor = recorded.id
                if entries.count == Self.entriesMax { return (entries, cursor) }
            }
            if events.count < Self.entriesMax { return (entries, nil) }
        }
        return (entries, cursor)
    }

    private func entry(
        _ event: AuditEvent, _ session: Session?, _ clientNames: [String: String], _ language: PageLanguage
    ) -> ActivityEntry? {
        guard let what = ActivityEvent(event, session) else { return nil }
        return ActivityEntry(
            what, at: event.at.secondsSinceEpoch,
            device: event.deviceName.map { Device.shownName(of: $0) } ?? session?.device.shownName,
            app: event.clientID.map { clientNames[$0] ?? $0 },
            place: event.actor == Origin.userActor ? event.remoteAddress.flatMap { placeName($0, in: language) } : nil)
    }
}

extension ActivityEvent {
    /// What an audit event tells its user; nil: nothing.
    ///
    /// - Parameter session: the session of the event, if it is still known.
    init?(_ event: AuditEvent, _ session: Session?) {
        let reason = event.reason ?? ""
        switch event.kind {
        case .sessionStarted, .sessionContinued: self = .signedIn(session?.signInMethod ?? .unknown)
        case .sessionEnded: self = .ended(EndReason(wire: reason))
        case .refreshTokenMisused: self = .tokenMisused
        case .loginFailed where reason.hasPrefix("wrong_password"): self = .signInFailed
        case .loginFailed where reason == PIN.wrongReason: self = .pinFailed
        case .loginFailed: self = .signInRefused
        case .loginRefused: self = .signInRefused
        case .loginAborted: self = .signInAborted
        case .loginReported: self = .ended(.notMe)
        case .loginsDisabled: self = .loginsPaused
        case .loginsEnabled: self = .loginsResumed
        case .userCreated, .userNamed: self = .created
        case .emailChanged: self = .emailChanged
        case .identityLinked: self = .providerLinked
        case .identityUnlinked: self = .providerUnlinked
        case .passkeyAdded: self = .passkeyAdded
        case .passkeyRemoved: self = .passkeyRemoved
        case .pinSet, .pinChanged, .pinRemoved: self = .pinChanged
        case .pinLocked: self = .pinLocked
        case .passwordChanged: self = .passwordChanged
        case .passwordResetRequested: self = .resetRequested
        // Each session that ended has an event of its own.
        case .sessionsEnded, .sessionRestored, .authenticationModeChanged, .devicePlatformChanged, .attestationChanged,
            .attestationMissed,
            .loginApproved, .loginRequested, .loginClaimed, .eventStreamChanged,
            .userChanged, .userDeleted, .passkeyChanged, .clientCreated, .clientChanged, .clientDeleted,
            .clientTokensEnded, .clientTokenRevoked, .settingsChanged, .allSessionsRevoked, .signingKeyCreated,
            .signingKeyWithdrawn, .adminKeyCreated,
            .adminKeyDeleted, .backupStarted, .databaseRestored:
            return nil
        }
    }
}

extension Session {
    /// How the session began.
    fileprivate var signInMethod: ActivityEvent.Method {
        if authenticationMethods.contains("pwd") { return .password }
        if authenticationMethods.contains(PhoneLogin.authenticationMethod) { return .phone }
        if authenticationMethods.contains(where: { ["hwk", "swk"].contains($0) }) { return .passkey }
        return confirmation != nil || presence.identityAt != nil ? .provider : .unknown
    }
}

extension Route {
    static let showAccountActivity = Route(
        .get, "/account/activity", errorFormat: .page, .open { try await $0.showAccountActivity($1) },
        Operation(
            "showAccountActivity", .accountPages, "What has happened to the account",
            "The audit events of the user in sentences, newest first.",
            parameters: ["cursor.activity"], answers: [.page, .toLogin]))
}
