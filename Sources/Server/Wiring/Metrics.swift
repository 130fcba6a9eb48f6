internal import Endpoints
internal import HTTPServer
internal import PostgresStore
internal import SQLiteStore
internal import Sessions
internal import Telemetry

// The metrics of the store and of the engine. The endpoints count their own.

/// Counts the work of a store of either kind.
struct StoreObservation: Sendable {
    let sqlite: Observer
    let postgres: PostgresStore.Observer

    /// Counts for `metrics`, and the sessions in `history` as well. Failures, and the end of an outage, go to the log. `endings`
    /// remembers what PostgreSQL has acknowledged.
    init(
        _ metrics: MetricsRegistry, _ history: OutcomeHistory, _ log: FailureLog, _ logger: Logger,
        outage: Outage = Outage(), endings: AcknowledgedEndings = AcknowledgedEndings()
    ) {
        let batches = metrics.counters(
            "sojourn_store_batches_total", help: "Transactions of the database writer.",
            labels: [MetricLabel("outcome", values: ["committed", "refused"])])
        let (committed, refused) = (batches["committed"], batches["refused"])
        let changes = metrics.counter("sojourn_store_changes_total", help: "Changes in these transactions.")
        let commits = metrics.histogram(
            "sojourn_store_commit_duration_seconds", help: "Commits that wrote: mostly the wait for the disk.")
        let checkpoints = metrics.histogram(
            "sojourn_store_checkpoint_duration_seconds",
            help: "Copies of SQLite's log into the database: changes wait meanwhile.")
        let ends = metrics.counters(
            "sojourn_session_ends_total", help: "Ends of sessions that this node recorded, by reason.",
            labels: [MetricLabel("reason", values: EndReason.allCases.map(\.rawValue))])
        let counters = Dictionary(uniqueKeysWithValues: EndReason.allCases.map { ($0, ends[$0.rawValue]) })
        let changed = { @Sendable (transitions: [SessionTransition]) in
            for case .end(let reason) in transitions { counters[reason]?.increment() }
            history.count(transitions)
        }
        let failures = metrics.counter("sojourn_store_failures_total", help: "Errors of the database or the disk.")
        let failed = { @Sendable (sentence: String) in
            failures.increment()
            outage.fail()
            log.write(.error, "database failure", cause: sentence)
        }
        let answered = { @Sendable in
            guard let report = outage.succeed() else { return }
            log.flush()
            logger.notice(
                "the database answers again",
                ["seconds": .double(report.duration / .seconds(1)), "failures": .int(report.failures)])
        }
        let noted = { @Sendable (sentence: String) in logger.notice("database schema", ["note": .string(sentence)]) }
        sqlite = Observer(
            batchEnded: { batch in
                (batch.isCommitted ? committed : refused).increment()
                changes.increment(by: UInt64(batch.changes))
                if batch.wrote { commits.observe(batch.commitDuration) }
                if batch.isCommitted {
                    changed(batch.transitions)
                    answered()
                }
                if batch.wrote || !batch.isCommitted { history.note(commit: batch.isCommitted) }
            }, checkpointEnded: { checkpoints.observe($0) },
            logGrew: { bytes in
                logger.warning(
                    "a long read keeps the write-ahead log from being copied, and it grows until that read ends: a backup, "
                        + "or another program that has the file open",
                    ["mebibytes": .int(Int(bytes >> 20))])
            }, failed: failed, noted: noted)
        postgres = PostgresStore.Observer(
            batchEnded: { count, duration in
                changes.increment(by: UInt64(count))
                commits.observe(duration)
            },
            recorded: { events in
                endings.note(events)
                changed(events.compactMap(\.transition))
            },
            committed: {
                committed.increment()
                history.note(commit: true)
                answered()
            },
            failed: { sentence in
                failed(sentence)
                history.note(commit: false)
            }, noted: noted)
    }
}

extension Application {
    /// Shows the counters of the engine, and the size of the log of a database file.
    func show(_ engine: HTTPServer, waitingChanges: @escaping @Sendable () -> Int) {
        metrics.show(engine, passwords: context.passwords, waitingChanges: waitingChanges)
        if case .sqlite(let store) = database { metrics.showLog { Double(store.logBytes) } }
    }
}

extension MetricsRegistry {
    /// Shows the size of SQLite's log, as `readBytes` returns it.
    func showLog(_ readBytes: @escaping @Sendable () -> Double) {
        gauge(
            "sojourn_database_wal_bytes",
            help: "Size of SQLite's write-ahead log, which grows while a long read goes on.",
            reading: readBytes)
    }

    /// Shows the counters of the engine, of the password queue and of the database writer.
    func show(_ engine: HTTPServer, passwords: PasswordHasher, waitingChanges: @escaping @Sendable () -> Int) {
        let shown: [(String, String, @Sendable (HTTPServer.Statistics) -> Int)] = [
            ("sojourn_connections", "Connections open now.", { $0.open }),
            ("sojourn_connections_accepted", "Connections accepted since the start.", { $0.accepted }),
            ("sojourn_connections_rejected", "Connections refused because there were too many.", { $0.rejected }),
            ("sojourn_http_protocol_errors", "Requests that the parser refused.", { $0.protocolErrors }),
            ("sojourn_http_timeouts", "Connections ended because the client was too slow.", { $0.timeouts }),
            ("sojourn_http_handler_timeouts", "Requests whose answer took too long.", { $0.handlerTimeouts }),
            ("sojourn_http_pending_requests", "Requests that are being answered now.", { $0.pending }),
            ("sojourn_http_subscribers", "Streams and long polls that are open now.", { $0.streaming }),
            (
                "sojourn_http_buffered_bytes", "Memory of unfinished requests and answers, beyond 4 KiB a connection.",
                { $0.bufferedBytes }
            ),
            ("sojourn_accept_pauses", "Times that no file descriptors were left.", { $0.acceptPauses }),
        ]
        for (name, help, value) in shown {
            gauge(name, help: help) { [weak engine] in engine.map { Double(value($0.statistics)) } ?? 0 }
        }
        showLimits(engine)
        gauge("sojourn_store_waiting_changes", help: "Changes that wait for the database writer.") {
            Double(waitingChanges())
        }
        gauges(
            "sojourn_passwords_pending", help: "Passwords that are hashed or wait for it, by their origin.",
            label: "room"
        ) { [passwords] in
            PasswordHasher.Priority.allCases.map { ($0.rawValue, Double(passwords.pending($0))) }
        }
        counters(
            "sojourn_passwords_refused_total",
            help: "Passwords that got no place to wait in, or lost it to another sender, by their origin.",
            label: "room"
        ) { [passwords] in
            PasswordHasher.Priority.allCases.map { ($0.rawValue, passwords.refused($0)) }
        }
    }
}
