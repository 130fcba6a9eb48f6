import Cryptography
import FoundationEssentials
import HTTPClient
import HostileServer
import Locks
import Mail
import Sessions
import Sockets
import Telemetry
import Testing

@testable import Configuration
@testable import Deliveries
@testable import Server

/// A database in a folder of its own, a relay, and the mails between them.
final class MailerFixture: Sendable {
    let folder = "/tmp/sojourn-mailer-" + Hex.encode(RandomSource.system.bytes(6))
    let application: Application
    let configuration: ServerConfiguration
    let environment: Environment
    let metrics: MetricsRegistry
    private let seconds: Locked<Int64>

    var context: ServiceContext { application.context }
    var now: Instant { context.clock.now }

    init() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var configuration = ServerConfiguration()
        configuration.database.path = folder + "/db"
        configuration.server.issuer = "https://login.example"
        configuration.mails.relay = "smtp://127.0.0.1:1"
        configuration.mails.from = "login@example.com"
        configuration.server.publicListen = .ipv4(bytes: [127, 0, 0, 1], port: 0)
        configuration.server.adminListen = .ipv4(bytes: [127, 0, 0, 1], port: 0)
        configuration.limits.eventLoops = 1
        let seconds = Locked<Int64>(1_800_000_000)
        self.seconds = seconds
        metrics = MetricsRegistry()
        environment = Environment(
            clock: WallClock { Instant(secondsSinceEpoch: seconds.withLock { $0 }) },
            secondsPassed: { seconds.withLock { $0 } }, logger: .silent)
        self.configuration = configuration
        application = try await Application.open(configuration, environment)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs `body`, and closes the database after it.
    static func with(_ body: (MailerFixture) async throws -> Void) async throws {
        let fixture = try await MailerFixture()
        do {
            try await body(fixture)
        } catch {
            await fixture.application.close()
            throw error
        }
        await fixture.application.close()
    }

    func advance(_ more: Int64) { seconds.withLock { $0 += more } }

    func deliveries(
        to relay: ScriptedRelay, in registry: MetricsRegistry? = nil, change: (inout MailSetting) -> Void = { _ in }
    ) throws -> MailDeliveries {
        let options = SMTPClient.Options(relay: try #require(RelayURL(relay.url)), helo: "login.example")
        return try deliveries(by: .relay(options), in: registry, change: change)
    }

    func deliveries(
        by way: MailSetting.Way, in registry: MetricsRegistry? = nil, change: (inout MailSetting) -> Void = { _ in }
    ) throws -> MailDeliveries {
        var setting = MailSetting(
            way: way, templates: MailTemplates(from: try #require(MailAddress("Shop <login@example.com>"))))
        change(&setting)
        return MailDeliveries(
            setting, context: context, logger: .silent,
            metrics: MailMetrics(in: registry ?? metrics, clock: context.clock))
    }

    /// A verification that an app has asked for.
    func verify(
        _ purpose: Verification.Purpose = .signUp, _ email: String? = "anna@example.org", isOfAdmin: Bool = false
    ) async throws -> Verification {
        let verification = Verification(
            id: Identifier(random: .system), purpose: purpose,
            mailbox: context.verificationSecrets.mailbox(email ?? "nowhere@example.org"), email: email,
            asker: isOfAdmin ? nil : RandomSource.system.bytes(32), language: "de",
            keyID: context.verificationSecrets.keyID, createdAt: now, codeUntil: now + .seconds(600),
            linkUntil: now + .seconds(3600))
        try await context.store.write(.nothing) { (transaction) throws(TransactionError) in
            _ = try transaction.insert(verification).value()
        }
        return verification
    }

    @discardableResult
    func queue(
        _ kind: QueuedMail.Kind, of verification: Verification? = nil, to email: String? = nil,
        facts: [String: String] = [:], event: Int64? = nil, lifetime: Int64 = 600
    ) async throws -> Identifier<QueuedMail> {
        let mail = QueuedMail(
            id: Identifier(random: .system), kind: kind, verificationID: verification?.id, email: email,
            language: verification?.language ?? "en", facts: facts, event: event, createdAt: now,
            expiresAt: now + .seconds(lifetime), dueAt: now)
        try await context.store.write(.nothing) { (transaction) throws(TransactionError) in
            _ = try transaction.insert(mail).value()
        }
        return mail.id
    }

    /// The mails that wait, or those that do not.
    func mails(dead: Bool = false) async throws -> [QueuedMail] {
        try await Administration(context).mails(dead: dead, after: nil, limit: 200).items
    }

    /// Sends what is due, of both priorities.
    func drain(_ deliveries: MailDeliveries) async {
        for priority in QueuedMail.Priority.allCases { while await deliveries.step(priority) {} }
    }

    func count(_ kind: QueuedMail.Kind, _ outcome: MailOutcome) -> Int {
        let line = "sojourn_mails_total{kind=\"\(kind.rawValue)\",outcome=\"\(outcome.rawValue)\"} "
        return metrics.render().split(separator: "\n").first { $0.hasPrefix(line) }
            .flatMap { Int($0.dropFirst(line.utf8.count)) } ?? 0
    }
}
