import Cryptography
import FoundationEssentials
import Glibc
import HTTPClient
import HostileServer
import JSON
import Locks
import Sessions
import Telemetry
import Testing

@testable import Configuration
@testable import Deliveries
@testable import Server
@testable import sojourn

/// The webhook, against a server that this test is: what comes, how it is signed, and what becomes of what is not taken.
@Suite("Webhook", .timeLimit(.minutes(3)))
struct WebhookTests {
    private static let secret = [UInt8](repeating: 7, count: 32)

    private let folder = StartingFolder()
    private let clock = StartingClock()

    /// A request to the receiver.
    fileprivate struct Message {
        let fields: [String: String]
        let body: String
        init(_ request: String) {
            let parts = request.split(separator: "\r\n\r\n", maxSplits: 1)
            var fields: [String: String] = [:]
            for line in parts[0].split(separator: "\r\n").dropFirst() {
                let pair = line.split(separator: ": ", maxSplits: 1)
                fields[pair[0].lowercased()] = pair.count > 1 ? String(pair[1]) : ""
            }
            self.fields = fields
            body = parts.count > 1 ? String(parts[1]) : ""
        }
        var id: String { fields["webhook-id"] ?? "" }
        var json: JSONValue { JSONValue(text: Array(body.utf8)) ?? .null }
    }

    private func webhook(
        _ application: Application, _ receiver: StatusReceiver, node: String = "a", name: String = "mails",
        of events: WebhookEvents = .named([.sessionStarted, .sessionEnded]), in registry: MetricsRegistry? = nil,
        locate: WebhookMessage.Locator? = nil
    ) throws -> Delivery {
        Delivery(
            webhook: WebhookTarget(
                name: name, url: try #require(OutboundURL(receiver.server.origin + "/hook", plainLoopback: true)),
                secrets: [Self.secret], events: events),
            context: application.context, client: HTTPClient(HTTPClient.Options(width: 1)), logger: .silent,
            metrics: DeliveryMetrics.webhooks([name], in: registry ?? MetricsRegistry(), clock: clock.wall)[0],
            node: node, locate: locate)
    }

    /// A user, and a way to log them in on a device.
    private func makeUser(_ application: Application) async throws -> (String) async throws -> Void {
        let profile = User.Profile(email: "anna@example.org", displayName: "Anna")
        let administration = Administration(application.context)
        let user = try await administration.createUser(
            username: "anna", password: nil, profile: profile, offlineSessionMax: nil, by: .system)
        return { device in
            let session = Session(
                id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID,
                device: Device(id: device, name: "Phone", platform: "ios"), startedAt: application.context.clock.now,
                epoch: 1)
            let origin = Origin(actor: "user", remoteAddress: "192.0.2.9")
            _ = try await application.context.store.openSession(
                userID: user.id, clientID: Client.mobileID, deviceID: device
            ) { opening in
                opening.session = session
                opening.events = [AuditEvent(.sessionStarted, at: session.startedAt, by: origin, session: session)]
            }
        }
    }

    private func drain(_ webhook: Delivery) async { while await webhook.step(failures: 0) == .again {} }

    @Test("events come in order, signed, with address and device; a new device is told from a known one")
    func delivery() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let receiver = StatusReceiver(204)
        let webhook = try webhook(application, receiver)
        let logIn = try await makeUser(application)
        // What was before the webhook is not sent.
        try await logIn("early")
        clock.advance(.seconds(10))
        await drain(webhook)
        #expect(receiver.messages.isEmpty)
        for device in ["phone", "phone", "early"] {
            try await logIn(device)
            clock.advance(.seconds(1))
        }
        await drain(webhook)
        let messages = receiver.messages
        #expect(messages.map { $0.json["type"]?.string } == ["session_started", "session_started", "session_started"])
        #expect(messages.map { $0.json["data"]?["new_device"] } == [.bool(true), .bool(false), .bool(false)])
        #expect(Set(messages.map(\.id)).count == 3)
        for message in messages {
            let data = message.json["data"]
            #expect(data?["user"]?["email"]?.string == "anna@example.org")
            #expect(data?["user"]?["username"]?.string == "anna" && data?["user"]?["display_name"]?.string == "Anna")
            #expect(data?["device"]?["name"]?.string == "Phone" && data?["device"]?["platform"]?.string == "ios")
            #expect(data?["remote_address"]?.string == "192.0.2.9")
            let time = message.fields["webhook-timestamp"] ?? ""
            #expect(Int64(time) == application.context.clock.now.secondsSinceEpoch)
            let tag = HMACSHA256Key(Self.secret).authenticate(Array("\(message.id).\(time).\(message.body)".utf8))
            #expect(message.fields["webhook-signature"] == "v1," + Data(tag).base64EncodedString())
        }
        try await logIn("tablet")
        await drain(webhook)
        #expect(receiver.messages.last?.json["data"]?["new_device"] == .bool(true))
        #expect(receiver.messages.last?.json["data"]?["place"] == nil)
        receiver.server.stop()
        await application.close()
    }

    @Test("a token that has left its device is told by default, with the device, the address and the time")
    func misuse() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let receiver = StatusReceiver(204)
        let webhook = try webhook(application, receiver, of: .usual)
        _ = try await makeUser(application)
        await drain(webhook)
        let services = Services(application.context)
        let device = Device(id: "phone", name: "Phone", platform: "ios")
        var request = SessionRequest(clientID: Client.mobileID, device: device)
        request.keyThumbprint = "k"
        let origin = Origin(actor: "user", remoteAddress: "192.0.2.9")
        let grant = try await services.login.mintSession(request, for: .username("anna"), from: origin)
        clock.advance(.seconds(7))
        let token = try #require(grant.refreshToken)
        let thief = Origin(actor: "user", remoteAddress: "198.51.100.7")
        await #expect(throws: ServiceError.refused(.bindingMismatch)) {
            _ = try await services.refresh.refresh(RefreshAttempt(token: token, clientID: nil), from: thief)
        }
        await drain(webhook)
        let message = try #require(receiver.messages.last?.json)
        #expect(message["type"]?.string == "refresh_token_misused")
        let time = try #require(message["timestamp"]?.string.flatMap { try? Date($0, strategy: .iso8601) })
        #expect(Int64(time.timeIntervalSince1970) == application.context.clock.now.secondsSinceEpoch)
        let data = message["data"]
        #expect(data?["user"]?["email"]?.string == "anna@example.org")
        #expect(data?["device"]?["device_id"]?.string == "phone" && data?["device"]?["name"]?.string == "Phone")
        #expect(data?["remote_address"]?.string == "198.51.100.7" && data?["reason"]?.string == "no_key")
        #expect(data?["session_id"]?.string == grant.session.id.description && data?["revokes"] == nil)
        receiver.server.stop()
        await application.close()
    }

    @Test("a change of an address is told to the old one as well, and says of each whether it was verified")
    func addresses() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let receiver = StatusReceiver(204)
        let webhook = try webhook(application, receiver, of: .usual)
        _ = try await makeUser(application)
        await drain(webhook)
        let administration = Administration(application.context)
        let edits: [(@Sendable (inout User.Profile) -> Void, old: String?, new: String?, isVerified: Bool?)] = [
            ({ $0.email = "eve%@example.org" }, "anna@example.org", "eve%@example.org", false),
            ({ $0.email = nil }, "eve%@example.org", nil, nil),
            (
                {
                    $0.email = "anna@example.org"
                    $0.isEmailVerified = true
                }, nil, "anna@example.org", true
            ),
        ]
        for (edit, old, new, isVerified) in edits {
            _ = try await administration.changeUser(.username("anna"), by: .system) { user in
                edit(&user.profile)
                return nil
            }
            await drain(webhook)
            let message = try #require(receiver.messages.last?.json)
            #expect(message["type"]?.string == "email_changed")
            let data = message["data"]
            #expect(data?["previous_email"]?.string == old)
            #expect(data?["user"]?["email"]?.string == new)
            #expect(data?["user"]?["email_verified"] == isVerified.map(JSONValue.bool))
        }
        #expect(receiver.messages.count == edits.count)
        receiver.server.stop()
        await application.close()
    }

    @Test("a mail about a login reaches the address that the user had then, and not one of later")
    func addressAtTheEvent() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let receiver = StatusReceiver(204)
        let webhook = try webhook(application, receiver, of: .usual)
        let logIn = try await makeUser(application)
        let administration = Administration(application.context)
        await drain(webhook)
        // More than what is read of the trail at once lies between.
        try await logIn("thief's")
        for number in 0..<250 { try await logIn("phone-\(number)") }
        for address in ["thief@example.net", "thief@example.com"] {
            _ = try await administration.changeUser(.username("anna"), by: .system) { user in
                user.profile.email = address
                return nil
            }
        }
        try await logIn("later")
        await drain(webhook)
        let people = receiver.messages.map { $0.json["data"]?["user"] }
        let addresses = people.map { $0?["email"]?.string }
        #expect(addresses.prefix(251).allSatisfy { $0 == "anna@example.org" })
        #expect(addresses.suffix(3) == ["thief@example.net", "thief@example.com", "thief@example.com"])
        #expect(people.map { $0?["email_verified"] }.suffix(3) == [nil, .bool(false), .bool(false)])
        receiver.server.stop()
        await application.close()
    }

    @Test("events come with the place of their address, if the file of places knows it")
    func place() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let receiver = StatusReceiver(204)
        try await PlaceFiles.write(folder.file("places.mmdb"))
        let locations = try GeoDatabaseFile(
            path: folder.file("places.mmdb"), copyingTo: folder.path, logger: .silent)
        let webhook = try webhook(application, receiver, locate: { locations.location(of: $0) })
        await drain(webhook)
        for address in ["192.0.2.9", "198.51.100.1", "10.1.2.3", "8.8.8.8", nil] {
            let origin = Origin(actor: "user", remoteAddress: address)
            let event = AuditEvent(.sessionEnded, at: clock.wall.now, by: origin, reason: "refresh_token_reused")
            try await application.context.store.append([event])
        }
        await drain(webhook)
        let places = receiver.messages.map { $0.json["data"]?["place"] }
        let words = { (members: [String: String]) in JSONValue.object(members.mapValues { .string($0) }) }
        #expect(
            places == [
                words([
                    "country": "DE", "country_name": "Germany", "region": "Bavaria", "city": "Munich", "language": "en",
                ]), words(["country": "FR", "country_name": "France", "language": "en"]), nil, nil, nil,
            ])
        receiver.server.stop()
        await application.close()
    }

    @Test("an event that is not taken comes again, ever more slowly, before any other, and after a restart too")
    func retries() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let receiver = StatusReceiver(204)
        let registry = MetricsRegistry()
        let first = try webhook(application, receiver, in: registry)
        let logIn = try await makeUser(application)
        await drain(first)
        try await logIn("a")
        try await logIn("b")
        receiver.status.withLock { $0 = 500 }
        var delays: [Duration] = []
        for failures in [0, 1, 2, 8, 30] {
            guard case .failed(let delay) = await first.step(failures: failures) else { break }
            delays.append(delay)
        }
        #expect(delays == [1, 2, 4, 256, 300].map { .seconds($0) })
        #expect(Set(receiver.messages.map(\.id)).count == 1)
        #expect(first.metrics.failed.value == 5)
        let failing = try await application.context.store.updateDelivery("mails") { $0?.failingSince }
        #expect(failing == application.context.clock.now)
        // Another node leaves it alone until the first one is gone for sure, then goes on where it stopped.
        receiver.status.withLock { $0 = 200 }
        let second = try webhook(application, receiver, node: "b")
        #expect(await second.step(failures: 0) == .idle)
        clock.advance(.seconds(331))
        await drain(second)
        let ids = receiver.messages.map(\.id)
        #expect(ids.count == 7 && ids[5] == ids[0] && ids[6] != ids[0])
        #expect(try await application.context.store.updateDelivery("mails") { $0?.failingSince } == nil)
        // Only the node that sends shows how long the webhook fails.
        #expect(registry.render().contains(#"sojourn_webhook_failing_seconds{webhook="mails"} 331"#))
        #expect(await first.step(failures: 0) == .idle)
        #expect(registry.render().contains(#"sojourn_webhook_failing_seconds{webhook="mails"} 0"#))
        receiver.server.stop()
        await application.close()
    }

    @Test("a receiver that does not answer delays no other, and each has its own cursor, lease and numbers")
    func several() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let (broken, sound) = (StatusReceiver(204), StatusReceiver(204))
        broken.status.withLock { $0 = 500 }
        let (mails, audit) = (
            try webhook(application, broken), try webhook(application, sound, name: "audit")
        )
        let logIn = try await makeUser(application)
        for webhook in [mails, audit] { await drain(webhook) }
        for device in ["a", "b", "c"] { try await logIn(device) }
        for failures in 0..<3 {
            guard case .failed = await mails.step(failures: failures) else { return #expect(Bool(false)) }
        }
        await drain(audit)
        #expect(sound.messages.count == 3 && Set(broken.messages.map(\.id)) == [sound.messages[0].id])
        #expect(mails.metrics.failed.value == 3 && mails.metrics.delivered.value == 0)
        #expect(audit.metrics.failed.value == 0 && audit.metrics.delivered.value == 3)
        let progress = try await application.context.store.deliveries()
        #expect(progress.keys.sorted() == ["audit", "mails"])
        #expect(progress["mails"]?.failingSince != nil && progress["audit"]?.failingSince == nil)
        for receiver in [broken, sound] { receiver.server.stop() }
        await application.close()
    }

    @Test("the cursor of a webhook is forgotten a week after the last node that knew it has let go of it")
    func forgotten() async throws {
        let application = try await Application.open(folder.configuration, clock.environment())
        let store = application.context.store
        let receiver = StatusReceiver(204)
        let known = try webhook(application, receiver)
        for name in ["mails", "old", "busy"] {
            try await store.updateDelivery(name) { [now = clock.wall.now] in $0 = DeliveryProgress(since: now) }
        }
        let maintenance = Maintenance(context: application.context, logger: .silent, webhooks: [known])
        await drain(known)
        clock.advance(Maintenance.webhookMemory)
        await maintenance.forgetWebhooks()
        #expect(try await store.deliveries().count == 3)
        // The lease is renewed although nothing waits: a node without this webhook would forget its progress otherwise.
        await drain(known)
        #expect(try await store.delivery("mails")?.heldUntil == clock.wall.now + Delivery.lease)
        try await store.updateDelivery("busy") { [now = clock.wall.now] in
            _ = $0?.take(by: "another node", at: now, for: Delivery.lease)
        }
        clock.advance(.seconds(1))
        await maintenance.forgetWebhooks()
        #expect(try await store.deliveries().keys.sorted() == ["busy", "mails"])
        receiver.server.stop()
        await application.close()
    }
}

extension StatusReceiver {
    fileprivate var messages: [WebhookTests.Message] { server.requests.map(WebhookTests.Message.init) }
}
