import Cryptography
import PostgresFixture
import Sessions
import Testing

@testable import Configuration
@testable import Server
@testable import sojourn

/// `absolute_max_lifetime` in the file: a start with a shorter one is told to verifiers of tokens.
@Suite("The absolute maximum of one start and the next", .timeLimit(.minutes(2)))
struct ServedMaximumTests {
    private let folder = StartingFolder()
    private let clock = StartingClock()

    private func configuration(days: Int, _ database: String? = nil) -> ServerConfiguration {
        var configuration = folder.configuration
        configuration.sessions.absoluteMaximum = .seconds(86_400 * days)
        if let database {
            configuration.database.location = .postgres(url: database)
            configuration.keys.rootKeyFile = folder.file("key")
        }
        return configuration
    }

    @Test("a server that starts with a shorter one says so in the feed; the command line does not")
    func starts() async throws {
        let first = try await Application.open(configuration(days: 400), clock.environment())
        _ = try await Administration(first.context).changeSettings(by: .system) { $0.offlineSessionMaxLimited = false }
        await first.close()
        for (days, count) in [(400, 0), (400, 0), (300, 1), (300, 1), (365, 1), (350, 2)] {
            let server = SojournServer(configuration(days: days), clock.environment())
            _ = try await server.start()
            await server.stop(deadline: .seconds(1))
            let application = try await Application.open(configuration(days: 200), clock.environment())
            let feed = try await application.context.store.revocations(after: 0, at: clock.wall.now, limit: 9)
            #expect(feed.map(\.kind) == Array(repeating: .lifetimesShortened, count: count), "\(days)")
            await application.close()
        }
    }

    @Test("a node that runs with a longer one goes by the shorter one as soon as another node has started with it")
    func nodes() async throws {
        let database = try PostgresServer.shared.newDatabase()
        let old = try await Application.open(configuration(days: 400, database), clock.environment())
        try await old.beginServing()
        let administration = Administration(old.context)
        _ = try await administration.changeSettings(by: .system) { $0.offlineSessionMaxLimited = false }
        let user = try await administration.createUser(
            username: "anna", password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .system)
        func end(_ device: String) async throws -> Instant {
            try await Services(old.context).login.mintSession(
                SessionRequest(clientID: Client.mobileID, device: Device(id: device)), for: .id(user.id), from: .system
            ).sessionExpiresAt
        }
        #expect(try await end("a") == clock.wall.now + .seconds(86_400 * 400))
        let new = try await Application.open(configuration(days: 300, database), clock.environment())
        try await new.beginServing()
        #expect(try await end("b") == clock.wall.now + .seconds(86_400 * 300))
        for application in [old, new] { await application.close() }
    }
}
