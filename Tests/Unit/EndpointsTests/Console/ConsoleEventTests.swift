import HTTP
import Sessions
import Testing

@testable import Endpoints

/// What the console says of an event, and how events are looked for.
@Suite struct ConsoleEventTests {
    @Test func usersHaveTheirNamesAndAreFoundByThem() async throws {
        try await ConsoleBrowser.with(.read) { browser, stage in
            let tokens = try await stage.logIn()
            for path in ["/console/now", "/console/events", "/console/events?user=anna&kind=session_started"] {
                let page = await browser.get(path)
                #expect(
                    page.text.contains("<a href=\"/console/users/\(tokens.userID)\"><bdi>anna</bdi></a>"), "\(path)")
            }
            // By the address only if it is verified, as everywhere.
            #expect(await browser.get("/console/events?user=anna@example.org").status == 404)
            _ = await stage.admin(.patch, "/admin/v1/users/username:anna", #"{"email_verified":true}"#)
            #expect(await browser.get("/console/events?user=anna@example.org").words.contains("session started"))
            let unknown = await browser.get("/console/events?user=nobody")
            #expect(unknown.status == 404 && unknown.words.contains("No user has the name or id nobody."))
            #expect(await browser.get("/console/events.jsonl?user=anna").text.contains(tokens.sessionID))
            _ = await stage.admin(.delete, "/admin/v1/users/username:anna")
            let deleted = await browser.get("/console/events?user=\(tokens.userID)")
            #expect(
                deleted.text.contains("><bdi>a deleted user</bdi></a>")
                    && !deleted.text.contains("><bdi>anna</bdi></a>"))
        }
    }

    @Test func anEndByARuleIsNoActOfTheUser() async throws {
        try await ConsoleBrowser.with(.read) { browser, stage in
            let tokens = try await stage.logIn()
            stage.moveClock(to: 15 * EndpointsFixture.day)
            #expect(await stage.refresh(tokens.refresh).status == 400)
            try await browser.enter()
            let path = "/console/sessions/\(tokens.sessionID)"
            let page = await browser.get(path)
            let row = try #require(page.text.firstRange(of: ">session ended<").map { page.text[$0.upperBound...] })
            #expect(row.prefix { $0 != "\n" }.contains("found at a request"), "\(row.prefix(500))")
            let other = try await stage.logIn(device: "tablet")
            _ = await stage.call(.post, "/v1/logout", #"{"refresh_token":"\#(other.refresh)"}"#)
            let events = await browser.get("/console/events?kind=session_ended&reason=logged_out")
            #expect(events.words.contains("user") && !events.words.contains("found at a request"))
        }
    }
}
