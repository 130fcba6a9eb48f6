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

    /// The time between two rounds. It is short enough for signing keys, which are published a day before their first use.
    static let period = Duration.seconds(300)

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

    /// Repeats all work until the task is cancelled.
    @concurrent func run() async {
        while !Task.isCancelled {
            watchClock()
            await sweep(pause: cleanUp.pause)
            await sweepForeignTokens(pause: cleanUp.pause)
            await sweepAnonymousUsers(pause: cleanUp.pause)
            await sweepEvents(pause: cleanUp.pause)
            await sweepRevocations(pause: cleanUp.pause)
            await forgetWebhooks()
            await sweepUsedTokens(pause: cleanUp.pause)
            await sweepFailedAttempts(pause: cleanUp.pause)
            await sweepLogins(pause: cleanUp.pause)
            try? await Task.sleep(for: Self.period)
            await maintainKeys()
        }
        watchClock()
    }

    /// Writes the memory of the clock guard to its file, and warns when the time is in doubt.
    func watchClock() {
        guard let watch = context.clockGuard else { return }
        let reading = watch.reading
        if reading.now != reading.earliest {
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

    /// Reads all sessions once, in steps, and deletes those that ended long enough ago. Returns the number of deleted ones.
    @discardableResult
    func sweep(pause: Duration) async -> Int {
        let policy = context.policy
        var cursor: Identifier<Session>?
        var deleted = 0
        while !Task.isCancelled {
            do throws(StoreError) {
                let now = settled
                let step = try await context.store.sweepSessions(after: cursor, limit: cleanUp.stepSize) { record in
                    policy.isForgotten(record, at: now)
                }
                deleted += step.deleted
                cursor = step.cursor
            } catch {
                logger.warning("clean-up stopped early", ["cause": .string("\(error)")])
                return deleted
            }
            if cursor == nil { break }
            try? await Task.sleep(for: pause)
        }
        if deleted > 0 { logger.info("old sessions deleted", ["count": .int(deleted)]) }
        return deleted
    }
}
