import Cryptography
import FoundationEssentials
import HTTPClient
import JOSE
import JSON
import PostgresFixture
import PostgresStore
import SQLiteStore
import Sessions
import Telemetry
import Testing

@testable import Federation
@testable import Server

/// What the sessions of a test are kept in.
enum RecheckDatabase: CaseIterable, Sendable {
    case sqlite, postgres
}

/// Two nodes on one database, and an identity provider that both ask again.
struct RecheckFixture: Sendable {
    /// How often the provider is asked, and how long its outages are bridged, in seconds.
    static let interval: Int64 = 86_400
    static let budget: Int64 = 43_200

    let clock: RaceClock
    let provider: RecheckProvider
    let store: any Store
    let context: ServiceContext
    let identities: IdentityProviders
    /// Of two nodes; with SQLite both are in one process.
    let nodes: [Rechecks]
    /// A node that begins when a test has it look.
    let newcomer: Rechecks

    var services: Services { Services(context) }
    var administration: Administration { Administration(context) }

    /// Gives `body` new nodes on that kind of database; `edit` changes how the provider is asked.
    static func with(
        _ database: RecheckDatabase, url: String? = nil, _ edit: (inout IdentityProvider.Recheck) -> Void = { _ in },
        _ body: (RecheckFixture) async throws -> Void
    ) async throws {
        let clock = RaceClock()
        let provider = RecheckProvider(clock.wall)
        defer { provider.stop() }
        var configuration = IdentityProvider(name: "acme", issuer: provider.issuer, audiences: ["app"])
        configuration.discoveryURL = OutboundURL(
            provider.issuer + "/.well-known/openid-configuration", plainLoopback: true)
        var recheck = IdentityProvider.Recheck(
            terms: RecheckTerms(interval: .seconds(interval), outageBudget: .seconds(budget)))
        recheck.deadline = .seconds(2)
        edit(&recheck)
        configuration.recheck = recheck
        switch database {
        case .sqlite:
            let folder = FileManager.default.temporaryDirectory.path + "/recheck-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let store = try SQLiteStore(path: folder + "/db", options: SQLiteStore.Options(clock: clock.wall))
            try await body(try await RecheckFixture([store, store], clock, provider, configuration, recheck))
            await store.close()
        case .postgres:
            let url = try url ?? PostgresServer.shared.newDatabase()
            let stores = try (0..<2).map { _ in
                try PostgresStore(url: url, options: PostgresStore.Options(clock: clock.wall))
            }
            try await body(try await RecheckFixture(stores, clock, provider, configuration, recheck))
            for store in stores { await store.close() }
        }
    }

    private init(
        _ stores: [any Store], _ clock: RaceClock, _ provider: RecheckProvider, _ configuration: IdentityProvider,
        _ recheck: IdentityProvider.Recheck
    ) async throws {
        (self.clock, self.provider, store) = (clock, provider, stores[0])
        let rootKeys = try #require(RootKeys([SecretKey.random()]))
        let scrypt = try #require(Scrypt(logN: 2, r: 1, p: 1))
        let maximum = Duration.seconds(31_536_000)
        let contexts = (stores + [stores[0]]).map { store in
            ServiceContext(
                store: store, policy: RefreshPolicy(absoluteMaximum: maximum, recheckTerms: ["acme": recheck.terms]),
                rootKeys: rootKeys,
                signingKeys: SigningKeys(
                    store: store, rootKeys: rootKeys, algorithm: .es256, rotation: .seconds(30 * 86400),
                    absoluteMaximum: maximum),
                passwords: PasswordHasher(scrypt: scrypt), clock: clock.wall, issuer: "https://login.example",
                audience: "https://api.example")
        }
        for context in contexts { try await context.signingKeys.maintain(at: clock.wall.now) }
        context = contexts[0]
        let identities = contexts.map { _ in
            IdentityProviders(
                [configuration], client: HTTPClient(), clock: clock.wall, metrics: MetricsRegistry(), logger: .silent)
        }
        self.identities = identities[0]
        let all = zip(contexts, identities).map { context, identities in
            Rechecks(
                name: "acme", recheck: recheck, checks: ProviderCheckService(context), asker: identities,
                clock: clock.wall,
                logger: .silent, metrics: RecheckMetrics(MetricsRegistry(), providers: ["acme"]))
        }
        (nodes, newcomer) = (all.dropLast(), all[all.count - 1])
        for node in nodes { _ = await node.round(limit: 1) }
        _ = try await administration.createClient(id: Client.mobileID, by: .system) { client in
            client.grantTypes = [.refreshToken, .jwtBearer, .login]
            return nil
        }
    }

    /// Logs in by an ID token, with that refresh token of the provider.
    func logIn(
        _ token: String? = "T1", device: String = "phone", subject: String = "u1", key: PhoneKey? = nil
    ) async throws -> TokenGrant {
        var request = SessionRequest(clientID: Client.mobileID, device: Device(id: device))
        request.deviceKey = key?.deviceKey
        request.providerRefreshToken = token
        let idToken = IdentityToken(provider: "acme", text: provider.idToken(["sub": .string(subject)]))
        let identity = try await services.federation.identity(of: idToken, by: identities, from: .system)
        return try await services.federation.logIn(request, as: identity, from: .system)
    }

    /// Refreshes; what comes of it is a value.
    func refresh(_ grant: TokenGrant) async -> Result<TokenGrant, ServiceError> {
        do throws(ServiceError) {
            return .success(
                try await services.refresh.refresh(
                    RefreshAttempt(token: grant.refreshToken ?? "", clientID: Client.mobileID), from: .system))
        } catch { return .failure(error) }
    }

    /// Goes on by the key that was registered at the login.
    func resume(_ grant: TokenGrant, by key: PhoneKey) async -> Result<TokenGrant, ServiceError> {
        let attempt = RefreshAttempt(
            token: key.assertion(for: grant.session, to: context), clientID: Client.mobileID, isOfDeviceKey: true)
        do throws(ServiceError) { return .success(try await services.deviceKeys.resume(attempt, from: .system)) } catch
        {
            return .failure(error)
        }
    }

    /// Lets the first check become due, and one node ask.
    @discardableResult func recheck(after seconds: Int64 = interval) async -> Rechecks.Round {
        clock.advance(by: seconds)
        return await nodes[0].round(limit: 8)
    }

    func session(_ grant: TokenGrant) async throws -> Session {
        try #require(try await store.session(grant.session.id)).session
    }

    func check(_ grant: TokenGrant) async throws -> ProviderCheck? {
        try await store.providerCheck(of: grant.session.id)
    }

    /// The reason for which a session has ended.
    func end(_ grant: TokenGrant) async throws -> EndReason? { try await session(grant).ending?.reason }
}

extension Result {
    /// The error, if it is one.
    var problem: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
