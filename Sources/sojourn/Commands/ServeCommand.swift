import CLinux
import Configuration
import Glibc
import Server
import Sessions
import Sockets
import Telemetry

/// `sojourn serve`
enum ServeCommand {
    static let settingFlags =
        [
            Command.Option(
                "--config", "FILE", "the configuration; else $SOJOURN_CONFIG, else ./sojourn.json5 if there is one")
        ]
        + Setup.flags.map(\.option)

    static let serve = Command(
        path: ["serve"], summary: "Runs the server until SIGTERM or SIGINT.",
        options: settingFlags + [
            Command.Option("--ready-file", "PATH", "a file with the addresses, which exists while the server answers"),
            Command.Option(
                "--wait", "DURATION", "waits so long, like 10m, for a PostgreSQL database that is down (default 0)"),
            Command.Option("--test-clock", nil, "lets admins move the clock and make logins, for tests of an app"),
        ],
        discussion: """
            Everything has a default: the server listens on 127.0.0.1 and keeps sojourn.sqlite in this folder. Its first start
            makes a root key beside the database (back it up), and prints an admin key. An option replaces the variable of
            the environment (SOJOURN_SERVER_PUBLIC_LISTEN …), and a variable replaces the key of the file.
            config/sojourn.json5 explains every key.

            Without a database it ends. With --wait it tries again each second, and listens only when the database answers; a
            wrong password, or a database of another program, ends it at once all the same.

            The first SIGTERM stops in good order, a second one at once. SIGHUP loads certificates and keys again.
            """,
        examples: [
            "sojourn serve", "sojourn serve --config /etc/sojourn/sojourn.json5 --wait 10m",
            "sojourn serve --database sqlite:/tmp/t.sqlite --public 127.0.0.1:0 --admin 127.0.0.1:0 --ready-file ready.json",
        ]
    ) { (arguments) async throws(Failure) in
        avoidPreemption()
        let configuration = try Setup.configuration(arguments)
        let environment = Environment.system(configuration.log, environment: Setup.environment)
        let supervisor = ServiceNotification(environment: Setup.environment)
        let (stops, reloads) = Signals.listen(withReloads: Signals.reloads(configuration))
        let firstStop = Task {
            for await _ in stops { break }
            // The next signal ends the process at once.
            Signals.restoreDefaults()
        }
        // A year at most, so that its microseconds are a number.
        let wait = Duration.seconds(min(try arguments.seconds("--wait") ?? 0, 31_536_000))
        if wait > .zero {
            // The supervisor's own limit for a start begins after the wait.
            supervisor?.send("EXTEND_TIMEOUT_USEC=\((wait.components.seconds + 90) * 1_000_000)")
        }
        let server = SojournServer(
            configuration, environment, inherited: try inherited(), readyFilePath: arguments.value("--ready-file"),
            testClock: try testClock(arguments, configuration, environment.logger), databaseWait: wait)
        guard let start = try await start(server, unless: firstStop) else { return }
        announce(start, configuration, environment.logger)
        supervisor?.send("READY=1")
        let reloading = Task { for await _ in reloads { await server.reloadCertificates() } }
        await firstStop.value
        reloading.cancel()
        environment.logger.notice("stopping")
        supervisor?.send("STOPPING=1")
        await server.stop(deadline: configuration.limits.stopTimeout)
        environment.logger.notice("stopped")
    }

    /// Sets the policy SCHED_BATCH (sched(7)), under which a thread that becomes ready does not interrupt a running one. Under
    /// load, the event loops and the writer would otherwise interrupt each other for every answer, and batches would shrink.
    private static func avoidPreemption() {
        // The parent process may have chosen another policy.
        guard sched_getscheduler(0) == 0 else { return }
        var parameters = sched_param()
        // Later threads inherit the policy from this one. If the system forbids it, the policy remains unchanged.
        sched_setscheduler(0, Int32(CLinux_batch), &parameters)
    }

    /// Starts the server; nil if a signal stopped it while it waited for another process.
    private static func start(
        _ server: SojournServer, unless stop: Task<Void, Never>
    ) async throws(Failure) -> SojournServer.Start? {
        let starting = Task { () async -> Result<SojournServer.Start, StartError> in
            do throws(StartError) { return .success(try await server.start()) } catch { return .failure(error) }
        }
        Task {
            await stop.value
            starting.cancel()
        }
        switch await starting.value {
        case .success(let start): return start
        case .failure(.cancelled): return nil
        case .failure(let error): throw Failure(.failed, error.description)
        }
    }

    /// The clock of `--test-clock`. The other nodes of a cluster would not move with it.
    private static func testClock(
        _ arguments: Arguments, _ configuration: ServerConfiguration, _ logger: Logger
    ) throws(Failure) -> TestClock? {
        guard arguments.has("--test-clock") else { return nil }
        guard configuration.database.isFile else {
            throw Failure(.failed, "--test-clock is for a server with a database file: use --database sqlite:PATH")
        }
        logger.warning("this is a test server: admins move its clock (--test-clock), and sessions end as they like")
        return TestClock()
    }

    /// The sockets that the parent process passes.
    private static func inherited() throws(Failure) -> [InheritedListeners.Descriptor] {
        guard let descriptors = InheritedListeners.descriptors(in: Setup.environment, pid: getpid()) else {
            throw Failure(.failed, "LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES contradict each other")
        }
        InheritedListeners.forgetEnvironment()
        return descriptors
    }

    private static func announce(_ start: SojournServer.Start, _ configuration: ServerConfiguration, _ logger: Logger) {
        if let key = start.firstAdminKey { tellAdminKey(key) }
        logger.notice(
            "ready",
            [
                "public": .string(start.addresses.public), "admin": .string(start.addresses.admin),
                "database": .string(configuration.database.url), "pid": .int(Int(getpid())),
                "version": .string(Release.version),
            ])
        if configuration.server.issuer == nil, !configuration.server.publicListen.isLoopback {
            logger.warning(
                "server.issuer is not set: tokens name \(start.addresses.public), which apps elsewhere cannot reach")
        }
    }

    /// Writes the key to standard output, because log collectors read standard error.
    static func tellAdminKey(_ key: String) {
        Terminal.write("admin key, shown this once: \(key)")
    }
}
