import Cryptography
import FoundationEssentials
import Locks
import PostgresFixture
import PostgresStore
import SQLiteStore
import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// A store in a folder, with the domain around it: one end of a transfer.
struct TransferFixture: Sendable {
    static let absoluteMaximum = Duration.seconds(31_536_000)
    static let password = "correct horse battery"
    /// How often the provider `acme` is asked again.
    static let recheckTerms = RecheckTerms(interval: .seconds(86_400), outageBudget: .seconds(864_000))

    let store: any Store
    let context: ServiceContext
    let services: Services
    let administration: Administration

    /// The domain on `store`, with the clock and the root keys that several can share.
    init(_ store: any Store, _ clock: StartingClock, _ rootKeys: RootKeys) async throws {
        self.store = store
        let keys = SigningKeys(
            store: store, rootKeys: rootKeys, algorithm: .eddsa, rotation: .seconds(30 * 86400),
            absoluteMaximum: Self.absoluteMaximum)
        guard let scrypt = Scrypt(logN: 2, r: 1, p: 1) else { throw Unusable() }
        context = ServiceContext(
            store: store,
            policy: RefreshPolicy(absoluteMaximum: Self.absoluteMaximum, recheckTerms: ["acme": Self.recheckTerms]),
            rootKeys: rootKeys,
            signingKeys: keys, passwords: PasswordHasher(scrypt: scrypt), clock: clock.wall,
            issuer: "http://issuer.example", audience: "http://api.example")
        services = Services(context)
        administration = Administration(context)
        try await keys.maintain(at: clock.wall.now)
        if try await store.client(Client.mobileID) == nil {
            _ = try await administration.createClient(id: Client.mobileID, by: .system) { _ in nil }
        }
    }

    struct Unusable: Error {}

    /// Makes a user with a password.
    func createUser(_ name: String) async throws -> User {
        try await administration.createUser(
            username: name, password: Self.password, profile: .init(email: "\(name)@example.org"),
            offlineSessionMax: nil, by: .system)
    }

    /// Logs in and gives the refresh token.
    func logIn(_ name: String, device: String) async throws -> String {
        let request = SessionRequest(clientID: Client.mobileID, device: Device(id: device, name: "Gerät \(device)"))
        return try await services.login.logIn(request, username: name, password: Self.password, from: .system)
            .refreshToken
            ?? ""
    }

    /// What a refresh comes to.
    func refresh(_ token: String) async -> Result<TokenGrant, ServiceError> {
        await Result { () async throws(ServiceError) in
            try await services.refresh.refresh(
                RefreshAttempt(token: token, clientID: Client.mobileID), from: .system)
        }
    }

    /// The export's text.
    func export(to folder: StartingFolder, _ name: String = "export.jsonl") async throws -> String {
        var writer = try LineWriter(folder.file(name))
        var exporter = Exporter(store: store, now: context.clock.now, progress: ProgressBar.silent)
        try await exporter.run(program: "test", to: &writer)
        return folder.text(name) ?? ""
    }

    /// An import that has not begun.
    func importer(replacing: Bool = false, report: @escaping (String) -> Void) -> Importer {
        Importer(
            store: store, absoluteMaximum: Self.absoluteMaximum, now: context.clock.now, replaces: replacing,
            progress: ProgressBar.silent, canOpen: context.signingKeys.canOpen, report: report)
    }

    /// Imports a file; the lines that were refused.
    @discardableResult
    func load(
        _ folder: StartingFolder, _ name: String = "export.jsonl", replacing: Bool = false
    ) async throws -> (Importer, refused: [String]) {
        var reader = try LineReader(folder.file(name))
        let refused = Locked<[String]>([])
        var importer = importer(replacing: replacing) { line in refused.withLock { $0.append(line) } }
        try await importer.run(&reader)
        try await context.signingKeys.maintain(at: context.clock.now)
        return (importer, refused.withLock { $0 })
    }
}

extension TransferFixture {
    func user(_ name: String) async throws -> User? { try await store.user(.username(name)) }

    /// The signing keys that events of that kind, by other actors than an import, name.
    func signingKeyEvents(_ kind: AuditEvent.Kind) async throws -> Set<String> {
        let events = try await store.events(after: 0, limit: 200, userID: nil, sessionID: nil).map(\.event)
        let keys = events.filter { $0.kind == kind && $0.actor != "admin:local" }.compactMap(\.reason)
        return keys.isEmpty ? Set(administration.signingKeys().map(\.id)) : Set(keys)
    }
}

extension TransferTests {
    /// Gives `body` the domain on a new file, on PostgreSQL, and on another file.
    func withRoute(
        _ body: (_ first: TransferFixture, _ postgres: TransferFixture, _ last: TransferFixture) async throws -> Void
    ) async throws {
        try await withStages(2) { stages in
            var options = PostgresStore.Options(clock: clock.wall)
            options.decisionDeadline = .seconds(3600)
            let store = try PostgresStore(url: try PostgresServer.shared.newDatabase(), options: options)
            let postgres = try await TransferFixture(store, clock, rootKeys)
            try await body(stages[0], postgres, stages[1])
            await store.close()
        }
    }

    func move(from source: TransferFixture, to target: TransferFixture) async throws {
        _ = try await source.export(to: folder)
        #expect(try await target.load(folder).refused.isEmpty)
    }
}

extension Result {
    init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension ProgressBar {
    static let silent = ProgressBar(isShown: false, start: .now, write: { _ in })
}
