public import Configuration
internal import Cryptography
public import Endpoints
internal import Federation
internal import HTTPClient
public import Pages
public import Sessions
public import Telemetry

/// The store, the keys and the endpoints of one database: everything but the sockets. A server adds listeners; the command
/// line calls the endpoints directly when no server runs.
public struct Application: Sendable {
    /// The database.
    public let database: Database
    /// The services that all use cases share.
    public let context: ServiceContext
    /// The metrics of `GET /metrics`.
    public let metrics: MetricsRegistry
    /// The outcomes of the last hours, for the console.
    private let history: OutcomeHistory
    /// The endings that this node has acknowledged lately.
    var endings = AcknowledgedEndings()
    /// The file with the last time of the clock guard.
    let clockFile: ClockFile
    /// The admin key that the first start created. It is shown once and never stored.
    public let firstAdminKey: String?

    private let logger: Logger
    /// The log of failures that repeat.
    let failures: FailureLog
    private let rateLimits: RateLimits
    private let waiting: WaitingLimits
    private let issuerPath: IssuerPath.Arrival
    private let scopes: Scope
    let providers: [IdentityProvider]
    let identityProviders: IdentityProviders?

    /// Opens the database, creates the content of a new one, and reads the keys. A start takes milliseconds for a database of
    /// any size, because it hashes no password and reads no session.
    ///
    /// - Parameter issuer: the `iss` of tokens if the configuration has no issuer; nil for the configured public address.
    public static func open(
        _ configuration: ServerConfiguration, _ environment: Environment, issuer: String? = nil
    ) async throws(StartError) -> Application {
        let metrics = MetricsRegistry()
        let (clock, endings) = (LaterClock(until: environment.clock), AcknowledgedEndings())
        let history = OutcomeHistory(clock.wall)
        let failures = FailureLog(environment.logger)
        let database = try Database.open(
            configuration, environment,
            StoreObservation(metrics, history, failures, environment.logger, endings: endings))
        clock.become(database.clock)
        do throws(StartError) {
            var application = try await open(
                database, metrics, history, failures, configuration, environment, issuer: issuer)
            application.endings = endings
            return application
        } catch {
            await database.close()
            throw error
        }
    }

    private static func open(
        _ database: Database, _ metrics: MetricsRegistry, _ history: OutcomeHistory, _ failures: FailureLog,
        _ configuration: ServerConfiguration, _ environment: Environment, issuer: String?
    ) async throws(StartError) -> Application {
        let issuer = configuration.server.issuer ?? issuer ?? configuration.ownURL
        let isNew = try await isNew(database.store)
        let keys = try makeKeys(configuration, environment, store: database.store, mayCreate: isNew)
        let providers = try makeProviders(configuration, environment)
        let clockFile = ClockFile(path: configuration.database.path + ".clock")
        let clockGuard = ClockGuard(
            wall: database.clock, passed: environment.secondsPassed, memory: clockFile.read())
        let context = makeContext(
            configuration, environment, database, keys: keys, providers: providers,
            clockGuard: clockGuard, issuer: issuer)
        let firstAdminKey = try await FirstStart(context: context).run(
            isNew: isNew, absoluteMaximum: configuration.sessions.absoluteMaximum,
            adminKey: environment.adminKeyVariable)
        // The last step, because a database without signing keys counts as new: an interrupted first start begins again.
        do throws(SigningKeys.Problem) {
            try await keys.signing.maintain(at: clockGuard.settled)
        } catch {
            switch error {
            case .store(let error): throw .store(error)
            case .wrongRootKey: throw .wrongRootKeys(source: configuration.rootKeySource(environment))
            }
        }
        return Application(
            database: database, context: context, metrics: metrics, history: history, clockFile: clockFile,
            firstAdminKey: firstAdminKey, logger: environment.logger, failures: failures,
            rateLimits: configuration.limits.effectiveRateLimits, waiting: configuration.limits.effectiveWaitingLimits,
            issuerPath: configuration.server.issuerPath,
            scopes: configuration.server.scopesSupported.flatMap { Scope($0) } ?? .empty, providers: providers,
            identityProviders: makeIdentityProviders(providers, context, metrics, environment.logger))
    }

    /// The root keys, and the signing keys that they encrypt.
    private static func makeKeys(
        _ configuration: ServerConfiguration, _ environment: Environment, store: any Store, mayCreate: Bool
    ) throws(StartError) -> (root: RootKeys, signing: SigningKeys) {
        let rootKeys = try rootKeys(configuration, environment, mayCreate: mayCreate)
        let signingKeys = SigningKeys(
            store: store, rootKeys: rootKeys, algorithm: configuration.keys.algorithm,
            rotation: .seconds(86400 * configuration.keys.rotationDays),
            absoluteMaximum: configuration.sessions.absoluteMaximum, random: environment.random)
        return (rootKeys, signingKeys)
    }

    /// The services that all use cases share.
    private static func makeContext(
        _ configuration: ServerConfiguration, _ environment: Environment, _ database: Database,
        keys: (root: RootKeys, signing: SigningKeys), providers: [IdentityProvider], clockGuard: ClockGuard,
        issuer: String
    ) -> ServiceContext {
        let limits = configuration.limits
        let terms = providers.compactMap { provider in provider.recheck.map { (provider.name, $0.terms) } }
        return ServiceContext(
            store: database.store,
            policy: RefreshPolicy(
                absoluteMaximum: configuration.sessions.absoluteMaximum,
                recheckTerms: Dictionary(uniqueKeysWithValues: terms)),
            rootKeys: keys.root, signingKeys: keys.signing,
            passwords: PasswordHasher(width: limits.passwordHashWidth, pendingMax: limits.passwordHashPending),
            clock: database.clock, random: environment.random, issuer: issuer,
            audience: configuration.server.audience ?? issuer, clockGuard: clockGuard,
            proofs: configuration.dpop.policy, lockoutPolicy: limits.failedAttempts,
            passwordRules: limits.passwords, resetTokenLifetime: limits.resetTokenLifetime,
            passkeys: configuration.passkeyPolicy, mails: configuration.mails.areSent ? MailWaker() : nil,
            accountRules: configuration.accounts, secondFactorRules: limits.secondFactors,
            editable: Set(configuration.editable))
    }

    /// The verifier of the identity providers' tokens; nil without providers.
    private static func makeIdentityProviders(
        _ providers: [IdentityProvider], _ context: ServiceContext, _ metrics: MetricsRegistry, _ logger: Logger
    ) -> IdentityProviders? {
        if providers.isEmpty { return nil }
        return IdentityProviders(
            providers, client: HTTPClient(), clock: context.clock, metrics: metrics, logger: logger)
    }

    /// The endpoints of this application. `retryAfter` is shared with the engine; nil: a new one.
    public func endpoints(
        retryAfter: RetryAfter? = nil,
        remoteLogins: Proximity = Proximity(), console: ConsoleSettings = ConsoleSettings(),
        machine: MachineState = MachineState(), languages: PageLanguages = .builtIn, testClock: TestClock? = nil,
        isStopping: @escaping @Sendable () -> Bool = { false }
    ) -> Endpoints {
        var backups: Backups?
        if case .sqlite(let store) = database { backups = Backups(store, logger: logger) }
        return Endpoints(
            context: context, metrics: metrics, logger: logger, failures: failures, retryAfter: retryAfter,
            rateLimits: rateLimits, backups: backups,
            identityVerifier: identityProviders, remoteLogins: remoteLogins, scopes: scopes,
            waiting: waiting, console: console, history: history, machine: machine,
            languages: languages, issuerPath: issuerPath, testClock: testClock, isStopping: isStopping)
    }

    /// Records the longest session lifetime of the configuration in the database, before the first request. A server does
    /// this and the command line does not.
    func beginServing() async throws(StartError) {
        do throws(ServiceError) { try await Administration(context).beginServing() } catch {
            throw FirstStart.startError(error)
        }
    }

    /// Waits for pending work and closes the database.
    public func close() async { await database.close() }

    private static func isNew(_ store: any Store) async throws(StartError) -> Bool {
        do throws(StoreError) {
            return try await store.updateSigningKeys { keys, _ in keys.isEmpty }
        } catch { throw .store(error) }
    }

    /// The existing root keys; nil without a file and a variable.
    public static func existingRootKeys(
        _ configuration: ServerConfiguration, _ environment: Environment
    ) throws(StartError) -> RootKeys? {
        do throws(RootKeyFile.Problem) {
            if let variable = environment.rootKeyVariable { return try RootKeyFile.keys(fromVariable: variable) }
            return try RootKeyFile(path: configuration.rootKeyFile).load()
        } catch { throw .rootKeys(error) }
    }

    private static func rootKeys(
        _ configuration: ServerConfiguration, _ environment: Environment, mayCreate: Bool
    ) throws(StartError) -> RootKeys {
        if let keys = try existingRootKeys(configuration, environment) { return keys }
        let file = RootKeyFile(path: configuration.rootKeyFile)
        do throws(RootKeyFile.Problem) {
            guard mayCreate else { throw .missing(path: file.path) }
            return try file.create(random: environment.random)
        } catch { throw .rootKeys(error) }
    }
}

extension ServerConfiguration {
    /// The source of the root keys, for errors.
    func rootKeySource(_ environment: Environment) -> String {
        environment.rootKeyVariable == nil
            ? "the root key file \(rootKeyFile)" : SpecialVariable.rootKey.rawValue
    }
}
