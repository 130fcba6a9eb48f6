public import Sessions
public import Telemetry

/// Tells users by mail what has happened to their accounts: reads the audit trail in its order, and queues a mail for each event
/// that a user should know of. One of several nodes does, by a lease, as with webhooks.
///
/// The mails and the progress are written in one transaction, so that no event is told twice and none is left out. A mail goes to
/// the verified address alone, in the language of the account.
public struct MailNotices: Sendable {
    /// How long after its event a mail is still sent.
    static let lifetime = Duration.seconds(3 * 86_400)
    /// How long after the creation of a user no session is called new: it is that of the sign-up itself.
    static let firstLogin = Duration.seconds(600)
    private static let eventsMax = 100
    private static let sessionsMax = 1000

    private let context: ServiceContext
    private let logger: Logger
    private let node: String
    /// City and country of an address, in a language.
    private let place: (@Sendable (String, String) -> String?)?

    /// Notices that are queued by `run` alone. `node` is the name of this node among all nodes.
    public init(
        context: ServiceContext, logger: Logger, node: String, place: (@Sendable (String, String) -> String?)? = nil
    ) {
        (self.context, self.logger, self.node, self.place) = (context, logger, node, place)
    }

    /// Queues mails until the task is cancelled.
    @concurrent public func run() async {
        while !Task.isCancelled {
            if await step() { continue }
            try? await Task.sleep(for: Delivery.pause)
        }
        // Another node can take over before the lease expires.
        _ = try? await context.store.updateDelivery(DeliveryProgress.mailNotices) {
            [node, clock = context.clock] progress in
            progress?.leave(node, at: clock.now)
        }
    }

    /// Queues the mails about the next events. Returns true if more may wait.
    public func step() async -> Bool {
        guard let mails = context.mails else { return false }
        do throws(StoreError) {
            guard let progress = try await take() else { return false }
            let events = try await context.store.events(
                after: progress.cursor, limit: Self.eventsMax, userID: nil, sessionID: nil)
            guard let last = events.last else { return false }
            var notices: [QueuedMail] = []
            for event in events where event.event.at >= progress.since {
                if let notice = try await notice(about: event) { notices.append(notice) }
            }
            let isDone = try await queue(notices, upTo: last.id)
            if isDone, !notices.isEmpty { mails.wake() }
            return isDone && events.count == Self.eventsMax
        } catch {
            logger.warning("mails about accounts wait for the database", ["cause": .string("\(error)")])
            return false
        }
    }

    /// Takes or renews the lease; nil if another node holds it.
    private func take() async throws(StoreError) -> DeliveryProgress? {
        try await context.store.updateDelivery(DeliveryProgress.mailNotices) {
            [node, now = context.clock.now] progress in
            var current = progress ?? DeliveryProgress(since: now)
            guard current.take(by: node, at: now, for: Delivery.lease) else { return nil }
            progress = current
            return current
        }
    }

    /// Writes mails and progress. False if another node has taken over.
    private func queue(_ notices: [QueuedMail], upTo cursor: Int64) async throws(StoreError) -> Bool {
        try await context.store.write(.keys) { [node] (transaction) throws(TransactionError) in
            guard var progress = try transaction.delivery(DeliveryProgress.mailNotices).value(),
                progress.advance(to: cursor, by: node)
            else { return false }
            transaction.write(progress, ofDelivery: DeliveryProgress.mailNotices)
            for notice in notices { _ = try transaction.insert(notice).value() }
            return true
        }
    }

    /// The mail about an event; nil if the event needs none, or there is no address for it.
    private func notice(about recorded: RecordedEvent) async throws(StoreError) -> QueuedMail? {
        let event = recorded.event
        guard let kind = QueuedMail.Kind(about: event), let userID = event.userID,
            event.at + Self.lifetime > context.clock.now,
            let user = try await context.store.user(.id(userID)), user.profile.isEmailVerified,
            let email = user.profile.email
        else { return nil }
        if kind == .newDevice, try await !isNew(event, of: user) { return nil }
        let details = try await context.store.read(.short) { (reader) throws(TransactionError) in
            try reader.userDetails(userID).value()
        }
        // Without a language the mail has that of the configuration.
        let language = details?.language ?? ""
        var facts = ["at": "\(event.at.secondsSinceEpoch)"]
        facts["device"] = event.deviceName
        // The mail has the link of this session, by which its user ends it. The row has no link.
        if kind == .newDevice { facts["session"] = event.sessionID?.description }
        if kind == .recoveryCodeUsed { facts["count"] = event.reason?.split(separator: " ").last.map(String.init) }
        facts["client"] = event.clientID
        facts["place"] = event.remoteAddress.flatMap { place?($0, language.isEmpty ? "en" : language) }
        return QueuedMail(
            id: Identifier(random: context.random), kind: kind, userID: userID, email: email, language: language,
            facts: facts, event: recorded.id, createdAt: event.at, expiresAt: event.at + Self.lifetime,
            dueAt: context.clock.now)
    }

    private func isNew(_ event: AuditEvent, of user: User) async throws(StoreError) -> Bool {
        guard let deviceID = event.deviceID, event.at - user.createdAt >= Self.firstLogin else { return false }
        return try await !context.store.hasSession(
            of: user.id, onDevice: deviceID, before: event.at, lookMax: Self.sessionsMax)
    }
}

extension QueuedMail.Kind {
    /// What an event tells its user by mail; nil: nothing. Admins and imports tell users themselves what they do.
    init?(about event: AuditEvent) {
        let isByUser = event.actor == Origin.userActor
        switch event.kind {
        case .sessionStarted where isByUser: self = .newDevice
        case .passkeyAdded where isByUser: self = .passkeyAdded
        case .passwordChanged where isByUser: self = .passwordChanged
        case .loginsDisabled where isByUser: self = .loginsPaused
        case .secondFactorAdded where isByUser: self = .factorAdded
        case .secondFactorRemoved where isByUser: self = .factorRemoved
        case .secondFactorBlocked: self = .factorBlocked
        case .recoveryCodesMade where isByUser: self = .recoveryCodesMade
        case .recoveryCodeUsed: self = .recoveryCodeUsed
        default: return nil
        }
    }
}
