/// What an audit event ended, or allowed again, as far as the event alone tells how to do it again.
enum Ending: Hashable, Sendable {
    case session(Identifier<Session>, EndReason)
    case loginsDisabled(Identifier<User>)
    /// Ends nothing, but contradicts an earlier `loginsDisabled`.
    case loginsEnabled(Identifier<User>)
    case user(Identifier<User>)
    case allSessions
    case client(String)
    case clientTokens(String)
    case clientToken(String, id: String)
    case adminKey(String)
}

extension AuditEvent {
    /// The ending that this event records; nil if it records none that can be done again by the event alone.
    var ending: Ending? {
        switch kind {
        case .sessionEnded:
            guard let sessionID, let reason = reason.flatMap(EndReason.init) else { return nil }
            return .session(sessionID, reason)
        case .loginsDisabled: return userID.map(Ending.loginsDisabled)
        // An unlocked user was not disabled.
        case .loginsEnabled: return reason == nil ? userID.map(Ending.loginsEnabled) : nil
        case .userDeleted: return userID.map(Ending.user)
        case .allSessionsRevoked: return .allSessions
        case .clientDeleted: return clientID.map(Ending.client)
        // Those of all clients end with all sessions.
        case .clientTokensEnded: return clientID.map(Ending.clientTokens)
        case .clientTokenRevoked:
            guard let clientID, let tokenID else { return nil }
            return .clientToken(clientID, id: tokenID)
        case .adminKeyDeleted: return reason.map(Ending.adminKey)
        // The ends of the single sessions are events of their own.
        case .sessionsEnded: return nil
        // What these need, the trail does not have: hashes of passwords, keys, whole values.
        case .passwordChanged, .passwordResetRequested, .passkeyRemoved, .identityUnlinked, .signingKeyWithdrawn,
            .pinChanged, .pinRemoved, .pinLocked, .settingsChanged, .clientChanged, .eventStreamChanged, .emailChanged,
            .userChanged:
            return nil
        // These end nothing.
        case .sessionStarted, .sessionContinued, .sessionRestored, .refreshTokenMisused, .authenticationModeChanged,
            .devicePlatformChanged, .attestationChanged, .attestationMissed, .loginApproved, .loginRequested,
            .loginClaimed, .loginAborted, .loginReported, .loginFailed, .loginRefused, .userCreated, .userNamed,
            .identityLinked, .passkeyAdded, .passkeyChanged, .pinSet, .clientCreated, .signingKeyCreated,
            .adminKeyCreated, .backupStarted, .databaseRestored:
            return nil
        }
    }

    /// Whether `recorded`, an event of the trail, is this one.
    func isSame(as recorded: AuditEvent) -> Bool {
        kind == recorded.kind && at == recorded.at && actor == recorded.actor && userID == recorded.userID
            && sessionID == recorded.sessionID && clientID == recorded.clientID && requestID == recorded.requestID
    }
}

/// Finds endings that the database has lost, and applies them again.
///
/// A fail-over loses a suffix of the commits. So an ending that is in effect was not lost, and one that is not in effect was
/// lost, or undone by an act that came after it. Such an act has survived as well, or it is newer: both are in the trail of the
/// user, with a later time, and then the ending is left alone. Ends of sessions are final, and no act contradicts them.
public struct LostEndings: UseCase {
    /// How many of a user's latest events are looked at.
    static let trailLength = 200

    let context: ServiceContext

    /// The endings in the database of `context`.
    public init(_ context: ServiceContext) { self.context = context }

    /// Whether the trail has `event`, which concerns a user.
    public func isRecorded(_ event: AuditEvent) async throws(StoreError) -> Bool {
        guard let userID = event.userID else { return true }
        let trail = try await store.events(ofUser: userID, before: nil, limit: Self.trailLength)
        return trail.contains { event.isSame(as: $0.event) }
    }

    /// Whether the database has lost the ending that `event` records. If so, and if `applies`, the ending is applied again, and
    /// its event is written as it was.
    public func restore(_ event: AuditEvent, applies: Bool) async throws(StoreError) -> Bool {
        switch event.ending {
        case nil: false
        case .session(let id, let reason): try await restoreEnd(of: id, reason, event, applies)
        case .loginsDisabled(let id): try await restoreSwitch(of: id, event, applies)
        case .loginsEnabled(let id): try await restoreSwitch(of: id, event, applies)
        case .user(let id): try await restoreDeletion(of: id, event, applies)
        case .allSessions: try await restoreEndOfAll(event, applies)
        case .client(let id):
            try await store.updateClient(id) { change in
                guard let client = change.client, client.createdAt <= event.at else { return false }
                guard applies else { return true }
                change.client = nil
                change.events.append(event)
                return true
            }
        case .clientTokens(let id):
            try await store.updateClient(id) { change in
                guard var client = change.client, let epoch = event.tokenEpoch, client.tokenEpoch < epoch else {
                    return false
                }
                guard applies else { return true }
                client.tokenEpoch = max(change.settings.epoch, client.tokenEpoch) + 1
                change.client = client
                var again = event
                again.tokenEpoch = client.tokenEpoch
                change.events.append(again)
                return true
            }
        case .clientToken(let clientID, let id): try await restoreRevocation(of: id, ofClient: clientID, event, applies)
        case .adminKey(let id):
            try await store.updateAdminKeys { keys, events in
                guard let index = keys.firstIndex(where: { $0.id == id }) else { return false }
                guard applies else { return true }
                keys.remove(at: index)
                events.append(event)
                return true
            }
        }
    }

    private func restoreEnd(
        of id: Identifier<Session>, _ reason: EndReason, _ event: AuditEvent, _ applies: Bool
    ) async throws(StoreError) -> Bool {
        guard let record = try await store.session(id), record.session.ending == nil else { return false }
        guard applies else { return true }
        return try await store.updateSessionAndCompanions(id, by: Origin(event)) { change in
            var session = change.session
            guard session.ending == nil else { return false }
            session.end(reason, at: event.at)
            change.keep(session, endedBy: Origin(event), at: event.at)
            return true
        } ?? false
    }

    /// The switch of logins. The trail decides, because another act may have turned the switch since.
    private func restoreSwitch(
        of id: Identifier<User>, _ event: AuditEvent, _ applies: Bool
    ) async throws(StoreError) -> Bool {
        try await store.write(.accounts(of: [id])) { (transaction) throws(TransactionError) in
            let trail = try transaction.events(ofUser: id, before: .max, limit: Self.trailLength).value().map(\.event)
            let isOvertaken = trail.contains { recorded in
                switch recorded.ending {
                case .loginsDisabled, .loginsEnabled:
                    recorded.isOwnSwitch == event.isOwnSwitch
                        && (recorded.at > event.at || event.isSame(as: recorded))
                default: false
                }
            }
            if isOvertaken { return false }
            let isDisabled = event.kind == .loginsDisabled
            let update = try transaction.updateUser(.id(id), asking: nil) { change in
                guard change.user.createdAt <= event.at else { return false }
                guard applies else { return true }
                let effective: User.LoginDisabling.Effective = event.revokes == .userBlocked ? .immediate : .onExpiry
                change.switchLogins(
                    event.kind, at: event.at, by: Origin(event), reason: isDisabled ? event.reason : nil
                ) { user in
                    let disabling = User.LoginDisabling(
                        effective: effective, since: event.at, note: event.isOwnSwitch ? nil : event.reason)
                    if event.isOwnSwitch {
                        user.disabledByUser = isDisabled ? disabling : nil
                    } else {
                        user.disabledByAdmin = isDisabled ? disabling : nil
                    }
                }
                return true
            }
            guard case .done(let isLost, _) = update else { return false }
            return isLost
        }
    }

    private func restoreDeletion(
        of id: Identifier<User>, _ event: AuditEvent, _ applies: Bool
    ) async throws(StoreError) -> Bool {
        let update = try await store.updateUser(.id(id)) { change in
            // An import may have created the user again since.
            guard change.user.createdAt <= event.at else { return false }
            guard applies else { return true }
            change.deletes = true
            change.ending = UserChange.EndingSessions(.userDeleted, at: event.at)
            change.events.append(event)
            return true
        }
        guard case .done(let isLost, _) = update else { return false }
        return isLost
    }

    private func restoreEndOfAll(_ event: AuditEvent, _ applies: Bool) async throws(StoreError) -> Bool {
        try await store.updateSettings { change in
            guard (change.settings.revokedBefore?.at).map({ $0 < event.at }) ?? true else { return false }
            guard applies else { return true }
            change.revokeAll(at: event.at, by: Origin(event))
            return true
        }
    }

    private func restoreRevocation(
        of id: String, ofClient clientID: String, _ event: AuditEvent, _ applies: Bool
    ) async throws(StoreError) -> Bool {
        guard applies else { return false }
        let catalogue = try await store.catalogue()
        guard let client = catalogue.clients[clientID] else { return false }
        // The record is kept for as long as a token that was issued then could last.
        let end = catalogue.settings.lastTokenEnd(catalogue.clients.values, issuedBy: event.at)
        let token = OneTimeToken(.clientToken, of: clientID, id: id, goodUntil: end, at: context.clock.now)
        return try await store.revoke(
            token, of: clientID, epoch: catalogue.settings.tokenEpoch(of: client), event)
    }
}

extension AuditEvent {
    /// Whether the user turned the switch of logins, and no admin.
    fileprivate var isOwnSwitch: Bool { actor == Origin.userActor }
}
