import HTTP
import Sessions
import Testing

@testable import Endpoints

/// What the console says of an event, and how events are looked for.
@Suite struct ConsoleEventTests {
    @Test func usersHaveTheirNamesAndAreFoundByThem() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            for path in ["/console/now", "/console/events", "/console/events?user=anna&kind=session_started"] {
                let page = await browser.get(path)
                #expect(
                    page.text.contains("<a href=\"/console/users/\(tokens.userID)\"><bdi>anna</bdi></a>"), "\(path)")
            }
            // By the address only if it is verified, as everywhere.
            #expect(await browser.get("/console/events?user=anna@example.org").status == 404)
            _ = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"email_verified":true}"#)
            #expect(await browser.get("/console/events?user=anna@example.org").words.contains("session started"))
            let unknown = await browser.get("/console/events?user=nobody")
            #expect(unknown.status == 404 && unknown.words.contains("No user has the name or id nobody."))
            #expect(await browser.get("/console/events.jsonl?user=anna").text.contains(tokens.sessionID))
            _ = await server.admin(.delete, "/admin/v1/users/username:anna")
            let deleted = await browser.get("/console/events?user=\(tokens.userID)")
            #expect(
                deleted.text.contains("><bdi>a deleted user</bdi></a>")
                    && !deleted.text.contains("><bdi>anna</bdi></a>"))
        }
    }

    /// The cells of the rows of the table.
    private func rows(_ page: Answer) -> [[String]] {
        page.text.matches(of: #/<tr><th scope="row">(.*)<\/tr>/#).map { row in
            row.1.split(separator: "<td>", omittingEmptySubsequences: false).map { cell in
                Answer.unescaped(cell.replacing(#/<[^>]*>/#, with: "")[...])
            }
        }
    }

    @Test("the filter takes every value that a column shows")
    func whatAColumnShowsIsTaken() async throws {
        try await ConsoleBrowser.with { browser, server in
            _ = try await server.logIn(device: "tablet-9")
            _ = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"country":"AT"}"#)
            let id = try #require(await server.admin(.get, "/admin/v1/users/username:anna").string("user_id"))
            _ = try await browser.follow(
                await browser.get("/console/users/\(id)"), "/console/users/\(id)", ["act": "revoke"])
            let all = rows(await browser.get("/console/events"))
            #expect(all.count >= 6, "\(all)")
            for row in all {
                let address = row[5].split(separator: ", ").map(String.init)
                let wanted: [(String, String)] =
                    [("kind", row[0]), ("user", row[2]), ("actor", row[4]), ("request", row[6])]
                    + address.prefix(1).map { ("address", $0) }
                    + (address.count > 1 ? [("address", address.dropFirst().joined(separator: ", "))] : [])
                for (name, value) in wanted where !value.isEmpty {
                    let path = "/console/events?\(name)=\(PercentEncoding.encode(value))"
                    #expect(rows(await browser.get(path)).contains(row), "\(name) \(value)")
                }
            }
            // Of the column About: each part by its own field.
            let ended = try #require(all.first { $0[0] == "session ended" })
            let parts = ended[3].split(separator: ", ").map(String.init)
            for (name, value) in zip(["reason", "client", "device", "session"], parts) {
                #expect(rows(await browser.get("/console/events?\(name)=\(value)")).contains(ended), "\(name) \(value)")
            }
            // The name of an admin key, and the reason in plain words.
            #expect(!rows(await browser.get("/console/events?actor=Grace%20%3Cb%3E")).isEmpty)
            #expect(rows(await browser.get("/console/events?reason=Revoked%20by%20admin")).contains(ended))
            #expect(rows(await browser.get("/console/events?session=\(parts[3].dropLast())")).isEmpty)
        }
    }

    @Test("a filter of days finds the events of these days, without reading what is newer")
    func daysAreFiltered() async throws {
        try await ConsoleBrowser.with { browser, server in
            // 2027-01-15 08:00 is the start.
            for day in 1...4 as ClosedRange<Int64> {
                let at = Instant(secondsSinceEpoch: EndpointsFixture.start + day * EndpointsFixture.day)
                try await server.store.append(
                    (0..<30).map { _ in AuditEvent(.loginFailed, at: at, by: .system, reason: "day \(day)") })
            }
            func days(_ query: String) async -> Set<String> {
                Set(rows(await browser.get("/console/events?kind=login_failed&" + query)).map { $0[3] })
            }
            #expect(await days("from=2027-01-17&until=2027-01-17") == ["day 2"])
            #expect(await days("until=2027-01-16") == ["day 1"])
            #expect(await days("from=2027-01-19") == ["day 4"])
            #expect(await days("from=2027-01-18&until=2027-01-17").isEmpty)
            let wrong = await browser.get("/console/events?from=2027-02-30")
            #expect(wrong.status == 400 && wrong.words.contains("from must be a day like 2026-01-31"))
            let end = Instant(secondsSinceEpoch: EndpointsFixture.start + 2 * EndpointsFixture.day)
            let cursor = try #require(try await Administration(server.context).eventCursor(before: end))
            let newest = try await server.store.events(before: cursor, limit: 1)
            #expect(newest.first?.event.reason == "day 2")
            #expect(try await server.store.events(before: cursor + 1, limit: 1).first?.event.reason == "day 3")
        }
    }

    @Test("a change of a user says the old and the new values, until the user is deleted")
    func changesSayTheirValues() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            let body = #"{"display_name":"Anna <b>","country":"AT","claims":{"role":"x"},"email":"new@example.org"}"#
            #expect(await server.admin(.patch, "/admin/v1/users/username:anna", body).status == 200)
            _ = await server.call(.patch, "/v1/me", #"{"display_name":"Ann"}"#, bearer: tokens.access)
            let changes = rows(await browser.get("/console/events?kind=user_changed")).map { $0[3] }
            #expect(
                changes == [
                    "display_name: Anna <b> → Ann",
                    #"claims: – → {"role":"x"}, country: – → AT, display_name: – → Anna <b>"#,
                ], "\(changes)")
            let addresses = rows(await browser.get("/console/events?kind=email_changed")).map { $0[3] }
            #expect(addresses == ["anna@example.org → new@example.org"])
            _ = await server.admin(.delete, "/admin/v1/users/username:anna")
            let left = await browser.get("/console/events").text
            #expect(!left.contains("Anna &lt;b&gt;") && !left.contains("example.org"))
        }
    }

    @Test("the table for a spreadsheet has the events of the filter, and no formula")
    func eventsAreSavedAsATable() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            _ = try await server.logIn(device: "=1+2,3\",\"name\":\"=4+5")
            #expect(await browser.get("/console/events?device=%3d4%2b5").text.contains("=4+5"))
            let page = await browser.get("/console/events?kind=session_started")
            #expect(page.text.contains("/console/events.csv?kind=session_started"))
            let file = await browser.get("/console/events.csv?kind=session_started")
            let lines = file.text.split(separator: "\r\n")
            #expect(lines.count == 2 && lines[0].hasPrefix("\"id\",\"at\",\"event\",\"actor\","), "\(file.text)")
            #expect(lines[1].contains(#""2027-01-15T08:00:00Z","session_started","user","#))
            #expect(lines[1].contains(#","'=1+2,3","'=4+5","#), "\(lines[1])")
            _ = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"country":"AT"}"#)
            let change = await browser.get("/console/events.csv?kind=user_changed").text
            #expect(change.contains(#","{""country"":[null,""AT""]}","#), "\(change)")
            #expect(file.field("Content-Disposition") == "attachment; filename=\"events.csv\"")
        }
    }

    @Test func anEndByARuleIsNoActOfTheUser() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            server.moveClock(to: 15 * EndpointsFixture.day)
            #expect(await server.refresh(tokens.refresh).status == 400)
            try await browser.enter()
            let path = "/console/sessions/\(tokens.sessionID)"
            let page = await browser.get(path)
            let row = try #require(page.text.firstRange(of: ">session ended<").map { page.text[$0.upperBound...] })
            #expect(row.prefix { $0 != "\n" }.contains("found at a request"), "\(row.prefix(500))")
            let other = try await server.logIn(device: "tablet")
            _ = await server.call(.post, "/v1/logout", #"{"refresh_token":"\#(other.refresh)"}"#)
            let events = await browser.get("/console/events?kind=session_ended&reason=logged_out")
            #expect(events.words.contains("user") && !events.words.contains("found at a request"))
        }
    }
}
