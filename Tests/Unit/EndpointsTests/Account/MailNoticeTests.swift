import Deliveries
import HTTP
import SQLiteStore
import Sessions
import Telemetry
import Testing

@testable import Endpoints

/// Mails that tell users what has happened to their accounts.
@Suite("Mails about accounts") struct MailNoticeTests {
    /// A server that sends mails, and the reader of the trail of one of its nodes.
    private struct Node {
        let server: EndpointsFixture
        let context: ServiceContext
        let notices: MailNotices

        init(_ server: EndpointsFixture, _ name: String = "a", sendsMails: Bool = true) {
            let own = server.context
            context = ServiceContext(
                store: server.store, policy: own.policy, rootKeys: server.rootKeys, signingKeys: own.signingKeys,
                passwords: own.passwords, clock: own.clock, issuer: EndpointsFixture.issuer,
                audience: EndpointsFixture.audience, passkeys: own.passkeys, mails: sendsMails ? MailWaker() : nil)
            notices = MailNotices(
                context: context, logger: Logger(level: .error, sink: LogSink { _ in }, clock: { 0 }), node: name
            ) { address, language in "\(address) in \(language)" }
            self.server = server
        }

        /// Reads the whole trail, and returns the mails that wait then.
        func mails() async throws -> [QueuedMail] {
            while await notices.step() {}
            return try await server.store.read(.short) { (reader) throws(TransactionError) in
                try reader.mails(dead: false, after: nil, limit: 100).value()
            }
        }
    }

    private static func verifyMailbox(_ server: EndpointsFixture) async {
        _ = await server.admin(
            .patch, "/admin/v1/users/username:anna", #"{"email":"Anna@Example.org","email_verified":true}"#)
    }

    @Test("a login on a new device is told once, with place and device, to the verified address alone")
    func newDevice() async throws {
        try await EndpointsFixture.with { server in
            let node = Node(server)
            #expect(try await node.mails().isEmpty)
            server.moveClock(to: EndpointsFixture.day)
            _ = try await server.logIn(device: "unverified")
            #expect(try await node.mails().isEmpty)
            await Self.verifyMailbox(server)
            let tokens = try await server.logIn(device: "phone-1")
            let mails = try await node.mails()
            #expect(mails.map(\.kind) == [.newDevice])
            let mail = try #require(mails.first)
            // Without a language of the account the sender takes that of the configuration.
            #expect((mail.email, mail.language) == ("Anna@Example.org", ""))
            #expect(mail.facts["session"] == tokens.sessionID)
            #expect(mail.facts["place"] == "192.0.2.1 in en" && mail.facts["client"] == "mobile")
            #expect(mail.event != nil)
            // The same device again, and the same trail again.
            server.moveClock(to: EndpointsFixture.day + 60)
            _ = try await server.logIn(device: "phone-1")
            #expect(try await node.mails() == mails)
        }
    }

    @Test("a changed password and paused logins are told, and what an admin does is not") func changes() async throws {
        try await EndpointsFixture.with { server in
            let node = Node(server)
            _ = try await node.mails()
            await Self.verifyMailbox(server)
            let tokens = try await server.logIn()
            let changed = await server.call(
                .put, "/v1/me/password",
                #"{"old_password":"\#(EndpointsFixture.password)","new_password":"a very new password"}"#,
                bearer: tokens.access)
            #expect(changed.status == 204, "\(changed.text)")
            let paused = await server.call(
                .put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, bearer: tokens.access)
            #expect(paused.status == 200, "\(paused.text)")
            _ = await server.admin(.post, "/admin/v1/users/username:anna/disable")
            let kinds = try await node.mails().map(\.kind)
            #expect(Set(kinds) == [.passwordChanged, .loginsPaused] && kinds.count == 2, "\(kinds)")
        }
    }

    @Test("of two nodes one reads the trail, and the other goes on after it stops") func nodes() async throws {
        try await EndpointsFixture.with { server in
            let (one, two) = (Node(server, "a"), Node(server, "b"))
            _ = try await one.mails()
            await Self.verifyMailbox(server)
            server.moveClock(to: EndpointsFixture.day)
            _ = try await one.mails()
            _ = try await server.logIn(device: "phone-1")
            #expect(try await two.mails().isEmpty)
            #expect(try await one.mails().count == 1)
            // A mail that was sent is gone, and is not made again.
            let sent = try await one.mails()
            _ = try await server.store.write(.everything) { (transaction) throws(TransactionError) in
                try transaction.deleteMail(sent[0].id).value()
            }
            server.moveClock(to: EndpointsFixture.day + 3600)
            #expect(try await two.mails().isEmpty)
            _ = try await server.logIn(device: "phone-2")
            #expect(try await two.mails().count == 1)
        }
    }

    @Test("without mails nothing is read and nothing is written") func off() async throws {
        try await EndpointsFixture.with { server in
            await Self.verifyMailbox(server)
            let node = Node(server, sendsMails: false)
            let mails = try await node.mails()
            let progress = try await server.store.deliveries()
            #expect(mails.isEmpty && progress.isEmpty)
        }
    }

    @Test("the link of a new device ends its session without a login") func link() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn(device: "phone-1")
            let id = try #require(Identifier<Session>(tokens.sessionID))
            let browser = Browser(server)
            let url = server.context.notMeURL(of: id)
            let page = await browser.get(url)
            #expect(page.status == 200 && page.text.contains("This device was signed in to"), "\(page.text)")
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            let form = [
                "csrf": try #require(Page.value("csrf", in: page.text)),
                "r": try #require(Page.value("r", in: page.text)),
            ]
            #expect(await browser.post("/not-me", form).status == 200)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).status == 401)
        }
    }
}
