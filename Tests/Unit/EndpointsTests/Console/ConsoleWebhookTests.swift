import HTTP
import Locks
import Sessions
import Testing

@testable import Endpoints

/// The test of a webhook: the call of admins, and the button of the page of the deliveries.
@Suite struct ConsoleWebhookTests {
    /// Gives `body` a browser before a server that has the webhook `mails`.
    private static func with(
        _ scope: AdminKey.Scope, answering test: WebhookTest,
        _ body: (ConsoleBrowser, EndpointsFixture) async throws -> Void
    ) async throws {
        try await ConsoleBrowser.with(scope) { browser, server in
            let now = server.context.clock.now
            _ = try await server.store.updateDelivery("mails") { progress in progress = DeliveryProgress(since: now) }
            server.environment.machine.withLock { machine in
                machine.testWebhook = { name in name == "mails" ? test : nil }
            }
            try await body(browser, server)
        }
    }

    @Test func aReceiverThatTakesTheMessageIsSaid() async throws {
        let test = WebhookTest(id: "test_1", isTaken: true, milliseconds: 12, status: 200, content: "thanks <b>")
        try await Self.with(.support, answering: test) { browser, server in
            let path = "/console/deliveries"
            let page = await browser.get(path)
            #expect(page.words.contains("Send a signed test message to mails?"))
            #expect(page.words.contains("sojourn webhook test mails"))
            #expect(page.words.contains("-X POST http://localhost:8081/admin/v1/webhooks/mails/test"))
            let answer = try await browser.act(page, path, ["act": "webhook-test", "webhook": "mails"])
            #expect(answer.status == 200)
            #expect(
                answer.words.contains(
                    "mails has taken the test message. It answered with the status 200 after 12 ms. It said: “thanks <b>”."
                ),
                "\(answer.words)")
            let call = await server.admin(.post, "/admin/v1/webhooks/mails/test")
            #expect(call.bool("taken") == true && call.integer("status") == 200 && call.string("webhook") == "mails")
            #expect(await server.admin(.post, "/admin/v1/webhooks/other/test").status == 404)
        }
    }

    @Test func aReceiverThatCannotBeReachedIsSaid() async throws {
        let test = WebhookTest(id: "test_1", isTaken: false, milliseconds: 5, failure: "timed_out")
        try await Self.with(.support, answering: test) { browser, server in
            let path = "/console/deliveries"
            let page = await browser.get(path)
            let answer = try await browser.act(page, path, ["act": "webhook-test", "webhook": "mails"])
            #expect(
                answer.words.contains(
                    "mails has not taken the test message. There was no answer, timed out, after 5 ms."))
            // A webhook that has gone from the configuration.
            let gone = try await browser.act(page, path, ["act": "webhook-test", "webhook": "gone"])
            #expect(gone.status == 422, "\(gone.words)")
        }
    }

    @Test func aKeyThatReadsTestsNothing() async throws {
        try await Self.with(.read, answering: WebhookTest(id: "x", isTaken: true, milliseconds: 1)) { browser, _ in
            #expect(!(await browser.get("/console/deliveries")).words.contains("Test mails"))
        }
    }
}
