import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Streams of security events: the calls of admins, and the page of the deliveries.
@Suite struct ConsoleStreamTests {
    @Test func anAdminPausesEnablesAndVerifies() async throws {
        try await EventStreamFixture.with { receiver in
            let server = receiver.server
            let path = "/admin/v1/event-streams/siem"
            #expect(await server.admin(.patch, path, #"{"status":"paused"}"#).status == 404)
            #expect(await server.admin(.post, path + "/verify").status == 404)
            _ = try await receiver.make()
            for body in ["{}", #"{"status":"gone"}"#, #"{"status":"paused","reason":""}"#] {
                #expect(await server.admin(.patch, path, body).status == 400, "\(body)")
            }
            let paused = await server.admin(.patch, path, #"{"status":"paused","reason":"until 18:00"}"#)
            #expect(paused.string("status") == "paused" && paused.string("reason") == "until 18:00")
            _ = try await server.logIn()
            #expect(try await receiver.poll().isEmpty)
            let waiting = try #require(await server.admin(.get, "/admin/v1/event-streams").items.first)
            #expect(waiting.integer("events_waiting") == 1 && waiting.integer("waiting_since") != nil)
            #expect(await server.admin(.patch, path, #"{"status":"enabled"}"#).string("status") == "enabled")
            let events = try await receiver.poll()
            #expect(events.count == 1)
            #expect(await server.admin(.post, path + "/verify").status == 204)
            #expect(await server.admin(.post, path + "/verify").status == 429)
            #expect(try await receiver.poll().contains { $0.place == 0 })
            let changes = await server.admin(.get, "/admin/v1/events?limit=200").items.filter {
                $0.string("event") == "event_stream_changed"
            }
            #expect(changes.compactMap { $0.string("reason") } == ["created", "paused", "enabled"])
        }
    }

    @Test func theLifeOfAStreamIsOnThePage() async throws {
        try await EventStreamFixture.with { receiver in
            let browser = ConsoleBrowser(receiver.server)
            try await browser.enter()
            let (path, form) = ("/console/deliveries", ["client": "siem"])
            #expect(await browser.get(path).words.contains("No client has a stream."))
            _ = try await receiver.make()
            let page = await browser.get(path)
            #expect(page.words.contains("polled") && page.words.contains("enabled"))
            let asked = try await browser.act(
                page, path, form.merging(["act": "stream-pause", "reason": "a b", "show": "commands"]) { $1 })
            #expect(asked.words.contains("sojourn event-stream set --status paused --reason 'a b' siem"))
            #expect(asked.words.contains("-X PATCH http://localhost:8081/admin/v1/event-streams/siem"))
            #expect(asked.words.contains(#"'{"reason":"a b","status":"paused"}'"#), "\(asked.words)")
            #expect(page.words.contains("sojourn event-stream verify siem"))
            let reason = form.merging(["act": "stream-pause", "reason": "a <b>"]) { $1 }
            let paused = try await browser.follow(page, path, reason)
            #expect(paused.words.contains("The status of the stream is set.") && paused.words.contains("“a <b>”"))
            _ = try await receiver.server.logIn()
            #expect(await browser.get(path).words.contains("paused “a <b>”1"))
            let enabled = try await browser.follow(paused, path, form.merging(["act": "stream-enable"]) { $1 })
            #expect(!enabled.words.contains("“a <b>”"))
            let verify = form.merging(["act": "stream-verify"]) { $1 }
            let verified = try await browser.follow(enabled, path, verify)
            #expect(verified.words.contains("not taken yet"))
            let again = try await browser.act(verified, path, verify)
            #expect(again.status == 429 || again.status == 422, "\(again.text)")
            let events = try await receiver.poll()
            _ = try await receiver.poll(receiver.acknowledge(events))
            #expect(await browser.get(path).words.contains(", and taken"))
        }
    }

    @Test func aStreamIsDisabledAndDeleted() async throws {
        try await EventStreamFixture.with { receiver in
            let browser = ConsoleBrowser(receiver.server)
            try await browser.enter()
            let (path, form) = ("/console/deliveries", ["client": "siem"])
            _ = try await receiver.make()
            let page = await browser.get(path)
            #expect(page.words.contains("sojourn event-stream delete siem"))
            let disable = form.merging(["act": "stream-disable", "reason": "moved"]) { $1 }
            let disabled = try await browser.follow(page, path, disable)
            #expect(disabled.words.contains("“moved”") && !disabled.words.contains("Disable the stream"))
            _ = try await receiver.server.logIn()
            let support = ConsoleBrowser(receiver.server)
            let key = await receiver.server.admin(.post, "/admin/v1/admin-keys", #"{"name":"desk","scope":"support"}"#)
            try await support.enter(key.string("admin_key"))
            let seen = await support.get(path)
            #expect(!seen.words.contains("Delete the stream"))
            let deleted = try await browser.follow(disabled, path, form.merging(["act": "stream-delete"]) { $1 })
            #expect(deleted.words.contains("The stream is deleted"))
            #expect(deleted.words.contains("No client has a stream."))
        }
    }

    /// The last error of a push is that of this node, and the name of the stream is none of a webhook.
    @Test func aFailingReceiverIsSeenAndIsNoWebhook() async throws {
        try await EventStreamFixture.with { receiver in
            let server = receiver.server
            let answer = await receiver.call(
                .post, "/ssf/stream",
                """
                {"delivery":{"method":"urn:ietf:rfc:8935","endpoint_url":"https://siem.example/events"},
                 "events_requested":["\(EventStreamFixture.revoked)"]}
                """)
            let name = DeliveryProgress.name(ofStream: try #require(answer.string("stream_id")))
            let now = server.context.clock.now
            _ = try await server.store.updateDelivery(name) { progress in
                _ = progress?.take(by: "n", at: now, for: .seconds(30))
                _ = progress?.fail(by: "n", at: now, for: .seconds(64), .seconds(30))
            }
            server.context.deliveries.note("status 500 <b>", of: name, at: now, for: .seconds(64))
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            let page = await browser.get("/console/deliveries")
            #expect(page.words.contains("pushed to https://siem.example/events"))
            #expect(page.words.contains("The last error was status 500 <b>") && page.words.contains("Try again now"))
            #expect(page.words.contains("No webhook is configured") && !page.words.contains(name))
        }
    }

    /// A key that may not stop the events of a receiver sees no such act, and cannot do it by hand either.
    @Test func onlyOwnersSetTheStatus() async throws {
        try await EventStreamFixture.with { receiver in
            _ = try await receiver.make()
            let key = try await Administration(receiver.server.context).createAdminKey(
                name: "desk", scope: .support, by: .system
            ).1
            let browser = ConsoleBrowser(receiver.server)
            try await browser.enter(key)
            let page = await browser.get("/console/deliveries")
            #expect(page.words.contains("Verify the stream of siem") && !page.words.contains("Pause the stream"))
            let answer = try await browser.act(
                page, "/console/deliveries", ["act": "stream-pause", "client": "siem"])
            #expect(answer.status == 403 && answer.words.contains("needs an admin key with the scope owner"))
            let items = await receiver.server.admin(.get, "/admin/v1/event-streams").items
            #expect(items.first?.string("status") == "enabled")
        }
    }
}
