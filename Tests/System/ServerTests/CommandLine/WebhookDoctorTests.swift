import FoundationEssentials
import HostileServer
import PostgresFixture
import Testing

@testable import sojourn

/// What the doctor says of webhooks: of a closed database, of one in use, and of PostgreSQL.
@Suite("Doctor: webhooks", .timeLimit(.minutes(2)))
struct WebhookDoctorTests {
    private let folder = StartingFolder()
    private let now = Int64(Date().timeIntervalSince1970)

    private var environment: [String: String] {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        return [
            "SOJOURN_CONFIG": "c.json5", "SOJOURN_WEBHOOK_SECRET_MAILS": secret,
            "SOJOURN_WEBHOOK_SECRET_AUDIT": secret,
        ]
    }

    private func configure(_ url: String) {
        folder.write(
            "c.json5",
            """
            {webhooks: [{name: 'mails', url: '\(url)', events: ['client_created', 'admin_key_created']},
                {name: 'audit', url: '\(url)', events: ['database_restored']}]}
            """)
    }

    private func lines(_ database: String = "sqlite:db") async throws -> [Substring] {
        var program = CommandLineProgram(folder)
        program.environment = environment
        return try await program.run(["doctor", "--database", database]).output.split(separator: "\n")
            .filter { $0.dropFirst(6).hasPrefix("webhook") }
    }

    /// Rows of two that are configured and one that is not.
    private var rows: String {
        """
        INSERT INTO deliveries VALUES ('mails', 0, 0, '', 0, \(now - 660)), ('audit', 7, 0, '', 0, NULL),
            ('gone', 0, 0, '', 0, \(now - 9000))
        """
    }

    private func expectBoth(_ lines: [Substring]) {
        #expect(lines.count == 2, "\(lines)")
        #expect(
            lines.first?.hasPrefix(
                "warn  webhook          mails has not taken its next event for 11 minutes: the server's log says why.")
                == true)
        #expect(lines.last == "ok    webhook          audit takes its events")
    }

    @Test("the doctor on SQLite says nothing before webhooks have begun, then how each is, with a server and without")
    func sqlite() async throws {
        // No receiver listens there.
        let closed = HostileServer { _ in [] }
        closed.stop()
        configure(closed.origin)
        var program = CommandLineProgram(folder)
        program.environment = environment
        #expect(try await program.run(["migrate", "--database", "sqlite:db"]).status == 0)
        #expect(try await lines().isEmpty)
        #expect(folder.execute(rows))
        expectBoth(try await lines())
        let server = try await CrashServer(folder, environment: environment)
        // Its first delivery fails soon after the start.
        let deadline = ContinuousClock.now + .seconds(20)
        while try await lines().first?.hasPrefix("warn") != true, ContinuousClock.now < deadline {}
        expectBoth(try await lines())
        await server.kill()
    }

    @Test("the doctor on PostgreSQL says what the database says")
    func postgres() async throws {
        configure("http://127.0.0.1:9")
        let url = try PostgresServer.shared.newDatabase()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        var program = CommandLineProgram(folder)
        program.environment = environment
        #expect(try await program.run(["migrate", "--database", url]).status == 0)
        #expect(try await lines(url).isEmpty)
        try PostgresServer.shared.run(rows, schema: schema)
        expectBoth(try await lines(url))
    }
}
