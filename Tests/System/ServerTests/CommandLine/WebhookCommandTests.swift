import HostileServer
import JSON
import Testing

@testable import Deliveries
@testable import Server
@testable import sojourn

/// `sojourn webhook test`, with receivers of this test's own.
@Suite("Command line: webhook test", .timeLimit(.minutes(1)))
struct WebhookCommandTests {
    private static let secrets = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

    private let folder = StartingFolder()

    private func test(_ words: String..., url: String) async throws -> CommandLineProgram.Result {
        folder.write("secrets", Self.secrets)
        folder.write(
            "sojourn.json5",
            "{webhooks: [{name: 'mails', url: '\(url)', secret_file: 'secrets'}, {name: 'bare', url: '\(url)'}]}")
        return try await CommandLineProgram(folder).run(["webhook", "test"] + words)
    }

    private static func receiver(_ status: Int, _ content: String = "") -> HostileServer {
        HostileServer { _ in
            [
                .say(
                    "HTTP/1.1 \(status) Said\r\nContent-Length: \(content.utf8.count)\r\nConnection: close\r\n\r\n\(content)"
                )
            ]
        }
    }

    @Test("a receiver that takes the test gets one message, signed by both secrets, and no database is made")
    func taken() async throws {
        let receiver = Self.receiver(204)
        let result = try await test("mails", url: receiver.origin + "/x")
        #expect(result.status == 0 && result.output.hasPrefix("mails took it: status 204 after "), "\(result)")
        try #require(receiver.requests.count == 1)
        let parts = receiver.requests[0].split(separator: "\r\n\r\n")
        let lines = parts[0].split(separator: "\r\n")
        func field(_ name: String) -> String {
            String(lines.first { $0.hasPrefix(name + ": ") }?.dropFirst(name.count + 2) ?? "")
        }
        #expect(lines[0] == "POST /x HTTP/1.1" && field("webhook-id").hasPrefix("test_"))
        let body = JSONValue(text: Array(parts[1].utf8))
        #expect(body?["type"]?.string == "webhook_test" && body?["data"]?["event_id"]?.string == field("webhook-id"))
        let signature = WebhookSecrets.signature(
            field("webhook-id"), field("webhook-timestamp"), Array(parts[1].utf8),
            secrets: try #require(WebhookSecrets.parse(Self.secrets)))
        #expect(field("webhook-signature") == signature && signature.split(separator: " ").count == 2)
        #expect(!folder.exists("sojourn.sqlite"))
        // What receivers that know the old secret, the new one, or neither verify it with.
        let values = ["id", "timestamp", "signature"].map { field("webhook-" + $0) }
        let known = Self.secrets.split(separator: " ").map(String.init)
        for secret in known + ["whsec_" + String(repeating: "B", count: 32)] {
            let result = try await PeerScript.run(
                "Clients/standard_webhooks.py", [secret] + values, input: String(parts[1]))
            #expect((result.status == 0 && result.text == "webhook_test\n") == known.contains(secret), "\(result.text)")
        }
        receiver.stop()
    }

    @Test("the refusal of a receiver is quoted, without codes that a terminal obeys")
    func notTaken() async throws {
        let receiver = Self.receiver(401, "who\u{1B}[2J are you" + String(repeating: "!", count: 500))
        var result = try await test("mails", url: receiver.origin)
        #expect(result.status == 1 && result.errors.contains("mails did not take it: status 401 after "))
        #expect(result.errors.contains("who\u{FFFD}[2J are you!") && !result.errors.contains("\u{1B}"))
        #expect(result.errors.utf8.count < 400)
        result = try await test("mails", "--json", url: receiver.origin)
        let answer = JSONValue(text: Array(result.output.utf8))
        #expect(
            result.status == 1 && answer?["taken"] == .bool(false) && answer?["status"] == .integer(401), "\(result)")
        receiver.stop()
        result = try await test("mails", url: receiver.origin)
        #expect(result.status == 1 && result.errors.contains("mails did not take it: unreachable after "))
    }

    @Test("a name that is not configured, and a secret that is not there, are said")
    func mistakes() async throws {
        var result = try await test("mail", url: "https://x.example")
        #expect(result.status == 3 && result.errors.contains("no webhook 'mail'; it has mails, bare"), "\(result)")
        result = try await test("bare", url: "https://x.example")
        #expect(result.status == 1 && result.errors.contains("bare needs secret_file, or SOJOURN_WEBHOOK_SECRET_BARE"))
    }
}
