/// What an audit event ended, or allowed again, as far as the event alone tells how to do it again.
enum Ending: Hashable, Sendable {
    case session(Identifier<Session>, EndReason)
    case loginsDisabled(Identifier<User>)
    /// Ends nothing, but contradicts an earlier `loginsDisabled`, and is never applied again.
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
            .userChanged, .secondFactorRemoved, .secondFactorPolicyChanged, .recoveryCodesMade, .recoveryCodeUsed:
            return nil
        // These end nothing.
        case .verificationRequested, .verificationFailed, .emailChangeUndone, .deletionRequested, .deletionCancelled,
            .sessionStarted, .sessionContinued, .sessionRestored, .refreshTokenMisused, .authenticationModeChanged,
            .devicePlatformChanged, .attestationChanged, .attestationMissed, .loginApproved, .loginRequested,
            .loginClaimed, .loginAborted, .loginReported, .loginFailed, .loginRefused, .userCreated, .userNamed,
            .identityLinked, .passkeyAdded, .passkeyChanged, .pinSet, .clientCreated, .signingKeyCreated,
            .adminKeyCreated, .secondFactorAdded, .secondFactorBlocked, .secondFactorUnblocked, .backupStarted,
            .databaseRestored:
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
///
/// What is not surely right is reported and never applied: that logins are enabled again, and deletions of users and clients,
/// because an import may have created them again. The sessions that such a deletion ended have events of their own.
public struct LostEndings: UseCase {
    /// What became of an ending.
    public enum Outcome: Hashable, Sendable {
        /// It is in effect, or a later act contradicts it.
        case kept
        /// It is lost.
        case reported
        /// It was lost, and is in effect again.
        case applied
    }

    /// How many of a user's latest events are looked at.
    static let trailLength = 200

    let context: ServiceContext

    /// The endings in the database of `context`.
    public init(_ context: ServiceContext) { self.context = context }

    /// The endings that no later one of `entries` contradicts, in their order. Whatever the clocks of nodes said, one node
    /// has acknowledged them in this order.
    public static func standing(_ entries: [AcknowledgedEndings.Entry]) -> [AcknowledgedEndings.Entry] {
        // The users with a later switch: by an admin, of their own, and an admin's that can have included their own.
        var (byAdmin, own, both): (Set<Identifier<User>>, Set<Identifier<User>>, Set<Identifier<User>>) = ([], [], [])
        let standing = entries.reversed().filter { entry in
            let isOwn = entry.event.isOwnSwitch
            switch entry.event.ending {
            case .loginsDisabled(let id):
                if isOwn { return own.insert(id).inserted && !both.contains(id) }
                return byAdmin.insert(id).inserted
            case .loginsEnabled(let id):
                if isOwn { return own.insert(id).inserted }
                both.insert(id)
                return byAdmin.insert(id).inserted
            default: return true
            }
        }
        return standing.reversed()
    }

    /// Whether the trail has `event`, which concerns a user.
    public func isRecorded(_ event: AuditEvent) async throws(StoreError) -> Bool {
        guard let trail = try await trail(of: event) else { return true }
        return trail.contains { event.isSame(as: $0.event) }
    }

    /// Whether the trail, as far as it is read, reaches back to `event` and does not have it.
    public func isLost(_ event: AuditEvent) async throws(StoreError) -> Bool {
        guard let trail = try await trail(of: event), trail.count < Self.trailLength else { return false }
        return !trail.contains { event.isSame(as: $0.event) }
    }

    private func trail(of event: AuditEvent) async throws(StoreError) -> [RecordedEvent]? {
        guard let userID = event.userID else { return nil }
        return try await store.events(ofUser: userID, before: nil, limit: Self.trailLength)
    }

    /// Looks whether the database has lost the ending that `event` records. If so, and if `applies`, the ending is applied
    /// again where that is surely right, and its event is written as it was.
    public func restore(_ event: AuditEvent, applies: Bool) async throws(StoreError) -> Outcome {
        let isLost: Bool
        switch event.ending {
        case nil: return .kept
        case .loginsDisabled(let id), .loginsEnabled(let id): return try await restoreSwitch(of: id, event, applies)
        case .user(let id):
            // A user that was created again later is another one.
            guard let user = try await store.user(.id(id)), user.createdAt <= event.at else { return .kept }
            return .reported
        case .client(let id):
            let isThere = try await store.updateClient(id) { change in
                change.client.map { $0.createdAt <= event.at } ?? false
            }
            return isThere ? .reported : .kept
        case .session(let id, let reason): isLost = try await restoreEnd(of: id, reason, event, applies)
        case .allSessions: isLost = try await restoreEndOfAll(event, applies)
        case .clientTokens(let id):
            isLost = try await store.updateClient(id) { change in
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
        case .clientToken(let clientID, let id):
            isLost = try await restoreRevocation(of: id, ofClient: clientID, event, applies)
        case .adminKey(let id):
            isLost = try await store.updateAdminKeys { keys, events in
                guard let index = keys.firstIndex(where: { $0.id == id }) else { return false }
                guard applies else { return true }
                keys.remove(at: index)
                events.append(event)
                return true
            }
        }
        guard isLost else { return .kept }
        return applies ? .applied : .reported
    }

    /// Ends that session alone: the ends that came with it are events of their own, and one that was spared goes on.
    private func restoreEnd(
        of id: Identifier<Session>, _ reason: EndReason, _ event: AuditEvent, _ applies: Bool
    ) async throws(StoreError) -> Bool {
        guard let record = try await store.session(id), record.session.ending == nil else { return false }
        guard applies else { return true }
        return try await store.updateSession(id) { change in
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
    ) async throws(StoreError) -> Outcome {
        try await store.write(.accounts(of: [id])) { (transaction) throws(TransactionError) -> Outcome in
            let trail = try transaction.events(ofUser: id, before: .max, limit: Self.trailLength).value().map(\.event)
            let later = trail.filter { $0.isSwitch && ($0.at > event.at || event.isSame(as: $0)) }
            if later.contains(where: { $0.isOwnSwitch == event.isOwnSwitch }) { return .kept }
            // An admin can have enabled the user's own switch as well, which the event does not say.
            let isUnsure = event.isOwnSwitch && later.contains { $0.kind == .loginsEnabled }
            let isShort = trail.count == Self.trailLength && !trail.contains { $0.at <= event.at }
            let mayApply = applies && event.kind == .loginsDisabled && !isUnsure && !isShort
            let update = try transaction.updateUser(.id(id), reading: UserChangeRows()) { change -> Outcome in
                guard change.user.createdAt <= event.at else { return .kept }
                guard mayApply else { return .reported }
                change.disableLoginsAgain(event)
                return .applied
            }
            guard case .done(let outcome, _) = update else { return .kept }
            return outcome
        }
    }

    private func restoreEndOfAll(_ event: AuditEvent, _ applies: Bool) async throws(StoreError) -> Bool {
        try await store.updateSettings { change in
            guard (change.settings.revokedBefore?.at).map({ $0 < event.at }) ?? true else { return false }
            guard applies else { return true }
            change.revokeAll(at: event.at, by: Origin(event))
            return true
        }
    }

    /// An expired token needs no revocation, and the database forgets that of one.
    private func restoreRevocation(
        of id: String, ofClient clientID: String, _ event: AuditEvent, _ applies: Bool
    ) async throws(StoreError) -> Bool {
        let now = context.clock.now
        guard let expiry = event.tokenExpiry, expiry > now else { return false }
        let token = OneTimeToken(.clientToken, of: clientID, id: id, goodUntil: expiry, at: now)
        let (catalogue, isRevoked) = try await store.read(.short) { (reader) throws(TransactionError) in
            let (catalogue, isRevoked) = (reader.catalogue(), reader.isUsed(token))
            return (try catalogue.value(), try isRevoked.value())
        }
        guard !isRevoked, let client = catalogue.clients[clientID] else { return false }
        guard applies else { return true }
        return try await store.revoke(
            token, of: clientID, epoch: catalogue.settings.tokenEpoch(of: client), event)
    }
}

extension UserChange {
    /// Disables logins as `event` did, and never weaker than they are disabled now. The event of an admin does not say when
    /// access tokens end unless that changed.
    fileprivate mutating func disableLoginsAgain(_ event: AuditEvent) {
        let (isOwn, note) = (event.isOwnSwitch, event.reason)
        let isImmediate =
            isOwn
            ? note == User.LoginDisabling.Effective.immediate.rawValue || user.disabledByUser?.effective == .immediate
            : event.revokes == .userBlocked || user.rejectsAccessTokens
        let disabling = User.LoginDisabling(
            effective: isImmediate ? .immediate : .onExpiry, since: event.at, note: isOwn ? nil : note)
        switchLogins(event.kind, at: event.at, by: Origin(event), reason: note) { user in
            if isOwn { user.disabledByUser = disabling } else { user.disabledByAdmin = disabling }
        }
    }
}

extension AuditEvent {
    /// Whether the user turned the switch of logins, and no admin.
    fileprivate var isOwnSwitch: Bool { actor == Origin.userActor }

    /// Whether a switch of logins was turned.
    fileprivate var isSwitch: Bool {
        switch ending {
        case .loginsDisabled, .loginsEnabled: true
        default: false
        }
    }
}
