internal import HTTPClient
internal import Locks
public import Sessions
public import Telemetry

/// Sends the mails that wait in the database, each at least once until it expires. Any node claims a mail for one attempt, and
/// another one takes over when that node stops. Codes and notices have priorities of their own, so that no notice delays a code.
///
/// Two copies leave if a node stops between the relay's answer and its record, and after an answer in doubt. Both have the same
/// `Message-ID` and the same code.
public struct MailDeliveries: Sendable {
    /// The time between two looks at the database when nothing is due.
    private static let pause = Duration.seconds(1)
    /// The time between two counts for the metrics.
    private static let countPause = Duration.seconds(5)

    private let context: ServiceContext
    private let logger: Logger
    private let metrics: MailMetrics
    private let renderer: MailRenderer
    private let transports: [QueuedMail.Priority: any MailTransport]
    private let gate: Locked<MailGate>
    private let signals = [QueuedMail.Priority.codes: WakeSignal(), .notices: WakeSignal()]

    /// Deliveries that send nothing before `run`.
    public init(_ setting: MailSetting, context: ServiceContext, logger: Logger, metrics: MailMetrics) {
        (self.context, self.logger, self.metrics) = (context, logger, metrics)
        renderer = MailRenderer(
            setting.templates, issuer: context.issuer, notMeURL: { [context] in context.notMeURL(of: $0) })
        transports = Dictionary(
            uniqueKeysWithValues: QueuedMail.Priority.allCases.map { ($0, Self.transport(setting, context.clock)) })
        gate = Locked(
            MailGate(
                connections: setting.connections, perSecond: setting.perSecond, perHour: setting.perHour))
    }

    /// A way of mails with connections of its own.
    static func transport(_ setting: MailSetting, _ clock: WallClock) -> any MailTransport {
        switch setting.way {
        case .relay(var options):
            options.width = setting.connections
            return RelayTransport(client: SMTPClient(options))
        case .webhook(let target):
            return MailWebhookTransport(
                client: HTTPClient(HTTPClient.Options(width: setting.connections)), target: target, clock: clock)
        }
    }

    /// The time of one attempt. A relay may think for ten minutes about a content (RFC 5321 section 4.5.3.2.6), and a short time
    /// makes second copies, but a code is of no use then.
    private static func time(_ priority: QueuedMail.Priority) -> Duration {
        switch priority {
        case .codes: .seconds(60)
        case .notices: .seconds(300)
        }
    }

    /// Sends mails until the task is cancelled.
    @concurrent public func run() async {
        context.mails?.onWake { [signals] in for signal in signals.values { signal.ring() } }
        await withDiscardingTaskGroup { group in
            for priority in QueuedMail.Priority.allCases { group.addTask { await run(priority) } }
            group.addTask {
                while !Task.isCancelled {
                    await count()
                    try? await Task.sleep(for: Self.countPause)
                }
            }
        }
    }

    private func run(_ priority: QueuedMail.Priority) async {
        while !Task.isCancelled {
            if await step(priority) { continue }
            let now = context.clock.now
            if let held = gate.withLock({ $0.heldUntil }), held > now {
                await context.deliveries.wait(for: held - now)
                gate.withLock { $0.endPause(at: context.clock.now) }
            } else {
                await signals[priority]?.wait(for: Self.pause)
            }
        }
    }

    /// Sends the next mails of a priority. True if more may wait.
    func step(_ priority: QueuedMail.Priority) async -> Bool {
        let time = Self.time(priority)
        let allowed = gate.withLock { $0.take(priority, at: context.clock.now, trying: time) }
        guard allowed > 0 else { return false }
        do throws(StoreError) {
            // Longer than the attempt, so that no other node begins one meanwhile.
            let claim = try await context.claimMails(in: priority, limit: allowed, for: time + time / 2)
            if claim.mails.count < allowed {
                gate.withLock { $0.giveBack(allowed - claim.mails.count, of: priority, at: context.clock.now) }
            }
            for (kind, outcome) in claim.others {
                metrics.count(kind, outcome)
                if kind != .none, outcome != .obsolete {
                    logger.warning(
                        "a mail is not sent", ["kind": .string(kind.rawValue), "outcome": .string(outcome.rawValue)])
                }
            }
            await withDiscardingTaskGroup { group in
                for mail in claim.mails { group.addTask { await send(mail, within: time) } }
            }
            return !claim.isEmpty
        } catch {
            gate.withLock { $0.giveBack(allowed, of: priority, at: context.clock.now) }
            logger.warning("mails wait for the database", ["cause": .string("\(error)")])
            return false
        }
    }

    private func send(_ claimed: ClaimedMail, within time: Duration) async {
        let start = ContinuousClock.now
        let reply: MailReply
        if let mail = renderer.mail(claimed, context.verificationSecrets, at: context.clock.now),
            let transport = transports[claimed.mail.priority]
        {
            reply = await transport.send(mail, within: time)
            metrics.seconds.observe(ContinuousClock.now - start)
        } else {
            reply = .contentRefused("the root key of its code is not listed any more")
        }
        let now = context.clock.now
        let (held, hasFailed, failingSince) = gate.withLock { gate in
            let hasFailed = gate.failingSince != nil
            return (gate.note(reply, at: now), hasFailed, gate.failingSince)
        }
        metrics.note { $0.failingSince = failingSince }
        if case .relayFails = reply {
            context.deliveries.note(reply.withoutMailbox, of: DeliveryState.mails, at: now, for: held - now)
        } else {
            context.deliveries.forget(DeliveryState.mails)
            if hasFailed { logger.notice("mails are accepted again") }
        }
        do throws(StoreError) {
            let outcome = try await context.settle(claimed, reply, heldUntil: held)
            metrics.count(claimed.mail.kind, outcome)
            log(claimed.mail, reply, outcome)
        } catch {
            logger.warning(
                "the answer about a mail is not recorded, so that it may be sent twice",
                ["mail": .string("\(claimed.mail.id)"), "cause": .string("\(error)")])
        }
    }

    /// Logs an outcome without the reply, which may name the mailbox; `sojourn mail list` shows it.
    private func log(_ mail: QueuedMail, _ reply: MailReply, _ outcome: MailOutcome) {
        let fields: LogFields = [
            "mail": .string("\(mail.id)"), "kind": .string(mail.kind.rawValue), "tries": .int(mail.tries),
            "outcome": .string(outcome.rawValue),
        ]
        switch outcome {
        case .sent: logger.info("a mail was sent", fields)
        case .again: logger.notice("a mail was not accepted, and is tried again", fields)
        case .held:
            logger.warning("no mail is accepted", fields + ["cause": .string(reply.withoutMailbox)])
        case .refused, .dead, .expired, .obsolete:
            logger.warning("a mail was refused: sojourn mail list --dead", fields)
        }
    }

    /// Counts what waits, for the metrics. What the database does not answer stays as it was.
    private func count() async {
        let now = context.clock.now
        let (isFull, failingSince) = gate.withLock { ($0.isFull(at: now), $0.failingSince) }
        let counts = try? await context.store.read(.page) { (reader) throws(TransactionError) in
            try reader.mailCounts().value()
        }
        metrics.note { state in
            (state.isFull, state.failingSince) = (isFull, failingSince)
            if let counts { state.counts = counts }
        }
    }
}
