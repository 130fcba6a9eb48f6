internal import Configuration
internal import Notifications
internal import Sessions
internal import Telemetry

/// What a running server does without being asked: rotates signing keys, and forgets sessions whose tombstones have
/// served their time, with what else is over: foreign tokens and old audit events.
struct Maintenance: Sendable {
    let context: ServiceContext
    let logger: Logger
    /// Where what is believed of the time is written down; nil: nowhere.
    var clockFile: ClockFile?
    /// What the clock is compared with; nil: with nothing.
    var clockComparison: ClockComparison?
    /// How fast old rows go, and which.
    var cleanUp = ServerConfiguration.CleanUp()
    /// Who is told of events.
    var webhooks: [Webhook] = []

    /// How often keys are looked after: the lead of a day in which a new one is published makes this soon enough.
    static let period = Duration.seconds(300)

    /// Works until the task is cancelled.
    @concurrent func run() async {
        while !Task.isCancelled {
            watchClock()
            await clockComparison?.compare()
            await sweep(pause: cleanUp.pause)
            await sweepForeignTokens(pause: cleanUp.pause)
            await sweepEvents(pause: cleanUp.pause)
            await sweepRevocations(pause: cleanUp.pause)
            await forgetWebhooks()
            await sweepUsedTokens(pause: cleanUp.pause)
            await sweepFailedAttempts(pause: cleanUp.pause)
            try? await Task.sleep(for: Self.period)
            await maintainKeys()
        }
        watchClock()
    }

    /// Writes down what is believed of the time, and tells when that is in doubt.
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

    /// The time to delete by: that of a clock which no jump moves (`ClockGuard`). A row or a key that was deleted because
    /// the clock was ahead for an hour would not come back with the hour.
    var settled: Instant { context.clockGuard?.settled ?? context.clock.now }

    /// Reads the signing keys, makes the next one when it is due, lets go those whose last token has ended.
    func maintainKeys() async {
        do throws(SigningKeys.Problem) {
            try await context.signingKeys.maintain(at: settled)
        } catch { logger.error("signing keys could not be renewed", ["cause": .string("\(error)")]) }
    }

    /// Walks once over all sessions, a step at a time, and deletes those that are forgotten. Returns how many.
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
