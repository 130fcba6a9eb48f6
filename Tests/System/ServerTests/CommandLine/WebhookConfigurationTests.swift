import FoundationEssentials
import HTTPClient
import Repository
import Sessions
import Testing

@testable import Server

/// `webhooks`: what becomes of good entries, a line for each mistake, and where the secrets come from.
@Suite struct WebhookConfigurationTests {
    private static let (first, second) = (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    )

    private let folder = StartingFolder()
    private let clock = StartingClock()

    private static func configuration(_ entries: String) throws -> Configuration {
        var sources = Configuration.Sources()
        sources.file = ("f", Array("{webhooks: [\(entries)]}".utf8))
        return try Configuration(from: sources)
    }

    private static let least = "name: 'mails', url: 'https://hooks.example/x'"

    /// Whoever comes from a version that had one webhook is told where it has gone.
    @Test(arguments: ["webhook: {url: 'https://a.example'}", "webhook: {events: []}", ""])
    func theOneOfBefore_isRefusedWithItsNewPlace(_ text: String) throws {
        var sources = Configuration.Sources()
        sources.file = ("f", Array("{\(text)}".utf8))
        if text.isEmpty { sources.environment = ["SOJOURN_WEBHOOK_SECRET": Self.first] }
        let problem = #expect(throws: (any Error).self) { try Configuration(from: sources) }
        #expect("\(String(describing: problem))".contains("an entry of webhooks now"))
        #expect(!"\(String(describing: problem))".contains(Self.first))
    }

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
            let event = RecordedEvent(id: 1, event: AuditEvent(kind, at: clock.wall.now, by: .system))
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
        let problems = #expect(throws: Configuration.Problems.self) { try Self.configuration(entries) }
        #expect(
            problems?.lines.contains { $0.hasPrefix("f: webhooks") && $0.contains(part) } == true,
            "\(String(describing: problems))")
    }

    @Test func aSecretVariableIsKnown_onlyIfItsWebhookIs() throws {
        var sources = Configuration.Sources()
        sources.file = ("f", Array("{webhooks: [{\(Self.least)}]}".utf8))
        sources.environment = ["SOJOURN_WEBHOOK_SECRET_MAILS": Self.first]
        #expect(throws: Never.self) { try Configuration(from: sources) }
        sources.environment = ["SOJOURN_WEBHOOK_SECRET_MAIL": Self.first]
        let problems = #expect(throws: Configuration.Problems.self) { try Configuration(from: sources) }
        #expect(
            problems?.lines == [
                "environment: unknown variable SOJOURN_WEBHOOK_SECRET_MAIL; did you mean SOJOURN_WEBHOOK_SECRET_MAILS?"
            ])
    }

    @Test(arguments: [
        ("\(first)\n", 1), ("\(first)\n\(second)\n", 2), ("\(first),\(second)", 2), ("\(first) \(second) \(first)", 0),
        ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 0), ("whsec_", 0), ("whsec_c2hvcnQ=", 0), ("whsec_ä", 0), ("", 0),
        ("\(first)\nwhsec_c2hvcnQ=", 0),
    ])
    func secrets_areOneOrTwo(_ text: String, _ count: Int) { #expect((Webhook.secrets(text)?.count ?? 0) == count) }

    @Test func theSignatureIsThatOfTheExampleOfStandardWebhooks_andOneForEachSecret() throws {
        let secrets = try #require(Webhook.secrets(Self.first + "," + Self.second))
        let body = Array(#"{"test": 2432232314}"#.utf8)
        let sign = { Webhook.signature("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body, secrets: $0) }
        let example = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(sign([secrets[0]]) == example)
        #expect(sign(secrets) == example + " " + sign([secrets[1]]) && sign([secrets[1]]) != example)
    }

    @Test func aStartSaysWhatTheConfigurationLacks() async throws {
        var configuration = try Self.configuration("{\(Self.least)}")
        let application = try await Application.open(folder.configuration, clock.surroundings())
        var surroundings = clock.surroundings()
        func problem() -> String {
            let error = #expect(throws: StartError.self) {
                try configuration.webhooks[0].secrets(surroundings)
            }
            return error?.description ?? ""
        }
        #expect(problem().hasPrefix("the webhook mails needs secret_file, or SOJOURN_WEBHOOK_SECRET_MAILS: "))
        configuration.webhooks[0].secretFile = folder.file("secret")
        #expect(problem() == "secret_file \(folder.file("secret")) of the webhook mails: No such file or directory")
        folder.write("secret", "whsec_short")
        #expect(problem().hasPrefix("secret_file \(folder.file("secret")) of the webhook mails must hold whsec_"))
        surroundings.webhookSecretVariables = ["SOJOURN_WEBHOOK_SECRET_MAILS": "whsec_short"]
        #expect(problem().hasPrefix("SOJOURN_WEBHOOK_SECRET_MAILS must hold whsec_ and 24 to 64 bytes"))
        // The variable goes over the file.
        surroundings.webhookSecretVariables = ["SOJOURN_WEBHOOK_SECRET_MAILS": Self.second]
        folder.write("secret", Self.first)
        var targets = try application.webhooks(configuration.webhooks, surroundings).map(\.target)
        #expect(targets.map(\.secrets) == [Webhook.secrets(Self.second)])
        await application.close()
        let next = try await Application.open(folder.configuration, clock.surroundings())
        targets = try next.webhooks(configuration.webhooks, clock.surroundings()).map(\.target)
        #expect(targets.map(\.secrets) == [Webhook.secrets(Self.first)] && targets.map(\.name) == ["mails"])
        await next.close()
    }
}
