import FoundationEssentials
import HTTPClient
import Repository
import Sessions
import Testing

@testable import Configuration
@testable import Deliveries

/// `webhooks`: valid entries, and a line for each mistake.
@Suite struct WebhookConfigurationTests {
    private static let first = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private static func configuration(_ entries: String) throws -> ServerConfiguration {
        var sources = ServerConfiguration.Sources()
        sources.file = ("f", Array("{webhooks: [\(entries)]}".utf8))
        return try ServerConfiguration(from: sources)
    }

    private static let least = "name: 'mails', url: 'https://hooks.example/x'"

    @Test func entries_areTaken_withTheDefaultsOfTheFile() throws {
        let webhooks = try Self.configuration(
            """
            {\(Self.least)}, {name: 'audit-2', url: 'http://127.0.0.1:9/x', secret_file: '/s', events: ['user_deleted']}
            """
        ).webhooks
        #expect(webhooks.map(\.name) == ["mails", "audit-2"])
        #expect(webhooks.map(\.url.description) == ["https://hooks.example/x", "http://127.0.0.1:9/x"])
        #expect(webhooks.map(\.secretFile) == [nil, "/s"] && webhooks[1].events == .named([.userDeleted]))
        #expect(webhooks.map(\.secretVariable) == ["SOJOURN_WEBHOOK_SECRET_MAILS", "SOJOURN_WEBHOOK_SECRET_AUDIT_2"])
        let text = String(
            decoding: try Data(contentsOf: Repository.root.appending(path: "config/sojourn.json5")), as: UTF8.self)
        #expect(webhooks[0].events == .usual)
        for kind in AuditEvent.Kind.allCases {
            let event = RecordedEvent(id: 1, event: AuditEvent(kind, at: Instant(secondsSinceEpoch: 0), by: .system))
            #expect(webhooks[0].events.contains(event) == text.contains("\"\(kind.rawValue)\""), "\(kind)")
        }
    }

    @Test(arguments: [
        ("{}", "webhooks[0].name is missing"), ("{}", "webhooks[0].url is missing"),
        ("{\(least)}, {\(least)}", "webhooks[1].name is 'mails', as that of another"),
        ("{name: 'Mails', url: 'https://x.example'}", "webhooks[0].name must be 1 to 64 lower-case letters"),
        (
            "{name: 'a', url: 'http://x.example'}",
            "webhooks[0].url must be an https URL, or an http URL of this machine"
        ),
        ("{name: 'a', url: 7}", "webhooks[0].url must be"),
        ("{\(least), secret_file: ''}", "secret_file must be a path"),
        ("{\(least), events: ['session_begun']}", "events must be a list of events of the audit trail"),
        ("{\(least), events: []}", "events must be a list"), ("{\(least), event: []}", "did you mean events?"),
        ("'mails'", "webhooks must be a list of objects with name and url, in the file"),
    ])
    func mistakes_areNamed(_ entries: String, _ part: String) {
        let problems = #expect(throws: ServerConfiguration.Problems.self) { try Self.configuration(entries) }
        #expect(
            problems?.lines.contains { $0.hasPrefix("f: webhooks") && $0.contains(part) } == true,
            "\(String(describing: problems))")
    }

    @Test("an unknown variable is refused without its value")
    func unknownVariable() throws {
        var sources = ServerConfiguration.Sources()
        sources.environment = ["SOJOURN_WEBHOOK_SECRET": Self.first]
        let problem = #expect(throws: ServerConfiguration.Problems.self) { try ServerConfiguration(from: sources) }
        #expect(problem?.lines.count == 1)
        #expect(problem?.description.contains("SOJOURN_WEBHOOK_SECRET") == true)
        #expect(problem?.description.contains(Self.first) == false)
    }

    @Test func aSecretVariableIsKnown_onlyIfItsWebhookIs() throws {
        var sources = ServerConfiguration.Sources()
        sources.file = ("f", Array("{webhooks: [{\(Self.least)}]}".utf8))
        sources.environment = ["SOJOURN_WEBHOOK_SECRET_MAILS": Self.first]
        #expect(throws: Never.self) { try ServerConfiguration(from: sources) }
        sources.environment = ["SOJOURN_WEBHOOK_SECRET_MAIL": Self.first]
        let problems = #expect(throws: ServerConfiguration.Problems.self) { try ServerConfiguration(from: sources) }
        #expect(
            problems?.lines == [
                "environment: unknown variable SOJOURN_WEBHOOK_SECRET_MAIL; did you mean SOJOURN_WEBHOOK_SECRET_MAILS?"
            ])
    }
}
