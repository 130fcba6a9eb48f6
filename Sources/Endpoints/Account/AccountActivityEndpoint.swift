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
            let overview = try await services.accounts.activity(
                of: stay.user.id, before: cursor, limit: Self.entriesMax, steps: Self.readsMax
            ) { ActivityEvent($0, nil) != nil }
            let page = ActivityPage(
                header: stay.header, entries: overview.events.compactMap { entry($0, overview, stay.language) },
                older: overview.next.map { PagePath("/account/activity", ["cursor": "\($0)"]) },
                hasNewer: cursor != nil)
            return page.response(.ok, in: stay.language)
        }
    }

    private func entry(
        _ event: AuditEvent, _ overview: ActivityOverview, _ language: PageLanguage
    ) -> ActivityEntry? {
        let session = event.sessionID.flatMap { overview.sessions[$0] }
        guard let what = ActivityEvent(event, session) else { return nil }
        return ActivityEntry(
            what, at: event.at.secondsSinceEpoch,
            device: event.deviceName.map { Device.shownName(of: $0) } ?? session?.device.shownName,
            app: event.clientID.map { overview.clients[$0]?.name ?? $0 },
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
        case .loginFailed where reason == "wrong_second_factor": self = .factorFailed
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
        case .secondFactorAdded: self = .factorAdded
        case .secondFactorRemoved: self = .factorRemoved
        case .secondFactorBlocked: self = .factorBlocked
        case .recoveryCodesMade: self = .recoveryCodesMade
        case .recoveryCodeUsed: self = .recoveryCodeUsed
        case .pinSet, .pinChanged, .pinRemoved: self = .pinChanged
        case .pinLocked: self = .pinLocked
        case .passwordChanged: self = .passwordChanged
        case .passwordResetRequested: self = .resetRequested
        // Each session that ended has an event of its own.
        case .sessionsEnded, .sessionRestored, .authenticationModeChanged, .devicePlatformChanged, .attestationChanged,
            .attestationMissed, .emailChangeUndone, .verificationRequested, .verificationFailed, .deletionRequested,
            .deletionCancelled,
            .loginApproved, .loginRequested, .loginClaimed, .eventStreamChanged,
            .userChanged, .userDeleted, .passkeyChanged, .secondFactorUnblocked, .secondFactorPolicyChanged,
            .clientCreated, .clientChanged, .clientDeleted,
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
