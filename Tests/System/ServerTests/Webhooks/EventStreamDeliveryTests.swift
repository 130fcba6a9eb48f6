import Cryptography
import FoundationEssentials
import HTTPClient
import HostileServer
import JOSE
import JSON
import Locks
import PostgresFixture
import Sessions
import Sockets
import Telemetry
import Testing

@testable import Configuration
@testable import Deliveries
@testable import Server

/// Pushed security events (RFC 8935), against a receiver that this test is: what comes, and what becomes of what is not taken.
@Suite("Security events", .timeLimit(.minutes(3)))
struct EventStreamDeliveryTests {
    private static let loopback = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }

    private let folder = StartingFolder()
    private let clock = StartingClock()

    private struct Fixture {
        let application: Application
        let clock: StartingClock
        let user: User
        let streamID: String
        let registry = MetricsRegistry()
        let metrics: DeliveryMetrics

        init(_ application: Application, _ clock: StartingClock, _ url: String) async throws {
            (self.application, self.clock) = (application, clock)
            metrics = .securityEvents(in: registry, clock: clock.wall)
            let administration = Administration(application.context)
            user = try await administration.createUser(
                username: "anna", password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .system)
            _ = try await administration.createClient(id: "siem", by: .system) { client in
                client.grantTypes = [.clientCredentials]
                client.authenticationMethod = .clientSecretBasic
                return nil
            }
            streamID = try await EventStreamService(application.context).create(
                EventStreamService.Wish(
                    delivery: .push(endpoint: url + "/in", authorization: "Bearer topsecret"),
                    requested: [SecurityEvent.Kind.sessionRevoked.rawValue]), of: "siem", by: .system
            ).id
        }

        var store: any Store { application.context.store }
        var service: EventStreamService { EventStreamService(application.context) }

        func deliveries(
            _ node: String = "a", _ receivers: [AddressRange] = EventStreamDeliveryTests.loopback
        ) -> ClientDeliveries {
            .securityEvents(
                context: application.context, receivers: receivers, logger: .silent, metrics: metrics, node: node)
        }

        func delivery(_ node: String = "a") -> Delivery { deliveries(node).delivery(to: "siem") }

        /// Starts and ends a session. Returns its id.
        func end(_ device: String) async throws -> String {
            let session = Session(
                id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID, device: Device(id: device),
                startedAt: clock.wall.now, epoch: 9)
            _ = try await store.openSession(userID: user.id, clientID: Client.mobileID, deviceID: device) { opening in
                opening.session = session
            }
            #expect(try await Services(application.context).logout.end(session.id, .revokedByAdmin, from: .system))
            return session.id.description
        }

        func progress() async throws -> DeliveryProgress? {
            try await store.delivery(DeliveryProgress.name(ofStream: streamID))
        }
    }

    private func stage(
        database: String? = nil, _ body: (Fixture, StatusReceiver) async throws -> Void
    ) async throws {
        var configuration = folder.configuration
        if let database { configuration.database.location = .postgres(url: database) }
        let application = try await Application.open(
            configuration, clock.environment(rootKey: Hex.encode([UInt8](repeating: 3, count: 32))))
        let receiver = StatusReceiver(202)
        try await body(try await Fixture(application, clock, receiver.server.origin), receiver)
        receiver.server.stop()
        await application.close()
    }

    private func drain(_ delivery: Delivery) async { while await delivery.step(failures: 0) == .again {} }

    @Test("each event is pushed once, in order, with the receiver's own authorization")
    func delivery() async throws {
        try await stage { stage, receiver in
            let ended = [try await stage.end("a"), try await stage.end("b")]
            let delivery = stage.delivery()
            await drain(delivery)
            await drain(delivery)
            #expect(receiver.sessions == ended)
            let request = try #require(receiver.server.requests.first)
            #expect(request.hasPrefix("POST /in HTTP/1.1\r\n"))
            #expect(request.lowercased().contains("\r\ncontent-type: application/secevent+jwt\r\n"))
            #expect(request.contains("\r\nAuthorization: Bearer topsecret\r\n"))
            #expect(receiver.claims.first?["aud"]?.string == "siem")
            #expect(delivery.metrics.delivered.value == 2 && delivery.metrics.failed.value == 0)
            // Without an event, nothing is written.
            let progress = try await stage.progress()
            clock.advance(.seconds(3600))
            #expect(await delivery.step(failures: 0) == .idle)
            #expect(try await stage.progress() == progress)
        }
    }

    @Test("a receiver that is down gets its events in their order when it is up again, each with the same jti")
    func downAndUp() async throws {
        try await stage { stage, receiver in
            let ended = [try await stage.end("a"), try await stage.end("b")]
            receiver.status.withLock { $0 = 503 }
            let delivery = stage.delivery()
            for failures in 0..<3 {
                #expect(await delivery.step(failures: failures) == .failed(.seconds(1 << failures)))
                clock.advance(.seconds(1 << failures))
            }
            #expect(stage.registry.render().contains("sojourn_security_events_failing_seconds 7"))
            #expect(stage.registry.render().contains("sojourn_security_events_lag_seconds 7"))
            receiver.status.withLock { $0 = 202 }
            await drain(delivery)
            #expect(receiver.sessions == [0, 0, 0, 0, 1].map { ended[$0] })
            #expect(Set(receiver.claims.compactMap { $0["jti"]?.string }).count == 2)
            #expect(try await stage.progress()?.failingSince == nil)
            #expect(stage.registry.render().contains("sojourn_security_events_failing_seconds 0"))
            #expect(stage.registry.render().contains("sojourn_security_events_lag_seconds 0"))
        }
    }

    @Test("no stream reaches this machine unless the operator allows it, whatever its URL says")
    func privateReceiver() async throws {
        try await stage { stage, receiver in
            let ended = try await stage.end("a")
            func push(_ receivers: [AddressRange], until isDone: () async -> Bool) async {
                let task = Task { await stage.deliveries("a", receivers).run() }
                while await !isDone() { await Task.yield() }
                task.cancel()
                await task.value
            }
            await push([], until: { stage.metrics.failed.value > 0 })
            #expect(receiver.server.connections == 0)
            let name = DeliveryProgress.name(ofStream: stage.streamID)
            #expect(stage.application.context.deliveries.failure(of: name)?.cause == "forbidden_address")
            clock.advance(.seconds(60))
            await push(Self.loopback, until: { stage.metrics.delivered.value > 0 })
            #expect(receiver.sessions == [ended])
        }
    }

    @Test("a receiver that refuses an event again and again is not asked for ever, and gets the next one")
    func refusal() async throws {
        try await stage { stage, receiver in
            let ended = [try await stage.end("a"), try await stage.end("b")]
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
            receiver.status.withLock { $0 = 202 }
            await drain(delivery)
            #expect(delivery.metrics.refused?.value == 1 && delivery.metrics.delivered.value == 1)
            #expect(receiver.sessions.last == ended[1])
        }
    }

    @Test("a paused stream keeps its events, a verification event comes before them")
    func pause() async throws {
        try await stage { stage, receiver in
            _ = try await stage.service.setStatus(.paused, because: nil, of: "siem", id: stage.streamID, by: .system)
            let ended = try await stage.end("a")
            let delivery = stage.delivery()
            await drain(delivery)
            #expect(receiver.claims.isEmpty)
            _ = try await stage.service.setStatus(.enabled, because: nil, of: "siem", id: stage.streamID, by: .system)
            try await stage.service.requestVerification(state: "s", of: "siem", id: stage.streamID, by: .system)
            await drain(delivery)
            #expect(receiver.sessions == [nil, ended])
            let kind = "https://schemas.openid.net/secevent/ssf/event-type/verification"
            #expect(receiver.claims.first?["events"]?[kind]?["state"]?.string == "s")
        }
    }

    @Test("an event that the trail forgets before it was taken counts as lost")
    func lost() async throws {
        try await stage { stage, receiver in
            for device in ["a", "b"] { _ = try await stage.end(device) }
            receiver.status.withLock { $0 = 500 }
            #expect(await stage.delivery().step(failures: 0) == .failed(.seconds(1)))
            clock.advance(.seconds(10))
            try await stage.delivery("b").reportLost(before: clock.wall.now)
            #expect(stage.metrics.lost.value == 2, "by whichever node deletes the events")
            clock.advance(.seconds(86_490))
            var cleanUp = ServerConfiguration.CleanUp()
            cleanUp.auditRetentionDays = 1
            let maintenance = Maintenance(
                context: stage.application.context, logger: .silent, cleanUp: cleanUp,
                clientDeliveries: [stage.deliveries()])
            await maintenance.sweepEvents(pause: .zero)
            #expect(stage.metrics.lost.value == 2, "once")
            // The progress of a living stream is not forgotten.
            clock.advance(.seconds(30 * 86_400))
            await maintenance.forgetWebhooks()
            #expect(try await stage.progress() != nil)
        }
    }

    @Test("of two nodes one pushes; the other goes on when the first is gone")
    func nodes() async throws {
        try await stage(database: PostgresServer.shared.newDatabase()) { stage, receiver in
            let (one, two) = (stage.delivery("a"), stage.delivery("b"))
            _ = try await stage.end("a")
            await drain(one)
            _ = try await stage.end("b")
            await drain(two)
            #expect(receiver.claims.count == 1)
            async let left: Void = drain(one)
            async let right: Void = drain(two)
            _ = await (left, right)
            #expect(receiver.claims.count == 2)
            // The first one stops silently.
            _ = try await stage.end("c")
            clock.advance(Delivery.lease)
            await drain(two)
            #expect(receiver.claims.count == 3)
        }
    }
}

extension StatusReceiver {
    /// The claims of each token that came.
    fileprivate var claims: [JSONValue] {
        server.requests.compactMap { request in
            let parts = request.split(separator: "\r\n\r\n").last?.split(separator: ".").map(String.init) ?? []
            return parts.count == 3 ? Base64URL.decode(parts[1]).flatMap { JSONValue(text: $0) } : nil
        }
    }

    /// The session of each event that came.
    fileprivate var sessions: [String?] { claims.map { $0["sub_id"]?["session"]?["id"]?.string } }
}
