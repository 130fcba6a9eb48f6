import HTTP
import Locks
import Sessions
import Synchronization
import Testing

@testable import Endpoints

/// What the page Now says needs attention: what `sojourn doctor` and the metrics know.
@Suite struct ConsoleAttentionTests {
    private static let quiet = "Nothing needs attention."

    /// The words of the page from the heading on, up to the figures.
    private func attention(_ browser: ConsoleBrowser) async throws -> String {
        let words = await browser.get("/console/now").words
        let end = try #require(words.firstRange(of: "Refreshes in the last hour")?.lowerBound, "\(words)")
        return String(words[..<end])
    }

    private func expectQuiet(_ browser: ConsoleBrowser) async throws {
        let words = try await attention(browser)
        #expect(words.contains(Self.quiet), "\(words)")
    }

    @Test func aHealthyServerHasOneQuietLine() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            try await expectQuiet(browser)
            server.environment.machine.withLock { machine in
                machine.certificates = { [.init(listener: "public", notAfter: EndpointsFixture.start + 15 * 86_400)] }
                machine.geoDatabaseBuiltAt = { EndpointsFixture.start - 60 * 86_400 }
                machine.freeMebibytes = { 1024 }
            }
            try await expectQuiet(browser)
        }
    }

    @Test func theMachineIsLookedAt() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            server.environment.machine.withLock { machine in
                machine.certificates = {
                    [
                        .init(listener: "public", notAfter: EndpointsFixture.start + 13 * 86_400),
                        .init(listener: "admin", notAfter: EndpointsFixture.start - 1),
                    ]
                }
                machine.geoDatabaseBuiltAt = { EndpointsFixture.start - 61 * 86_400 }
                machine.freeMebibytes = { 1023 }
                machine.clockLead = { -9 }
            }
            let words = try await attention(browser)
            #expect(words.contains("Needs attention") && !words.contains(Self.quiet))
            #expect(words.contains("That of the public listener expires 2027-01-28"), "\(words)")
            #expect(words.contains("That of the admin listener has expired"))
            #expect(words.contains("It was made 61 days ago"))
            #expect(words.contains("1023 MiB are free"))
            #expect(words.contains("It is 9 seconds behind the database's"))
        }
    }

    @Test("the page says what came of the last commit, and makes none itself")
    func commits() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            try await expectQuiet(browser)
            server.endpoints.metrics.history.note(commit: false)
            let before = server.environment.transactions.load(ordering: .relaxed)
            let words = try await attention(browser)
            #expect(words.contains("It takes no changes: logins and refreshes fail"), "\(words)")
            #expect(await browser.get("/console/now?live=1").status == 200)
            #expect(server.environment.transactions.load(ordering: .relaxed) == before)
            _ = try await server.logIn()
            try await expectQuiet(browser)
        }
    }

    @Test func aSigningKeyThatIsOverdueIsSaid() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            server.moveClock(to: 30 * EndpointsFixture.day - 1)
            try await browser.enter()
            try await expectQuiet(browser)
            server.moveClock(to: 30 * EndpointsFixture.day)
            let words = try await attention(browser)
            #expect(words.contains("A new one was due 2027-02-14 08:00:00 UTC, and there is none"), "\(words)")
            try await server.context.signingKeys.maintain(at: server.context.clock.now)
            try await expectQuiet(browser)
        }
    }

    @Test func receiversThatFailOrAreBehindAreSaid() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let now = server.context.clock.now
            _ = try await server.store.updateDelivery("mails") { progress in progress = DeliveryProgress(since: now) }
            _ = await server.admin(
                .patch, "/admin/v1/clients/mobile", #"{"backchannel_logout_uri":"https://app.example/out"}"#)
            // Five minutes are no backlog.
            server.moveClock(to: 300)
            try await expectQuiet(browser)
            server.moveClock(to: 301)
            let behind = try await attention(browser)
            #expect(
                behind.contains("The webhook mails is behind: its oldest event is of 2027-01-15 08:00:00"), "\(behind)")
            _ = try await server.store.updateDelivery(DeliveryProgress.name(ofLogoutsTo: "mobile")) { progress in
                progress = DeliveryProgress(since: now)
                _ = progress?.take(by: "n", at: now, for: .seconds(30))
                _ = progress?.fail(by: "n", at: now, for: .seconds(64), .seconds(30))
            }
            let words = try await attention(browser)
            #expect(words.contains("The receiver of mobile fails since"), "\(words)")
            #expect(await browser.get("/console/now").text.contains("<a href=\"/console/deliveries\">Deliveries</a>"))
        }
    }

    @Test func aStreamThatRestsIsSaid() async throws {
        try await EventStreamFixture.with { receiver in
            let browser = ConsoleBrowser(receiver.server)
            try await browser.enter()
            _ = try await receiver.make()
            try await expectQuiet(browser)
            _ = await receiver.server.admin(.patch, "/admin/v1/event-streams/siem", #"{"status":"paused"}"#)
            let words = try await attention(browser)
            #expect(
                words.contains("The event stream of siem is paused, so that its receiver is told nothing."), "\(words)")
        }
    }
}
