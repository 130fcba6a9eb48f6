public import Configuration
internal import Endpoints
internal import EventLoops
internal import Federation
internal import HTTP
internal import HTTPServer
internal import Deliveries
internal import SQLiteStore
public import Sessions
public import Sockets
internal import Synchronization
internal import TLS
internal import Telemetry

/// True from the start of the stop, so that `GET /readyz` fails. Requests are still answered.
private final class StopFlag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}

/// A server, which can start once.
public actor SojournServer {
    /// The time that a successor waits in addition to the stop timeout of the process before it.
    private static let succession = Duration.seconds(10)

    let configuration: ServerConfiguration
    let inherited: [InheritedListeners.Descriptor]
    let environment: Environment
    private let readyFile: ReadyFile?
    private let stopFlag = StopFlag()
    private let testClock: TestClock?
    /// The field `Date` of answers has the time of the database, because apps set their clocks by it.
    private let answerClock: LaterClock
    private let databaseWait: DatabaseWait
    private let retryAfter: RetryAfter
    private var running: Running?

    private struct Running {
        let application: Application
        let engine: HTTPServer
        let loops: EventLoopGroup
        let reloaders: [CertificateReloader]
        let maintenance: Task<Void, Never>
    }

    /// Creates a server that does not run yet.
    ///
    /// - Parameters:
    ///   - inherited: the listening sockets that the parent process passes instead of the configured addresses.
    ///   - readyFilePath: the path of the ready file; nil for none.
    ///   - testClock: a clock that admins move; nil: the time is that of `environment`.
    ///   - databaseWait: how long the start waits for a PostgreSQL database that is down.
    public init(
        _ configuration: ServerConfiguration, _ environment: Environment,
        inherited: [InheritedListeners.Descriptor] = [], readyFilePath: String? = nil, testClock: TestClock? = nil,
        databaseWait: Duration = .zero
    ) {
        self.configuration = configuration
        self.databaseWait = DatabaseWait(limit: databaseWait, logger: environment.logger)
        retryAfter = RetryAfter(random: environment.random)
        self.inherited = inherited
        self.testClock = testClock
        var environment = environment
        if let testClock {
            environment.clock = testClock.wallClock(over: environment.clock)
            environment.secondsPassed = testClock.secondsPassed(over: environment.secondsPassed)
            environment.testClock = testClock
        }
        self.environment = environment
        answerClock = LaterClock(until: environment.clock)
        readyFile = readyFilePath.map(ReadyFile.init)
    }

    /// The result of a start.
    public struct Start: Sendable {
        /// The addresses of the listeners.
        public let addresses: Addresses
        /// The admin key that a first start created. It is shown once and never stored.
        public let firstAdminKey: String?
    }

    /// Opens the database and the listeners. Requests are answered when this returns; earlier connections wait.
    public func start() async throws(StartError) -> Start {
        DescriptorLimit.raise(to: configuration.limits.connections + 128)
        let reloaders = try loadCertificates()
        try await reachDatabase()
        let (engine, loops) = try makeEngine()
        do throws(StartError) {
            let addresses = try listen(engine, reloaders)
            let application = try await openApplication(issuer: addresses.public)
            answerClock.become(application.database.clock)
            application.show(engine, waitingChanges: { [database = application.database] in database.waitingChanges })
            let outgoing: OutgoingMessages
            let geoDatabase: GeoDatabaseFile?
            let clocks: ClockComparison?
            let endpoints: Endpoints
            do throws(StartError) {
                geoDatabase = try configuration.geoDatabase(logger: environment.logger)
                outgoing = try application.outgoingMessages(configuration, environment, locations: geoDatabase)
                // After the database is open, because a server that still has it open needs the file of the socket.
                try listenToAdministrators(engine, addresses.adminSocket)
                try await application.beginServing()
                application.metrics.showCertificates(reloaders, engine)
                clocks = ClockComparison(application, environment)
                if let geoDatabase { application.metrics.showGeoDatabase(geoDatabase) }
                endpoints = application.endpoints(
                    retryAfter: retryAfter,
                    remoteLogins: configuration.remoteLogins(geoDatabase), console: consoleSettings(addresses),
                    machine: machineState(application, reloaders, geoDatabase, clocks),
                    languages: try configuration.pageLanguages(), testClock: testClock,
                    isStopping: { [stopFlag] in stopFlag.isSet })
                try beginAccepting(engine, endpoints)
                try writeReadyFile(addresses)
            } catch {
                await application.close()
                throw error
            }
            let clientDeliveries = application.clientDeliveries(configuration.server.privateReceivers, environment)
            let notices = application.notices(environment, locations: geoDatabase)
            let maintenance = Maintenance(
                context: application.context, logger: environment.logger, clockFile: application.clockFile,
                cleanUp: configuration.cleanUp, webhooks: outgoing.webhooks,
                clientDeliveries: clientDeliveries, lease: application.cleanUpLease(environment))
            let rechecks = application.rechecks(environment.logger)
            application.database.beginBuildingIndexes()
            let rewinds = RewindWatch(application, environment)
            let feedLag = FeedLag(application.database, application.metrics, environment.logger)
            running = Running(
                application: application, engine: engine, loops: loops, reloaders: reloaders,
                maintenance: Task {
                    await withDiscardingTaskGroup { group in
                        group.addTask { await maintenance.run() }
                        if let clocks { group.addTask { await clocks.run() } }
                        if let rewinds { group.addTask { await rewinds.run() } }
                        group.addTask { await maintenance.watchLogins(of: endpoints.phoneLogins) }
                        group.addTask { await maintenance.watchClocks() }
                        group.addTask { await maintenance.watchKeys() }
                        for notice in notices { group.addTask { await notice() } }
                        if let feedLag { group.addTask { await feedLag.run() } }
                        for deliveries in clientDeliveries { group.addTask { await deliveries.run() } }
                        group.addTask { await outgoing.run() }
                        if let geoDatabase { group.addTask { await geoDatabase.run() } }
                        for recheck in rechecks { group.addTask { await recheck.run() } }
                        for reloader in reloaders { group.addTask { await reloader.run() } }
                    }
                })
            return Start(addresses: addresses, firstAdminKey: application.firstAdminKey)
        } catch {
            await engine.stop(deadline: .zero)
            await loops.stop()
            throw error
        }
    }
}

// The steps of a start, and the stop.
extension SojournServer {
    /// Waits for the database before the server listens, so that a proxy sees a refused connection and asks another node.
    private func reachDatabase() async throws(StartError) {
        try await databaseWait.run { [configuration, environment] () throws(StartError) in
            try Database.reach(configuration, clock: environment.clock)
        }
    }

    /// Stops the server: removes the ready file, refuses new connections, and answers the requests in progress. When this
    /// returns, all acknowledged changes are on the disk. Requests that take longer than `deadline` are cut.
    public func stop(deadline: Duration) async {
        guard let running else { return }
        self.running = nil
        readyFile?.remove()
        stopFlag.set()
        running.maintenance.cancel()
        await running.engine.stop(deadline: deadline)
        await running.maintenance.value
        await running.loops.stop()
        await running.application.close()
        running.application.failures.flush()
    }

    /// Loads certificates and keys again. Unusable files are logged, and change nothing.
    public func reloadCertificates() {
        guard let running else { return }
        if running.reloaders.isEmpty { environment.logger.notice("no listener has a certificate: nothing to reload") }
        for reloader in running.reloaders { reloader.reload() }
    }

    private func loadCertificates() throws(StartError) -> [CertificateReloader] {
        var reloaders: [CertificateReloader] = []
        for files in [configuration.server.publicCertificate, configuration.server.adminCertificate] {
            guard let files else { continue }
            do throws(CertificateProblem) {
                reloaders.append(
                    try CertificateReloader(files, clock: environment.clock, logger: environment.logger))
            } catch { throw .certificate(error) }
        }
        return reloaders
    }

    private func makeEngine() throws(StartError) -> (HTTPServer, EventLoopGroup) {
        let count = configuration.limits.eventLoops
        do throws(EventLoopError) {
            let loops = try EventLoopGroup(count: count == 0 ? EventLoopGroup.coreCount : count)
            let clock = answerClock.wall
            let requestIDs = RequestIDMaker(environment.random)
            let engine = HTTPServer(
                configuration: configuration.limits.engine, loops: loops,
                handshakes: HandshakeQueue(
                    width: configuration.limits.tlsHandshakeWidth,
                    maximumWaiting: configuration.limits.tlsHandshakesWaiting),
                wallClock: { Int(clock.now.secondsSinceEpoch) },
                retryAfter: { [retryAfter] in retryAfter.seconds(isOverload: $0?.isOverload ?? false) },
                finishBuiltInResponse: { requestIDs.next().append(to: &$0.fields) })
            return (engine, loops)
        } catch { throw .system(error.description) }
    }

    /// Opens the database and makes the endpoints. With a shared port, the process that has the database open may be about to
    /// stop, so this process waits for it; connections wait in the queue meanwhile.
    private func openApplication(issuer: String) async throws(StartError) -> Application {
        let patience = configuration.server.reusesPort ? configuration.limits.stopTimeout + Self.succession : .zero
        let start = ContinuousClock.now
        var isLogged = false
        while true {
            do throws(StartError) {
                return try await databaseWait.run { [configuration, environment] () async throws(StartError) in
                    try await Application.open(configuration, environment, issuer: issuer)
                }
            } catch {
                guard case .database(.alreadyOpen) = error, patience > .zero else { throw error }
                if Task.isCancelled { throw .cancelled }
                guard ContinuousClock.now - start < patience else { throw error }
                if !isLogged { environment.logger.notice("waiting for the process that has the database to stop") }
                isLogged = true
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private func writeReadyFile(_ addresses: Addresses) throws(StartError) {
        guard let readyFile else { return }
        do throws(PrivateFile.Failure) {
            try readyFile.write(addresses)
        } catch { throw .readyFile(path: readyFile.path, reason: error.description) }
    }
}
