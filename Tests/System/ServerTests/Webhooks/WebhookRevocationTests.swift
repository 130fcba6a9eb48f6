import Cryptography
import HTTPClient
import HostileServer
import JSON
import PostgresFixture
import Sessions
import Testing

@testable import Configuration
@testable import Deliveries
@testable import Server
@testable import sojourn

/// A receiver of a webhook that names no events needs no feed: the same endings come, with the same instants, for the same tokens.
@Suite("Webhooks: what the feed of revocations has", .timeLimit(.minutes(2)))
struct WebhookRevocationTests {
    /// What a test works with.
    private struct World {
        let application: Application
        let clock: StartingClock
        var store: any Store { application.context.store }
        var administration: Administration { Administration(application.context) }

        func makeUser(_ name: String) async throws -> User {
            try await administration.createUser(
                username: name, password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .system)
        }

        func openSession(of user: User) async throws -> Session {
            let session = Session(
                id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID,
                device: Device(id: "phone"), startedAt: clock.wall.now, epoch: 1)
            _ = try await store.openSession(userID: user.id, clientID: Client.mobileID, deviceID: "phone") { opening in
                opening.session = session
            }
            return session
        }

        /// Does what brings an item of `kind`.
        func bring(_ kind: Revocation.Kind) async throws {
            let user = try await makeUser("user-\(kind.rawValue)")
            let reference = UserReference.id(user.id)
            switch kind {
            case .sessionEnded:
                try await administration.endSession(openSession(of: user).id, by: .system)
            case .userBlocked, .userUnblocked:
                _ = try await administration.disable(
                    reference, effective: .immediate, revokingSessions: false, note: "lost", by: .system)
                if kind == .userBlocked { return }
                _ = try await administration.enable(reference, includingOwnSwitch: false, by: .system)
            case .userDeleted:
                _ = try await administration.deleteUser(reference, by: .system)
            case .clientDeleted:
                _ = try await administration.createClient(id: "web", by: .system) { _ in nil }
                try await administration.deleteClient("web", by: .system)
            case .allSessionsEnded:
                try await administration.revokeAllSessions(by: .system)
            case .clientTokensEnded, .clientTokenRevoked:
                let id = kind.rawValue
                let client = try await administration.createClient(id: id, by: .system) { client in
                    (client.authenticationMethod, client.grantTypes) = (.clientSecretPost, [.clientCredentials])
                    return nil
                }.client
                if kind == .clientTokensEnded {
                    _ = try await administration.changeClient(id, newSecret: true, by: .system) { _ in nil }
                    return
                }
                let own = Services(application.context).clientCredentials
                let isOwn = try await own.revoke(
                    try await own.issue(to: client, scope: nil).accessToken, of: client, from: .system)
                #expect(isOwn)
            case .lifetimesShortened:
                _ = try await administration.changeSettings(by: .system) { $0.offlineSessionMax = .seconds(8_640_000) }
                _ = try await administration.changeClient(Client.mobileID, by: .system) { client in
                    client.offlineSessionIdle = .seconds(86_400)
                    return nil
                }
                _ = try await administration.changeUser(reference, by: .system) { user in
                    user.offlineSessionMax = .seconds(86_400)
                    return nil
                }
            }
        }
    }

    private let folder = StartingFolder()
    private let clock = StartingClock()

    private func configuration(_ receiver: HostileServer, _ place: ServerConfiguration.Database.Location) throws
        -> ServerConfiguration
    {
        var configuration = folder.configuration
        configuration.database.location = place
        if case .postgres = place { configuration.keys.rootKeyFile = folder.file("key-2") }
        let url = try #require(OutboundURL(receiver.origin, plainLoopback: true))
        configuration.webhooks = [ServerConfiguration.Webhook(name: "mails", url: url)]
        return configuration
    }

    /// Runs `body` with a server on each kind of database, and checks that the webhook has told all that the feed has then.
    private func check(_ body: (World) async throws -> Set<Revocation.Kind>) async throws {
        var environment = clock.environment()
        environment.webhookSecretVariables = ["SOJOURN_WEBHOOK_SECRET_MAILS": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
        let places = [
            ServerConfiguration.Database.Location.sqlite(path: folder.file("db")),
            .postgres(url: try PostgresServer.shared.newDatabase()),
        ]
        for place in places {
            let receiver = HostileServer { _ in [.say("HTTP/1.1 204 Taken\r\nConnection: close\r\n\r\n")] }
            let configuration = try configuration(receiver, place)
            let application = try await Application.open(configuration, environment)
            let webhook = try #require(try application.webhooks(configuration.webhooks, environment).first)
            while await webhook.step(failures: 0) == .again {}
            let kinds = try await body(World(application: application, clock: clock))
            while await webhook.step(failures: 0) == .again {}
            let told = receiver.requests.compactMap { request in
                JSONValue(text: Array(request.split(separator: "\r\n\r\n", maxSplits: 1)[1].utf8))?["data"]?["revokes"]
            }
            let feed = try await application.context.store.revocations(after: 0, at: clock.wall.now, limit: 200)
            #expect(Set(feed.map(\.kind)) == kinds)
            #expect(told == feed.map(Self.item))
            receiver.stop()
            await application.close()
        }
    }

    /// A revocation in the words of the feed.
    private static func item(_ revocation: Revocation) -> JSONValue {
        var members: [String: JSONValue] = [
            "type": .string(revocation.kind.rawValue), "at": .integer(revocation.at.secondsSinceEpoch),
            "until": .integer(revocation.until.secondsSinceEpoch),
        ]
        members["sid"] = revocation.sessionID.map { .string($0.description) }
        members["sub"] = revocation.userID.map { .string($0.description) }
        members["client_id"] = revocation.clientID.map { .string($0) }
        members["jti"] = revocation.tokenID.map { .string($0) }
        members["epoch"] = revocation.tokenEpoch.map { .integer($0) }
        return .object(members)
    }

    @Test("each kind comes, with the same instants and the same scope")
    func allKinds() async throws {
        try await check { world in
            for kind in Revocation.Kind.allCases { try await world.bring(kind) }
            return Set(Revocation.Kind.allCases)
        }
    }

    @Test("an ending by an import comes once")
    func imported() async throws {
        try await check { world in
            var (ada, bob) = (try await world.makeUser("ada"), try await world.makeUser("bob"))
            let replaced = try await world.openSession(of: ada)
            var ended = try await world.openSession(of: bob)
            // It ended before a receiver listened here.
            ended.end(.loggedOut, at: clock.wall.now + .seconds(-90))
            let newer = Session(
                id: Identifier(random: .system), userID: ada.id, clientID: Client.mobileID, device: replaced.device,
                startedAt: clock.wall.now + .seconds(1), epoch: 1)
            ada.disabledByAdmin = User.LoginDisabling(effective: .immediate, since: clock.wall.now, note: "lost")
            bob.offlineSessionMax = .seconds(86_400)
            for _ in 0..<2 {
                _ = try await world.store.importUsers([ada, bob], .replacing)
                _ = try await world.store.importSessions([ended, newer])
            }
            let feed = try await world.store.revocations(after: 0, at: clock.wall.now, limit: 200)
            #expect(feed.map(\.sessionID) == [nil, nil, ended.id, replaced.id])
            return [.userBlocked, .lifetimesShortened, .sessionEnded]
        }
    }
}
