import Cryptography
import FoundationEssentials
import HTTPClient
import HostileServer
import JOSE
import JSON
import Locks
import PostgresFixture
import Sessions
import Telemetry
import Testing

@testable import Configuration
@testable import Deliveries
@testable import Server

/// Logout tokens, against a receiver that this test is: what comes, and what becomes of what is not taken.
@Suite("Logout tokens", .timeLimit(.minutes(3)))
struct LogoutDeliveryTests {
    private let folder = StartingFolder()
    private let clock = StartingClock()

    /// A client with a receiver, and its sessions.
    private final class Fixture: Sendable {
        let application: Application
        let clock: StartingClock
        let user: User
        let metrics: DeliveryMetrics
        let registry = MetricsRegistry()

        init(_ application: Application, _ clock: StartingClock, _ uri: String, _ algorithm: String? = nil) async throws
        {
            (self.application, self.clock) = (application, clock)
            metrics = .logoutTokens(in: registry, clock: clock.wall)
            let administration = Administration(application.context)
            user = try await administration.createUser(
                username: "anna", password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .system)
            _ = try await administration.createClient(id: "web", by: .system) { client in
                client.grantTypes = [.authorizationCode, .refreshToken]
                client.page.redirectURIs = ["https://web.example/cb"]
                client.page.backchannelLogoutURI = uri
                client.page.idTokenAlgorithm = algorithm.flatMap { .init(rawValue: $0) }
                return nil
            }
        }

        var store: any Store { application.context.store }

        func deliveries(_ node: String = "a") -> ClientDeliveries {
            .logoutTokens(context: application.context, logger: .silent, metrics: metrics, node: node)
        }

        func delivery(_ node: String = "a", deadline: Duration = .seconds(5)) -> Delivery {
            var deliveries = deliveries(node)
            deliveries.options.deadline = deadline
            return deliveries.delivery(to: "web")
        }

        /// A session of the client; of a login on the page, unless `isOfPage` is false.
        func logIn(_ device: String, isOfPage: Bool = true, scope: Scope = .empty) async throws -> Session {
            let (now, epoch) = (clock.wall.now, try await store.catalogue().settings.epoch)
            let session = Session(
                id: Identifier(random: .system), userID: user.id, clientID: "web", device: Device(id: device),
                scope: scope, startedAt: now, epoch: epoch)
            if isOfPage {
                let request = AuthorizationRequest(
                    id: "0", clientID: "web", redirectURI: "https://web.example/cb", codeChallenge: "c")
                let login = PageLogin(
                    id: session.id, request: request, userID: user.id, methods: ["pwd"], authenticatedAt: now,
                    epoch: epoch,
                    codeHash: nil, codeExpiresAt: now, codeUsedAt: now, startedAt: now)
                _ = try await store.approveLogin(
                    by: .user(user.id), clientID: "web", using: nil, browser: nil
                ) { $0.login = login }
            }
            _ = try await store.openSession(userID: user.id, clientID: "web", deviceID: device) { opening in
                opening.session = session
            }
            return session
        }

        func end(_ session: Session) async throws {
            #expect(try await Services(application.context).logout.end(session.id, .revokedByAdmin, from: .system))
        }

        func progress() async throws -> DeliveryProgress? {
            try await store.delivery(DeliveryProgress.name(ofLogoutsTo: "web"))
        }
    }

    private func stage(
        database: String? = nil, algorithm: String? = nil, _ body: (Fixture, StatusReceiver) async throws -> Void
    ) async throws {
        var configuration = folder.configuration
        if let database { configuration.database.location = .postgres(url: database) }
        let application = try await Application.open(
            configuration, clock.environment(rootKey: Hex.encode([UInt8](repeating: 3, count: 32))))
        let receiver = StatusReceiver(200)
        try await body(try await Fixture(application, clock, receiver.uri, algorithm), receiver)
        receiver.server.stop()
        await application.close()
    }

    private func drain(_ delivery: Delivery) async { while await delivery.step(failures: 0) == .again {} }

    @Test("each end is told once, by a token as the standard demands, and no session that began elsewhere")
    func delivery() async throws {
        try await stage { stage, receiver in
            // An end from long before the first look is not told.
            try await stage.end(try await stage.logIn("early"))
            clock.advance(.seconds(61))
            let first = try await stage.logIn("a")
            let elsewhere = try await stage.logIn("c", isOfPage: false)
            // A refresh brings an ID token of it.
            let second = try await stage.logIn("b", isOfPage: false, scope: Scope("openid read") ?? .empty)
            let going = try await stage.logIn("d")
            for session in [first, elsewhere, second] { try await stage.end(session) }
            let delivery = stage.delivery()
            await drain(delivery)
            await drain(delivery)
            #expect(receiver.claims.map { $0["sid"]?.string } == [first.id.description, second.id.description])
            #expect(try await stage.store.session(going.id)?.session.ending == nil)
            let request = try #require(receiver.server.requests.first)
            #expect(request.hasPrefix("POST /out HTTP/1.1\r\n"))
            #expect(request.lowercased().contains("\r\ncontent-type: application/x-www-form-urlencoded\r\n"))
            let head = try #require(StatusReceiver.part(0, of: request))
            #expect(head["typ"]?.string == "logout+jwt" && head["alg"]?.string == "ES256")
            let claims = receiver.claims
            let now = stage.clock.wall.now.secondsSinceEpoch
            #expect(claims[0]["iss"]?.string == stage.application.context.issuer)
            #expect(claims[0]["aud"]?.string == "web" && claims[0]["sub"]?.string == stage.user.id.description)
            #expect(claims[0]["iat"] == .integer(now) && claims[0]["exp"] == .integer(now + 120))
            #expect(
                claims[0]["events"] == .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])]))
            // Section 2.4: a token with a nonce could be taken for an ID token.
            #expect(claims[0]["nonce"] == nil && claims[0]["jti"] != nil && claims[0]["jti"] != claims[1]["jti"])
            #expect(delivery.metrics.delivered.value == 2 && delivery.metrics.failed.value == 0)
        }
    }

    @Test("an end by the clock, or by a revocation of all, is recorded and told once", arguments: [false, true])
    func unrecordedEnds(onPostgres: Bool) async throws {
        try await stage(database: onPostgres ? PostgresServer.shared.newDatabase() : nil) { stage, receiver in
            let maintenance = Maintenance(context: stage.application.context, logger: .silent)
            var told: [Session] = []
            for device in ["a", "b"] { told.append(try await stage.logIn(device)) }
            _ = try await stage.logIn("c", isOfPage: false)
            let delivery = stage.delivery()
            func round() async throws -> [String] {
                await maintenance.walkAlongSessions(pause: .zero)
                await maintenance.lookAtSessions(pause: .zero)
                await drain(delivery)
                let events = try await stage.store.events(after: 0, limit: 200, userID: nil, sessionID: nil)
                return events.filter { $0.event.kind == .sessionEnded }.compactMap(\.event.reason)
            }
            #expect(try await round() == [])
            try await Administration(stage.application.context).revokeAllSessions(by: .system)
            #expect(try await round() == ["revoked_by_admin", "revoked_by_admin"])
            told.append(try await stage.logIn("d"))
            clock.jump(.seconds(15 * 86_400))
            #expect(try await round().count == 2, "a clock that was set ends nothing for good")
            clock.jump(.seconds(-15 * 86_400))
            clock.advance(.seconds(15 * 86_400))
            #expect(try await round().suffix(1) == ["idle_expired"])
            #expect(try await round().count == 3)
            let sids = receiver.claims.compactMap { $0["sid"]?.string }
            #expect(
                Set(sids.prefix(2)) == Set(told.prefix(2).map(\.id.description)) && sids.last == told[2].id.description)
            #expect(sids.count == 3)
        }
    }

    @Test("a client that names RS256 gets tokens by that key")
    func algorithm() async throws {
        try await stage(algorithm: "RS256") { stage, receiver in
            try await stage.end(try await stage.logIn("a"))
            await drain(stage.delivery())
            let head = receiver.server.requests.first.flatMap { StatusReceiver.part(0, of: $0) }
            #expect(head?["alg"]?.string == "RS256")
            let rsa = stage.application.context.signingKeys.all.first { $0.algorithm == "RS256" }
            #expect(rsa != nil && head?["kid"]?.string == rsa?.id)
        }
    }

    @Test("a receiver that is down gets its tokens in their order when it is up again; each try has its own jti")
    func downAndUp() async throws {
        try await stage { stage, receiver in
            let sessions = [try await stage.logIn("a"), try await stage.logIn("b")]
            for session in sessions { try await stage.end(session) }
            receiver.status.withLock { $0 = 503 }
            let delivery = stage.delivery()
            for failures in 0..<3 {
                #expect(await delivery.step(failures: failures) == .failed(.seconds(1 << failures)))
                clock.advance(.seconds(1 << failures))
            }
            #expect(stage.registry.render().contains("sojourn_logout_tokens_failing_seconds 7"))
            #expect(stage.registry.render().contains("sojourn_logout_tokens_lag_seconds 7"))
            receiver.status.withLock { $0 = 204 }
            await drain(delivery)
            let claims = receiver.claims
            #expect(claims.map { $0["sid"]?.string } == [0, 0, 0, 0, 1].map { sessions[$0].id.description })
            #expect(Set(claims.compactMap { $0["jti"]?.string }).count == 5)
            #expect(try await stage.progress()?.failingSince == nil)
            #expect(stage.registry.render().contains("sojourn_logout_tokens_lag_seconds 0"))
            #expect(delivery.metrics.delivered.value == 2 && delivery.metrics.failed.value == 3)
        }
    }

    @Test("a receiver that refuses a token again and again is not asked for ever, and gets the next one")
    func refusal() async throws {
        try await stage { stage, receiver in
            let sessions = [try await stage.logIn("a"), try await stage.logIn("b")]
            for session in sessions { try await stage.end(session) }
            let delivery = stage.delivery()
            // A receiver that is down has not refused anything.
            receiver.status.withLock { $0 = 503 }
            for failures in 0..<Delivery.refusalsMax {
                #expect(await delivery.step(failures: failures) != .again)
            }
            receiver.status.withLock { $0 = 400 }
            for refusal in 1..<Delivery.refusalsMax {
                #expect(await delivery.step(failures: Delivery.refusalsMax + refusal) != .again)
            }
            #expect(await delivery.step(failures: 2 * Delivery.refusalsMax) == .again)
            // The next token has its own count.
            #expect(await delivery.step(failures: 0) == .failed(.seconds(1)))
            receiver.status.withLock { $0 = 200 }
            await drain(delivery)
            #expect(delivery.metrics.refused?.value == 1 && delivery.metrics.delivered.value == 1)
            #expect(receiver.claims.last?["sid"]?.string == sessions[1].id.description)
        }
    }

    @Test("a slow receiver is asked again, and delays no other client")
    func slow() async throws {
        let hanging = HostileServer { _ in [.hang] }
        try await stage { stage, receiver in
            _ = try await Administration(stage.application.context).changeClient("web", by: .system) { client in
                client.page.backchannelLogoutURI = hanging.origin + "/out"
                return nil
            }
            try await stage.end(try await stage.logIn("a"))
            #expect(await stage.delivery(deadline: .milliseconds(300)).step(failures: 0) == .failed(.seconds(1)))
            // The receiver is another one now: what waits goes there.
            _ = try await Administration(stage.application.context).changeClient("web", by: .system) { client in
                client.page.backchannelLogoutURI = receiver.uri
                return nil
            }
            await drain(stage.delivery())
            #expect(receiver.claims.count == 1)
        }
        hanging.stop()
    }

    @Test("an end that the trail forgets before it was taken counts as lost; a young one waits")
    func lost() async throws {
        try await stage { stage, receiver in
            let other = try await stage.logIn("z", isOfPage: false)
            for session in [try await stage.logIn("a"), other, try await stage.logIn("b")] {
                try await stage.end(session)
            }
            receiver.status.withLock { $0 = 500 }
            let delivery = stage.delivery()
            #expect(await delivery.step(failures: 0) == .failed(.seconds(1)))
            clock.advance(.seconds(86_000))
            let young = try await stage.logIn("c")
            try await stage.end(young)
            try await delivery.reportLost(before: clock.wall.now + .seconds(-86_400))
            #expect(delivery.metrics.lost.value == 0)
            clock.advance(.seconds(500))
            var cleanUp = ServerConfiguration.CleanUp()
            cleanUp.auditRetentionDays = 1
            let maintenance = Maintenance(
                context: stage.application.context, logger: .silent, cleanUp: cleanUp,
                clientDeliveries: [stage.deliveries()])
            await maintenance.sweepEvents(pause: .zero)
            #expect(delivery.metrics.lost.value == 2)
            receiver.status.withLock { $0 = 200 }
            await drain(delivery)
            #expect(receiver.claims.last?["sid"]?.string == young.id.description)
            #expect(delivery.metrics.delivered.value == 1)
            // The progress of a client that has a receiver is not forgotten.
            clock.advance(.seconds(30 * 86_400))
            await maintenance.forgetWebhooks()
            #expect(try await stage.progress() != nil)
        }
    }

    @Test("without an end nothing is written, and without a receiver nothing is done")
    func rest() async throws {
        try await stage { stage, receiver in
            let delivery = stage.delivery()
            #expect(await delivery.step(failures: 0) == .idle)
            let made = try await stage.progress()
            clock.advance(.seconds(3600))
            #expect(await delivery.step(failures: 0) == .idle)
            #expect(try await stage.progress() == made)
            _ = try await Administration(stage.application.context).changeClient("web", by: .system) { client in
                client.page.backchannelLogoutURI = nil
                return nil
            }
            try await stage.end(try await stage.logIn("a"))
            #expect(await delivery.step(failures: 0) == .idle)
            #expect(receiver.claims.isEmpty)
        }
    }

    @Test("of two nodes one sends; the other goes on when the first is gone, and may repeat one token")
    func nodes() async throws {
        try await stage(database: PostgresServer.shared.newDatabase()) { stage, receiver in
            let (one, two) = (stage.delivery("a"), stage.delivery("b"))
            try await stage.end(try await stage.logIn("a"))
            #expect(await one.step(failures: 0) == .again)
            for device in ["b", "c"] { try await stage.end(try await stage.logIn(device)) }
            await drain(two)
            #expect(receiver.claims.count == 1)
            async let left: Void = drain(one)
            async let right: Void = drain(two)
            _ = await (left, right)
            #expect(receiver.claims.count == 3 && Set(receiver.claims.compactMap { $0["sid"]?.string }).count == 3)
            // The first one stops silently.
            try await stage.end(try await stage.logIn("d"))
            await drain(two)
            #expect(receiver.claims.count == 3)
            clock.advance(Delivery.lease)
            await drain(two)
            #expect(receiver.claims.count == 4)
        }
    }
}

extension StatusReceiver {
    fileprivate var uri: String { server.origin + "/out" }

    /// The claims of each token that came.
    fileprivate var claims: [JSONValue] { server.requests.compactMap { Self.part(1, of: $0) } }

    /// The part of the token in a request: 0 is the header, 1 the claims.
    fileprivate static func part(_ place: Int, of request: String) -> JSONValue? {
        guard let token = request.split(separator: "logout_token=").last else { return nil }
        let parts = token.split(separator: ".").map(String.init)
        return parts.count == 3 ? Base64URL.decode(parts[place]).flatMap { JSONValue(text: $0) } : nil
    }
}
