import Cryptography
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The drawings of the page Now, read as a browser reads them.
@Suite struct ConsoleChartTests {
    /// A column: its minute with its numbers in words, and the heights of the whole and of the part that stands out.
    private struct Column: Equatable {
        let title: String
        let height: Int
        let marked: Int
    }

    /// The columns of the chart with that title, which are drawn.
    private func columns(_ title: String, in page: Answer) throws -> [Column] {
        let start = try #require(page.text.firstRange(of: "<strong>\(title)"), "\(page.text)")
        let rest = page.text[start.upperBound...]
        let chart = rest[..<(try #require(rest.firstRange(of: "</figure>")).lowerBound)]
        return chart.matches(
            of:
                #/<g><title>([^<]*)<\/title><rect class="bar"[^>]* height="(\d+)"><\/rect><rect class="marked"[^>]* height="(\d+)">/#
        ).map { Column(title: String($0.1), height: Int($0.2) ?? -1, marked: Int($0.3) ?? -1) }
    }

    /// The sum of a counter over its outcomes.
    private func counter(_ name: String, _ server: EndpointsFixture) async -> [String: Int] {
        let lines = await server.admin(.get, "/metrics").text.split(separator: "\n")
        return Dictionary(
            lines.compactMap { line in
                line.firstMatch(of: #/^([a-z_]+)\{outcome="([a-z_]+)"\} (\d+)$/#).flatMap {
                    $0.1 == name && $0.3 != "0" ? (String($0.2), Int($0.3) ?? -1) : nil
                }
            }
        ) { first, _ in first }
    }

    @Test func theColumnsAreTheCounters() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            // 08:00: a login and three refreshes, of which one is refused. 08:02: two failed logins, and four refusals.
            let tokens = try await server.logIn()
            for token in [tokens.refresh, "sjr_x", tokens.refresh] { _ = await server.refresh(token) }
            server.moveClock(to: 120)
            for _ in 0..<4 { _ = await server.refresh("sjr_x") }
            for _ in 0..<2 {
                _ = await server.call(.post, "/v1/login", #"{"username":"anna","password":"x","device":{"id":"p"}}"#)
            }
            server.moveClock(to: 180)
            let page = await browser.get("/console/now")
            let refreshes = try columns("Refreshes per minute", in: page)
            #expect(
                refreshes == [
                    Column(title: "08:00 UTC: 3, 1 refused", height: 75, marked: 25),
                    Column(title: "08:02 UTC: 4, 4 refused", height: 100, marked: 100),
                ], "\(refreshes)")
            let logins = try columns("Logins per minute", in: page)
            #expect(
                logins == [
                    Column(title: "08:00 UTC: 1, 0 failed", height: 50, marked: 0),
                    Column(title: "08:02 UTC: 2, 2 failed", height: 100, marked: 100),
                ], "\(logins)")
            // The same numbers as the counters for Prometheus have, which another path leads to.
            let counted = await counter("sojourn_refreshes_total", server)
            #expect(counted.values.reduce(0, +) == 7, "\(counted)")
            #expect(page.words.contains("Refreshes per minute 7 in all, 4 at most, 5 refused"), "\(page.words)")
            let rows = page.text.matches(of: #/<th scope="row"><code>([a-z_]+)<\/code>[^<]*<\/th><td>(\d+)</#)
            #expect(
                Dictionary(uniqueKeysWithValues: rows.map { (String($0.1), Int($0.2)) }) == counted.mapValues { $0 })
            let tried = await counter("sojourn_logins_total", server)
            #expect(tried.values.reduce(0, +) == 3 && tried["started"] == 1, "\(tried)")
        }
    }

    /// Sessions are counted where they are recorded, so that no later event displaces them.
    @Test func sessionsAreCountedMinuteByMinuteForAnHour() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let one = try await server.logIn()
            _ = try await server.logIn(device: "tablet")
            server.moveClock(to: 60)
            _ = await server.admin(.delete, "/admin/v1/sessions/\(one.sessionID)")
            server.moveClock(to: 120)
            let now = server.context.clock.now
            try await server.store.append((0..<1200).map { _ in AuditEvent(.loginFailed, at: now, by: .system) })
            let page = await browser.get("/console/now")
            let drawn = try columns("Sessions that began and ended, per minute", in: page)
            #expect(
                drawn == [
                    Column(title: "08:00 UTC: 2, 0 ended", height: 100, marked: 0),
                    Column(title: "08:01 UTC: 1, 1 ended", height: 50, marked: 50),
                ], "\(drawn)")
            #expect(page.words.contains("Why sessions ended, in the last hour at this node"))
            let rows = page.text.matches(of: #/reason=([a-z_]+)">.*?<\/th><td>(\d+)</#)
            #expect(rows.map { "\($0.1) \($0.2)" } == ["revoked_by_admin 1"], "\(page.text)")
            server.moveClock(to: 3_720)
            try await browser.enter()
            let later = await browser.get("/console/now")
            #expect(later.words.contains("This node has recorded no end of a session in the last hour."))
        }
    }
}
