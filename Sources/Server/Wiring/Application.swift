internal import Cryptography
public import Endpoints
internal import Federation
internal import HTTPClient
public import Sessions
public import Telemetry

/// Everything but the sockets: the store, the keys and the endpoints, put together for one database. A server puts
/// listeners in front of it; the command line, when no server runs, asks it directly.
public struct Application: Sendable {
    /// The database.
    public let database: Database
    /// What all use cases share.
    public let context: ServiceContext
    /// All numbers that `GET /metrics` shows.
    public let metrics: MetricsRegistry
    /// Where what is believed of the time is written down.
    let clockFile: ClockFile
    /// Where the root keys come from, for errors.
    let rootKeySource: String
    /// The admin key that the first start has made: shown once, kept nowhere.
    public let firstAdminKey: String?

    private let logger: Logger
    private let doorLimits: RateLimits
    private let scopes: Scope
    let providers: [IdentityProvider]
    let identityProviders: IdentityProviders?

    /// Opens the database, makes what a new one needs, and reads the keys. Nothing is hashed here and no session is
    /// read, so that a start takes milliseconds however much the database holds.
    ///
    /// - Parameter issuer: the `iss` of tokens where the configuration names none; nil: the configured public address.
    public static func open(
        _ configuration: Configuration, _ surroundings: Environment, issuer: String? = nil
    ) async throws(StartError) -> Application {
        let metrics = MetricsRegistry()
        let database = try Database.open(
            configuration, clock: surroundings.clock, StoreObservation(metrics, surroundings.logger))
        do throws(StartError) {
            let issuer =
                issuer
                ?? configuration.server.publicListen.baseURL(
                    isSecure: configuration.server.tlsCertificate != nil)
            return try await Application(database, metrics, configuration, surroundings, issuer: issuer)
        } catch {
            await database.close()
            throw error
        }
    }

    private init(
        _ database: Database, _ metrics: MetricsRegistry, _ configuration: Configuration,
        _ surroundings: Environment, issuer: String
    ) async throws(StartError) {
        self.database = database
        let store = database.store
        self.metrics = metrics
        logger = surroundings.logger
        doorLimits = configuration.limits.doorLimits
        scopes = configuration.server.scopesSupported.flatMap { Scope($0) } ?? .empty
        let isNew = try await Self.isNew(store)
        let source = configuration.rootKeySource(surroundings)
        let rootKeys = try Self.rootKeys(configuration, surroundings, mayCreate: isNew)
        let absoluteMaximum = configuration.sessions.absoluteMaximum
        let signingKeys = SigningKeys(
            store: store, rootKeys: rootKeys, algorithm: configuration.keys.algorithm,
            rotation: .seconds(86400 * configuration.keys.rotationDays), absoluteMaximum: absoluteMaximum,
            random: surroundings.random)
        let issuer = configuration.server.issuer ?? issuer
        let providers = try Self.providers(configuration, surroundings)
        self.providers = providers
        clockFile = ClockFile(path: configuration.database.path + ".clock")
        let clockGuard = ClockGuard(
            wall: surroundings.clock, passed: surroundings.secondsPassed, memory: clockFile.read())
        context = ServiceContext(
            store: store,
            policy: RefreshPolicy(
                absoluteMaximum: absoluteMaximum,
                recheckTerms: Dictionary(
                    uniqueKeysWithValues: providers.compactMap { provider in
                        provider.recheck.map { (provider.name, $0.terms) }
                    })), rootKeys: rootKeys,
            signingKeys: signingKeys,
            passwords: PasswordHasher(
                width: configuration.limits.passwordHashWidth, pendingMax: configuration.limits.passwordHashPending),
            clock: surroundings.clock, random: surroundings.random, issuer: issuer,
            audience: configuration.server.audience ?? issuer, clockGuard: clockGuard,
            proofs: configuration.dpop.policy, lockoutPolicy: configuration.limits.failedAttempts,
            passwordRules: configuration.limits.passwords, resetTokenLifetime: configuration.limits.resetTokenLifetime
        )
        identityProviders =
            providers.isEmpty
            ? nil
            : IdentityProviders(
                providers, client: HTTPClient(), clock: context.clock, metrics: metrics,
                logger: surroundings.logger)
        rootKeySource = source
        let firstStart = FirstStart(context: context)
        try await firstStart.checkSettings(absoluteMaximum: absoluteMaximum)
        if isNew { try await firstStart.makeDefaultClient() }
        if let secret = surroundings.adminKeyVariable {
            try await firstStart.addAdminKey(secret: secret)
            firstAdminKey = nil
        } else {
            firstAdminKey = isNew ? try await firstStart.makeAdminKey() : nil
        }
        // Last of all: a database without signing keys is a new one, so that a first start that was cut off begins anew.
        do throws(SigningKeys.Problem) {
            try await signingKeys.maintain(at: clockGuard.settled)
        } catch {
            switch error {
            case .store(let error): throw .store(error)
            case .wrongRootKey: throw .wrongRootKeys(source: source)
            }
        }
    }

    /// The endpoints of this application.
    public func endpoints(isStopping: @escaping @Sendable () -> Bool = { false }) -> Endpoints {
        var backups: Backups?
        if case .sqlite(let store) = database { backups = Backups(store, logger: logger) }
        return Endpoints(
            context: context, metrics: metrics, logger: logger, doorLimits: doorLimits, backups: backups,
            identityVerifier: identityProviders, scopes: scopes, isStopping: isStopping)
    }

    /// Takes note of what the configuration file allows, before the first request: a server does, and the command line does not.
    func beginServing() async throws(StartError) {
        do throws(ServiceError) { try await Administration(context).beginServing() } catch {
            throw FirstStart.startError(error)
        }
    }

    /// Waits for what was asked and lets go of the database.
    public func close() async { await database.close() }

    private static func isNew(_ store: any Store) async throws(StartError) -> Bool {
        do throws(StoreError) {
            return try await store.updateSigningKeys { keys, _ in keys.isEmpty }
        } catch { throw .store(error) }
    }

    /// The root keys that are there; nil when there is no file, and no variable.
    public static func existingRootKeys(
        _ configuration: Configuration, _ surroundings: Environment
    ) throws(StartError) -> RootKeys? {
        do throws(RootKeyFile.Problem) {
            if let variable = surroundings.rootKeyVariable { return try RootKeyFile.keys(fromVariable: variable) }
            return try RootKeyFile(path: configuration.rootKeyFile).load()
        } catch { throw .rootKeys(error) }
    }

    private static func rootKeys(
        _ configuration: Configuration, _ surroundings: Environment, mayCreate: Bool
    ) throws(StartError) -> RootKeys {
        if let keys = try existingRootKeys(configuration, surroundings) { return keys }
        let file = RootKeyFile(path: configuration.rootKeyFile)
        do throws(RootKeyFile.Problem) {
            guard mayCreate else { throw .missing(path: file.path) }
            return try file.create(random: surroundings.random)
        } catch { throw .rootKeys(error) }
    }
}

extension Configuration {
    /// Where the root keys come from, for errors.
    func rootKeySource(_ surroundings: Environment) -> String {
        surroundings.rootKeyVariable == nil
            ? "the root key file \(rootKeyFile)" : SpecialVariable.rootKey.rawValue
    }
}
