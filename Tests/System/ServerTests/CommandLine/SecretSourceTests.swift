import Federation
import FoundationEssentials
import Testing

@testable import Configuration
@testable import Deliveries
@testable import Server

/// The sources of the secrets of webhooks and of clients at identity providers: a file, or a variable that overrides it.
@Suite struct SecretSourceTests {
    private static let (first, second) = (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    )

    private let folder = StartingFolder()
    private let clock = StartingClock()

    @Test func aStartSaysWhatTheConfigurationLacks() async throws {
        var sources = ServerConfiguration.Sources()
        sources.file = ("f", Array("{webhooks: [{name: 'mails', url: 'https://hooks.example/x'}]}".utf8))
        var configuration = try ServerConfiguration(from: sources)
        let application = try await Application.open(folder.configuration, clock.environment())
        var environment = clock.environment()
        func problem() -> String {
            let error = #expect(throws: StartError.self) {
                try configuration.webhooks[0].target(environment)
            }
            return error?.description ?? ""
        }
        #expect(problem().hasPrefix("the webhook mails needs secret_file, or SOJOURN_WEBHOOK_SECRET_MAILS: "))
        configuration.webhooks[0].secretFile = folder.file("secret")
        #expect(problem() == "secret_file \(folder.file("secret")) of the webhook mails: No such file or directory")
        folder.write("secret", "whsec_short")
        #expect(problem().hasPrefix("secret_file \(folder.file("secret")) of the webhook mails must hold whsec_"))
        environment.webhookSecretVariables = ["SOJOURN_WEBHOOK_SECRET_MAILS": "whsec_short"]
        #expect(problem().hasPrefix("SOJOURN_WEBHOOK_SECRET_MAILS must hold whsec_ and 24 to 64 bytes"))
        // The variable goes over the file.
        environment.webhookSecretVariables = ["SOJOURN_WEBHOOK_SECRET_MAILS": Self.second]
        folder.write("secret", Self.first)
        func targets(of webhooks: [Delivery]) async throws -> [WebhookTarget] {
            var targets: [WebhookTarget] = []
            for webhook in webhooks {
                targets.append(try #require(try await webhook.source() as? WebhookSource).target)
            }
            return targets
        }
        var known = try await targets(of: try application.webhooks(configuration.webhooks, environment))
        #expect(known.map(\.secrets) == [WebhookSecrets.parse(Self.second)])
        await application.close()
        let next = try await Application.open(folder.configuration, clock.environment())
        known = try await targets(of: try next.webhooks(configuration.webhooks, clock.environment()))
        #expect(known.map(\.secrets) == [WebhookSecrets.parse(Self.first)] && known.map(\.name) == ["mails"])
        await next.close()
    }

    /// The secret of a client is in a file or in a variable that only a provider of the configuration has.
    @Test func clientSecret_comesFromItsFileOrItsVariable() throws {
        let folder = StartingFolder()
        let path = folder.path + "/secret"
        var sources = ServerConfiguration.Sources()
        sources.file = (
            "f",
            Array(
                """
                {identity_providers: [{name: 'ac-me', issuer: 'https://acme.example', audiences: ['app'],
                 recheck_interval_seconds: 3600, client_secret_file: '\(path)'}]}
                """.utf8)
        )
        sources.environment = ["SOJOURN_CLIENT_SECRET_AC_ME": "from the variable"]
        let configuration = try ServerConfiguration(from: sources)
        var environment = StartingClock().environment()
        let secret = { try Application.makeProviders(configuration, environment).first?.recheck?.clientSecret }
        #expect(throws: StartError.self) { try secret() }
        try Data("from the file\n".utf8).write(to: URL(filePath: path))
        #expect(try secret() == "from the file")
        environment.clientSecretVariables = sources.environment
        #expect(try secret() == "from the variable")
        try Data("two\nlines\n".utf8).write(to: URL(filePath: path))
        environment.clientSecretVariables = [:]
        #expect(throws: StartError.self) { try secret() }
        sources.environment = ["SOJOURN_CLIENT_SECRET_OTHER": "x"]
        #expect(throws: ServerConfiguration.Problems.self) { try ServerConfiguration(from: sources) }
    }
}
