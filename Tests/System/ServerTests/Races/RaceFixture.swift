import Cryptography
import Endpoints
import FoundationEssentials
import SQLiteStore
import Sessions
import Synchronization
import Telemetry

/// A clock that a test moves, in seconds.
final class RaceClock: Sendable {
    private let seconds = Atomic<Int64>(1_800_000_000)

    var wall: WallClock {
        WallClock { Instant(secondsSinceEpoch: self.seconds.load(ordering: .sequentiallyConsistent)) }
    }

    func advance(by count: Int64) { seconds.add(count, ordering: .sequentiallyConsistent) }
}

/// The domain on a real database in a folder of its own: what a server runs, without its sockets.
struct RaceFixture: Sendable {
    /// The rotation interval `W` of a new database.
    static let rotationInterval: Int64 = 120
    static let password = "correct horse battery"

    let folder: String
    let store: SQLiteStore
    let context: ServiceContext
    let services: Services
    let accounts: AccountService
    let administration: Administration
    let clock = RaceClock()

    /// Gives `body` a new server with the client `mobile`; `edit` changes the options of its store.
    static func with(
        _ edit: (inout SQLiteStore.Options) -> Void = { _ in }, _ body: (RaceFixture) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/race-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        do {
            let stage = try await RaceFixture(folder, edit)
            try await body(stage)
            await stage.store.close()
        } catch {
            try FileManager.default.removeItem(atPath: folder)
            throw error
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    private init(_ folder: String, _ edit: (inout SQLiteStore.Options) -> Void) async throws {
        self.folder = folder
        var options = SQLiteStore.Options(clock: clock.wall)
        edit(&options)
        store = try SQLiteStore(path: folder + "/db", options: options)
        guard let rootKeys = RootKeys([SecretKey.random()]), let scrypt = Scrypt(logN: 2, r: 1, p: 1) else {
            throw RaceStageProblem()
        }
        let maximum = Duration.seconds(31_536_000)
        let signingKeys = SigningKeys(
            store: store, rootKeys: rootKeys, algorithm: .es256, rotation: .seconds(30 * 86400),
            absoluteMaximum: maximum)
        try await signingKeys.maintain(at: clock.wall.now)
        context = ServiceContext(
            store: store, policy: RefreshPolicy(absoluteMaximum: maximum), rootKeys: rootKeys,
            signingKeys: signingKeys, passwords: PasswordHasher(scrypt: scrypt), clock: clock.wall,
            issuer: "https://login.example", audience: "https://api.example")
        services = Services(context)
        accounts = AccountService(context)
        administration = Administration(context)
        _ = try await administration.createClient(id: Client.mobileID, by: .system) { client in
            client.scope = Scope(Scope.account) ?? .empty
            return nil
        }
    }

    /// Every call of this server over HTTP, without sockets.
    func endpoints(logger: Logger = .silent) -> Endpoints {
        Endpoints(context: context, metrics: MetricsRegistry(), logger: logger)
    }

    /// Makes a user with the password `password`.
    func makeUser(_ username: String) async throws -> User {
        try await administration.createUser(
            username: username, password: Self.password, profile: User.Profile(), offlineSessionMax: nil, by: .system)
    }

    /// Logs a user in, as a backend does.
    func logIn(_ user: User, device: String = "phone") async throws(ServiceError) -> TokenGrant {
        try await services.login.mintSession(
            SessionRequest(clientID: Client.mobileID, device: Device(id: device)), for: .id(user.id), from: .system)
    }

    /// Refreshes; what comes of it is a value.
    func refresh(_ token: String, idempotencyKey: String? = nil) async -> Result<TokenGrant, ServiceError> {
        do throws(ServiceError) {
            return .success(
                try await services.refresh.refresh(
                    RefreshAttempt(token: token, clientID: Client.mobileID, idempotencyKey: idempotencyKey),
                    from: .system))
        } catch { return .failure(error) }
    }

    /// Whether a refresh token would be accepted; nothing is spent.
    func isActive(_ refreshToken: String) async throws(ServiceError) -> Bool {
        if case .refreshToken = try await services.accessTokens.introspect(refreshToken, from: .system) {
            true
        } else {
            false
        }
    }

    /// Why an access token is refused; nil if it is accepted.
    func refusal(of accessToken: String) async -> ServiceError? {
        do throws(ServiceError) {
            _ = try await services.accessTokens.authenticate(accessToken, from: .system)
            return nil
        } catch { return error }
    }

    /// Switches to strict rotation: `W` = 0.
    func rotateStrictly() async throws {
        _ = try await administration.changeSettings(by: .system) { $0.rotationInterval = .zero }
    }
}

struct RaceStageProblem: Error {}

extension TokenGrant {
    /// The refresh token, which a client of two tokens always gets.
    var token: String { refreshToken ?? "none" }
}
