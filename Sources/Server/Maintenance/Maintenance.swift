internal import Configuration
internal import Deliveries
internal import Sessions
internal import Telemetry

/// The background work of a running server: it rotates signing keys, and deletes ended sessions, foreign tokens, anonymous
/// users without an active session, audit events and other rows after their retention.
struct Maintenance: Sendable {
    let context: ServiceContext
    let logger: Logger
    /// The file for the memory of the clock guard; nil for none.
    var clockFile: ClockFile?
    /// The rate of clean-up, and the retention of rows.
    var cleanUp = ServerConfiguration.CleanUp()
    /// The webhooks, which report events before clean-up deletes them.
    var webhooks: [Delivery] = []
    /// The deliveries to the receivers of clients, which report likewise.
    var clientDeliveries: [ClientDeliveries] = []

    /// The right of this node to clean up; nil: no other node shares the database.
    var lease: CleanUpLease?

    /// The time between two rounds. It is short enough for signing keys, which are published a day before their first use.
    static let period = Duration.seconds(300)

    /// The time between two looks for sessions that may be over. A client with a receiver hears of such an end within that time.
    static let lookPeriod = Duration.seconds(30)

    /// The time between two looks for logins with a phone that time has changed. The other device hears of it within that time.
    static let loginPeriod = Duration.seconds(5)

    /// Lets time change logins with a phone, until the task is cancelled.
    @concurrent func watchLogins(of service: PhoneLoginService) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.loginPeriod)
            do throws(ServiceError) {
                while try await service.sweep() > 0, !Task.isCancelled {}
            } catch { logger.warning("logins with a phone could not be ended", ["cause": .string("\(error)")]) }
        }
    }

    /// Cleans up as long as this node has the right, and looks for the right otherwise, until the task is cancelled.
    @concurrent func run() async {
        let pause = cleanUp.pause
        _ = await mayCleanUp()
        await withDiscardingTaskGroup { group in
            // An end that a client is told of does not wait for the deletion of many rows.
            group.addTask { await rounds(every: Self.lookPeriod) { await lookAtSessions(pause: pause) } }
            group.addTask { await rounds(every: Self.lookPeriod * 2) { await walkAlongSessions(pause: pause) } }
            group.addTask { await rounds(every: Self.period) { await sweepRows(pause: pause) } }
        }
        await lease?.leave()
    }

    /// Repeats `work` whenever this node may clean up, until the task is cancelled.
    private func rounds(every period: Duration, _ work: () async -> Void) async {
        while !Task.isCancelled {
            if await mayCleanUp() { await work() }
            try? await Task.sleep(for: period)
        }
    }

    /// Whether this node may do the next step of clean-up.
    func mayCleanUp() async -> Bool {
        if Task.isCancelled { return false }
        guard let lease else { return true }
        return await lease.take(inDoubt: context.clockGuard?.reading.isInDoubt ?? false)
    }

    /// Deletes the rows that nothing needs any more.
    private func sweepRows(pause: Duration) async {
        await sweepTombstones(pause: pause)
        await sweepForeignTokens(pause: pause)
        await sweepAnonymousUsers(pause: pause)
        await deleteDueAccounts(pause: pause)
        await sweepVerifications(pause: pause)
        await sweepEvents(pause: pause)
        await sweepRevocations(pause: pause)
        await forgetWebhooks()
        await sweepUsedTokens(pause: pause)
        await sweepFailedAttempts(pause: pause)
        await sweepLogins(pause: pause)
        await resealSeeds()
        await sweepMails(pause: pause)
    }

    /// Watches the clock, which no clean-up delays, until the task is cancelled.
    @concurrent func watchClocks() async {
        while !Task.isCancelled {
            watchClock()
            try? await Task.sleep(for: Self.period)
        }
        watchClock()
    }

    /// Rotates signing keys, which no clean-up delays, until the task is cancelled.
    @concurrent func watchKeys() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.period)
            await maintainKeys()
        }
    }

    /// Writes the memory of the clock guard to its file, and warns when the time is in doubt.
    func watchClock() {
        guard let watch = context.clockGuard else { return }
        let reading = watch.reading
        if reading.isInDoubt {
            logger.warning(
                "the clock has jumped, or the server stood still: sessions that ended in between are answered with 503 until the "
                    + "clock has run steadily for a twenty-fourth of the time; set it right if it is wrong",
                ["seconds": .int(Int((reading.now - reading.earliest).wholeSeconds))])
        }
        do throws(PrivateFile.Failure) {
            try clockFile?.write(watch.memory)
        } catch { logger.warning("the time cannot be written to its file", ["cause": .string(error.description)]) }
    }

    /// The time for deletions: the clock of `ClockGuard`, which does not follow a jump, because a row or a key that was deleted
    /// while the clock was ahead would be lost.
    var settled: Instant { context.clockGuard?.settled ?? context.clock.now }

    /// Reads the signing keys, creates the next one when it is due, and deletes keys without a valid token.
    func maintainKeys() async {
        do throws(SigningKeys.Problem) {
            try await context.signingKeys.maintain(at: settled)
        } catch { logger.error("signing keys could not be renewed", ["cause": .string("\(error)")]) }
    }
}
