import FoundationEssentials
import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// The page of what has happened: audit events as sentences, newest first.
@Suite struct AccountActivityTests {
    /// The sentences of a page.
    private func lines(_ text: String) -> [String] {
        let items = text.replacing("<link", with: "").components(separatedBy: "<li").dropFirst()
        return items.map { item in
            let start = item.firstRange(of: "<p>")?.upperBound ?? item.endIndex
            return String(item[start...].prefix { $0 != "<" })
        }
    }

    @Test func eventsAreSentences() async throws {
        try await EndpointsFixture.with { stage in
            let phone = try await stage.logIn()
            #expect(await stage.call(.post, "/v1/logout", bearer: phone.access).status == 204)
            _ = await stage.call(
                .post, "/v1/login", #"{"username":"anna","password":"wrong","device":{"id":"x"}}"#)
            let second = try await stage.logIn()
            let account = AccountPages(stage)
            let page = try await account.open("/account/activity")
            #expect(
                lines(page.text) == [
                    "Signed in with the password", "Signed in with the password",
                    "Failed sign-in: the password was wrong", "Signed out", "Signed in with the password",
                    "The account was created",
                ], "\(page.text)")
            #expect(page.text.contains("Graz &lt;b&gt;, Austria"))
            #expect(!page.text.contains("Older") && !page.text.contains("Newest"))
            let devices = try await account.open()
            _ = try await account.act("/account/end", of: devices, ["which": "one", "session": second.sessionID])
            #expect(
                lines(try await account.open("/account/activity").text).first
                    == "Signed out from another of your devices")
        }
    }

    @Test("An event keeps its device after its session is forgotten, as long as the device has another one")
    func forgottenSession() async throws {
        try await EndpointsFixture.with { stage in
            let first = try await stage.logIn(device: "phone-1\",\"name\":\"Old telephone")
            _ = await stage.call(.post, "/v1/logout", bearer: first.access)
            stage.moveClock(to: 40 * EndpointsFixture.day)
            _ = try await stage.store.sweepSessions(after: nil, limit: 100) { $0.session.ending != nil }
            _ = try await stage.logIn(device: "phone-1\",\"name\":\"Telephone of Anna")
            let text = try await AccountPages(stage).open("/account/activity").text
            // The end, the first start and the second one.
            #expect(text.components(separatedBy: "Telephone of Anna").count == 4, "\(text)")
        }
    }

    @Test("The places of a German page are German") func germanPlaces() async throws {
        try await EndpointsFixture.with { stage in
            _ = try await stage.logIn()
            let account = AccountPages(stage)
            for path in ["/account", "/account/activity"] {
                #expect(try await account.open(path).text.contains("Graz &lt;b&gt;, Austria"), "\(path)")
                let german = await account.browser.get(path, fields: ["Accept-Language": "de"])
                #expect(german.text.contains("Graz &lt;b&gt;, Österreich"), "\(path)")
            }
        }
    }

    @Test func itIsPaged() async throws {
        try await EndpointsFixture.with { stage in
            for number in 0..<33 {
                _ = try await stage.logIn(device: "phone-\(number)\",\"name\":\"The telephone of Grace \(number)")
            }
            _ = await stage.admin(.post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            let account = AccountPages(stage)
            var (page, seen, paths) = (try await account.open("/account/activity"), [String](), [String]())
            while true {
                #expect(page.answer.status == 200)
                let weight = await account.weight(of: page)
                #expect((6000...18 * 1024).contains(weight), "\(weight)")
                seen += lines(page.text)
                let start = page.text.firstRange(of: "href=\"/account/activity?cursor=")
                guard let start else { break }
                let path = "/account/activity?cursor=" + page.text[start.upperBound...].prefix { $0 != "\"" }
                paths.append(path)
                if paths.count > 5 { break }
                page = AccountPage(await account.browser.get(path))
                #expect(page.text.contains("Newest"))
            }
            // 33 logins of phones, the browser's own, and the creation.
            #expect(seen.count == 35 && paths.count == 1, "\(seen.count) \(paths)")
            #expect(seen.last == "The account was created")
        }
    }

    @Test(arguments: ["x", "-1", "99999999999999999999", "'; --", "0", "1%00"])
    func anyCursorIsAPage(_ cursor: String) async throws {
        try await EndpointsFixture.with { stage in
            let account = AccountPages(stage)
            _ = try await account.open()
            let answer = await account.browser.get("/account/activity?cursor=" + PercentEncoding.encode(cursor))
            #expect(answer.status == 200)
        }
    }

    @Test func nobodySeesTheEventsOfOthers() async throws {
        try await EndpointsFixture.with { stage in
            for number in 0..<5 { _ = try await stage.logIn(device: "phone-\(number)") }
            _ = await stage.admin(.post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            let account = AccountPages(stage)
            let page = try await account.open(
                "/account/activity", username: "bert", password: "another long horse")
            #expect(lines(page.text) == ["Signed in with the password", "The account was created"])
            let text = await account.browser.get("/account/activity?cursor=999").text
            #expect(lines(text) == ["Signed in with the password", "The account was created"])
        }
    }
}
