import Cryptography
import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

extension EndpointsFixture {
    /// Puts a mail into the database that a relay has refused.
    func refuseMail(
        _ id: Identifier<QueuedMail> = Identifier(random: .system), lifetime: Int64 = 3600
    ) async throws {
        let now = context.clock.now
        try await store.write(.nothing) { (transaction) throws(TransactionError) in
            let mail = QueuedMail(
                id: id, kind: .newDevice, email: "anna@example.org", language: "de", createdAt: now,
                expiresAt: now + .seconds(lifetime), dueAt: nil, tries: 1, reply: "RCPT: 550 5.1.1 <b>no</b>")
            _ = try transaction.insert(mail).value()
        }
    }
}

@Suite("Mails for admins") struct AdminMailTests {
    @Test("mails that wait and mails that were refused are lists, with the last reply")
    func lists() async throws {
        try await EndpointsFixture.with { server in
            for _ in 0..<3 { try await server.refuseMail() }
            var answer = await server.admin(.get, "/admin/v1/mails")
            #expect(answer.status == 200 && answer.text == #"{"items":[]}"#)
            answer = await server.admin(.get, "/admin/v1/mails?dead=true&limit=2")
            let items = answer.items
            #expect(items.count == 2 && items[0].string("reply") == "RCPT: 550 5.1.1 <b>no</b>")
            #expect(items[0].string("kind") == "new_device" && items[0].string("email") == "anna@example.org")
            #expect(items[0].integer("due_at") == nil && items[0].integer("tries") == 1)
            let cursor = try #require(answer.string("next_cursor"))
            answer = await server.admin(.get, "/admin/v1/mails?dead=true&cursor=\(cursor)")
            #expect(answer.items.count == 1 && answer.string("next_cursor") == nil)
            #expect(await server.admin(.get, "/admin/v1/mails?cursor=x").status == 400)
        }
    }

    @Test("a refused mail is tried again while it is of use")
    func retry() async throws {
        try await EndpointsFixture.with { server in
            let id = Identifier<QueuedMail>(random: .system)
            try await server.refuseMail(id)
            #expect(await server.admin(.post, "/admin/v1/mails/\(id)/retry").status == 204)
            let item = await server.admin(.get, "/admin/v1/mails").items.first
            #expect(
                item?.integer("due_at") == server.context.clock.now.secondsSinceEpoch && item?.integer("tries") == 0)
            let late = Identifier<QueuedMail>(random: .system)
            try await server.refuseMail(late, lifetime: 0)
            let refused = await server.admin(.post, "/admin/v1/mails/\(late)/retry")
            #expect(refused.status == 409 && refused.string("code") == "mail_expired")
            for path in ["x", "\(Identifier<QueuedMail>(random: .system))"] {
                #expect(await server.admin(.post, "/admin/v1/mails/\(path)/retry").status == 404)
            }
        }
    }

    @Test("a reported refusal is noted for the mailbox, in small letters and capital ones")
    func refusals() async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(
                .post, "/admin/v1/mail/refusals", #"{"email":"Anna@Example.org","reply":"550 gone"}"#)
            #expect(answer.status == 204)
            let mailbox = server.context.verificationSecrets.mailbox("anna@example.org")
            let budget = try await server.store.read(.short) { (reader) throws(TransactionError) in
                try reader.mailboxBudget(mailbox).value()
            }
            #expect(budget?.refusedAt == server.context.clock.now && budget?.reply == "550 gone")
            for body in ["{}", #"{"email":"anna"}"#, #"{"email":"ä@example.org"}"#, #"{"email":1}"#] {
                #expect(await server.admin(.post, "/admin/v1/mail/refusals", body).status == 400, "\(body)")
            }
        }
    }

    @Test("the console shows what a relay said of a mail, as text")
    func console() async throws {
        try await ConsoleBrowser.with { browser, server in
            try await browser.enter()
            let without = await browser.get("/console/deliveries")
            #expect(!without.words.contains("Codes go before notices"))
            try await server.refuseMail()
            let page = await browser.get("/console/deliveries")
            #expect(page.words.contains("anna@example.org") && page.words.contains("RCPT: 550 5.1.1 <b>no</b>"))
            #expect(!page.text.contains("<b>no</b>"))
        }
    }
}
