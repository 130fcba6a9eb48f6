import HTTP
import HostileServer
import JSON
import Server
import Testing

@testable import sojourn

/// A whole server: an admin lets it send a test message.
@Suite("Webhooks: the call that tests one", .timeLimit(.minutes(1)))
struct WebhookTestCallTests {
    private let folder = StartingFolder()
    private let receiver = HostileServer { _ in
        [.say("HTTP/1.1 202 Taken\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")]
    }

    @Test("the receiver gets one signed message, and the answer is told; a name that is not configured is not found")
    func wholeServer() async throws {
        folder.write("c.json5", "{webhooks: [{name: 'mails', url: '\(receiver.origin)/x'}]}")
        let server = try await CrashServer(
            folder,
            environment: [
                "SOJOURN_CONFIG": "c.json5", "SOJOURN_WEBHOOK_SECRET_MAILS": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            ])
        let answer = try #require(server.admin(.post, "/webhooks/mails/test", .object([:])))
        let test = answer.json
        #expect(answer.status == 200 && test["taken"] == .bool(true) && test["status"] == .integer(202), "\(answer)")
        #expect(test["content"]?.string == "hi" && test["failure"] == nil)
        let id = try #require(test["webhook_id"]?.string)
        let messages = receiver.requests.filter { $0.contains(#""type":"webhook_test""#) }
        #expect(messages.count == 1 && messages[0].contains("webhook-id: \(id)\r\n"), "\(messages)")
        #expect(server.admin(.post, "/webhooks/other/test", .object([:]))?.status == 404)
        await server.kill()
        receiver.stop()
    }
}
