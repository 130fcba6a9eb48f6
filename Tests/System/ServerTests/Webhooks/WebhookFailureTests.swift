import FoundationEssentials
import HTTPClient
import HostileServer
import Locks
import Sessions
import Telemetry
import Testing

@testable import Configuration
@testable import Deliveries
@testable import Server

/// What becomes of events for a receiver that is broken, hostile, or away for too long.
@Suite("Webhook: receivers that fail", .timeLimit(.minutes(3)))
struct WebhookFailureTests {
    private let folder = StartingFolder()
    private let clock = StartingClock()

    private func webhook(_ application: Application, _ receiver: HostileServer, node: String = "a") throws -> Delivery {
        var options = HTTPClient.Options(width: 1)
        options.deadline = .milliseconds(700)
        return Delivery(
            webhook: WebhookTarget(
                name: "mails", url: try #require(OutboundURL(receiver.origin + "/hook", plainLoopback: true)),
                secrets: [[UInt8](repeating: 7, count: 32)], events: .named([.loginFailed])),
            context: application.context, client: HTTPClient(options), logger: .silent,
            metrics: DeliveryMetrics.webhooks(["mails"], in: MetricsRegistry(), clock: clock.wall)[0], node: node)
    }

    /// A webhook that is at the end of the trail, and then two events for it, and one that it does not want.
    private func stage(
        _ receiver: HostileServer, _ body: (Application, Delivery) async throws -> Void
    ) async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let webhook = try webhook(application, receiver)
        while await webhook.step(failures: 0) == .again {}
        let kinds = [AuditEvent.Kind.loginFailed, .adminKeyCreated, .loginFailed]
        try await application.context.store.append(kinds.map { AuditEvent($0, at: clock.wall.now, by: .system) })
        try await body(application, webhook)
        receiver.stop()
        await application.close()
    }

    private func cursor(_ application: Application) async throws -> Int64? {
        try await application.context.store.updateDelivery("mails") { $0?.cursor }
    }

    private static func answer(_ status: Int, _ fields: String = "") -> HostileServer.Step {
        .say("HTTP/1.1 \(status) Said\r\n\(fields)Content-Length: 0\r\nConnection: close\r\n\r\n")
    }

    /// What a receiver does to a delivery, none of which takes it.
    private static let failures: [(String, [HostileServer.Step])] = [
        ("an error", [answer(500)]), ("a refusal", [answer(410)]), ("not modified", [answer(304)]),
        ("a redirect", [answer(307, "Location: http://127.0.0.1:1/elsewhere\r\n")]),
        ("nothing, and closes", []), ("nothing", [.hang]),
        ("no HTTP", [.say("hello\r\n\r\n")]),
        ("an end too early", [.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab")]),
        ("a head without end", [.say("HTTP/1.1 200 OK\r\n"), .endless("X-Y: zzzzzzzzzzzzzzzzzzzzzzzz\r\n")]),
        ("content without end", [.say("HTTP/1.1 200 OK\r\n\r\n"), .endless(String(repeating: "z", count: 65_536))]),
        ("half a status line", [.say("HTTP/1.1 20"), .hang]),
        ("a head, and then nothing", [.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .hang]),
    ]

    @Test("an answer that is not a whole 2xx takes no event, in bounded time", arguments: failures)
    private func failure(_ name: String, _ steps: [HostileServer.Step]) async throws {
        let receiver = HostileServer { _ in steps }
        try await stage(receiver) { application, webhook in
            let before = try await cursor(application)
            for failures in 0..<2 {
                #expect(await webhook.step(failures: failures) == .failed(.seconds(1 << failures)), "\(name)")
            }
            #expect(try await cursor(application) == before)
            // The same event again, and nothing else.
            let ids = receiver.requests.map { $0.split(separator: "webhook-id: ")[1].prefix { $0 != "\r" } }
            #expect(ids.count == 2 && ids[0] == ids[1])
            #expect(webhook.metrics.failed.value == 2 && webhook.metrics.delivered.value == 0)
        }
    }

    @Test(
        "a receiver that asks for more time gets it, up to the longest delay; one that asks for less does not",
        arguments: [
            ("7", 7), ("0", 4), ("299", 299), ("86400", 300), ("18446744073709551615", 300), ("-5", 4), ("soon", 4),
            ("Fri, 31 Dec 2100 23:59:59 GMT", 4),
        ])
    func retryAfter(_ value: String, _ seconds: Int) async throws {
        let receiver = HostileServer { _ in [Self.answer(503, "Retry-After: \(value)\r\n")] }
        try await stage(receiver) { application, webhook in
            #expect(await webhook.step(failures: 2) == .failed(.seconds(seconds)))
            let held = try await application.context.store.updateDelivery("mails") { $0?.heldUntil }
            #expect(held == clock.wall.now + .seconds(seconds) + Delivery.lease)
        }
    }

    @Test("the cursor moves after the answer and not before; an event that another node took meanwhile stays taken")
    func order() async throws {
        let (hold, asked) = (HostileServer.Signal(), Locked(0))
        let receiver = HostileServer { _ in
            let count = asked.withLock { count in
                count += 1
                return count
            }
            return count == 1 ? [.wait(hold), Self.answer(200)] : [Self.answer(200)]
        }
        try await stage(receiver) { application, slow in
            let before = try await cursor(application)
            async let late = slow.step(failures: 0)
            while receiver.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            #expect(try await cursor(application) == before)
            let other = try webhook(application, receiver, node: "b")
            #expect(await other.step(failures: 0) == .idle && receiver.requests.count == 1)
            clock.advance(Delivery.lease)
            while await other.step(failures: 0) == .again {}
            let after = try await cursor(application)
            #expect(receiver.requests.count == 3)
            hold.give()
            #expect(await late != .again)
            #expect(try await cursor(application) == after)
        }
    }

    @Test(
        "an event that the trail forgets untaken is counted once, by the node that deletes it, and only if it was wanted"
    )
    func lost() async throws {
        let receiver = HostileServer { _ in [Self.answer(500)] }
        try await stage(receiver) { application, webhook in
            guard case .failed = await webhook.step(failures: 0) else { return #expect(Bool(false)) }
            let other = try self.webhook(application, receiver, node: "b")
            var cleanUp = ServerConfiguration.CleanUp()
            cleanUp.auditRetentionDays = 1
            var maintenance = Maintenance(
                context: application.context, logger: .silent, cleanUp: cleanUp, webhooks: [other])
            clock.advance(.seconds(20))
            let young = AuditEvent(.loginFailed, at: clock.wall.now, by: .system)
            try await application.context.store.append([young])
            await maintenance.sweepEvents(pause: .zero)
            #expect(other.metrics.lost.value == 0 && webhook.metrics.lost.value == 0)
            #expect(await webhook.step(failures: 0) != .idle)
            clock.advance(.seconds(86_380))
            await maintenance.sweepEvents(pause: .zero)
            #expect(other.metrics.lost.value == 2, "the other node still holds the lease")
            maintenance.webhooks = [webhook]
            await maintenance.sweepEvents(pause: .zero)
            #expect(other.metrics.lost.value == 2 && webhook.metrics.lost.value == 0)
        }
    }
}
