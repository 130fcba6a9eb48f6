import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The page of the devices: what it shows, and what its buttons end.
@Suite struct AccountDevicesTests {
    @Test func itShowsEverySession() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn(device: "phone-1", more: #","authentication_mode":"NO""#)
            server.moveClock(to: EndpointsFixture.day)
            let account = AccountPages(server)
            account.browser.userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"
            let page = try await account.open()
            // This one first, without a button to end it.
            #expect(page.sessions == [phone.sessionID])
            #expect(page.text.contains("Firefox · Linux") && page.text.contains("This device"))
            // The client, the place, and both ends of the phone's session.
            for part in ["mobile", "Graz &lt;b&gt;, Austria", "2027-01-29T08:00:00Z", "2027-07-14T08:00:00Z"] {
                #expect(page.text.contains(part), "\(part) in \(page.text)")
            }
        }
    }

    @Test func hostileNamesAreText() async throws {
        try await EndpointsFixture.with { server in
            let names = [#"\"><script>alert(1)</script>"#, "\u{202E}evil", String(repeating: "A", count: 128)]
            for (number, name) in names.enumerated() {
                let answer = await server.call(
                    .post, "/v1/login",
                    #"{"username":"anna","password":"correct horse","client_id":"mobile","device":{"id":"d\#(number)","name":"\#(name)"}}"#
                )
                #expect(answer.status == 200, "\(answer.text)")
            }
            _ = await server.admin(.patch, "/admin/v1/clients/mobile", #"{"client_name":"<img src=x>"}"#)
            let account = AccountPages(server)
            account.browser.userAgent = "Firefox/ <script>"
            for path in ["/account", "/account/activity"] {
                let text = try await account.open(path).text
                #expect(!text.contains("<script>") && !text.contains("<img src=x>") && !text.contains("\u{202E}"))
                #expect(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && text.contains("&lt;img src=x&gt;"))
                #expect(text.contains("\u{FFFD}evil") && !text.contains(String(repeating: "A", count: 61)))
            }
        }
    }

    /// Six to a page, those that were used last first, and no page is heavy, whatever the devices are called.
    @Test func manyDevicesAreOnSeveralPages() async throws {
        try await EndpointsFixture.with { server in
            var expected: [String] = []
            for number in 0..<14 {
                server.moveClock(to: Int64(number))
                let name = "The \(number + 10)th telephone of anna"
                let device = "d\(number)\",\"name\":\"\(name)"
                expected.insert(try await server.logIn(device: device).sessionID, at: 0)
            }
            let account = AccountPages(server)
            var page = try await account.open()
            var (seen, counts) = ([String](), [Int]())
            while true {
                seen += page.sessions
                counts.append(page.sessions.count)
                let weight = await account.weight(of: page)
                #expect((6000...18 * 1024).contains(weight), "\(weight)")
                #expect(page.text.contains("Sign out all other devices"))
                guard let next = page.text.firstMatch(of: #/href="(\/account\?page=[0-9]+)">([^<]*)/#) else { break }
                #expect(next.2 == ["9 more devices", "3 more devices"][counts.count - 1])
                page = AccountPage(await account.browser.get(String(next.1)))
            }
            // The session of the browser itself has no button.
            #expect(seen == expected && counts == [5, 6, 3])
            #expect(page.text.contains(">Most recent devices<"))
            for odd in ["0", "-1", "99999999999999999999", "x", "%00", "3&page=1"] {
                let answer = await account.browser.get("/account?page=\(odd)")
                #expect(answer.status == 200, "\(odd)")
            }
        }
    }

    @Test func oneIsEnded() async throws {
        try await EndpointsFixture.with { server in
            let (one, two) = (try await server.logIn(device: "phone-1"), try await server.logIn(device: "phone-2"))
            let account = AccountPages(server)
            let page = try await account.open()
            let form = ["session": one.sessionID]
            let after = try await account.act("/account/end", of: page, form)
            #expect(after.text.contains("One device was signed out.") && after.sessions == [two.sessionID])
            #expect(await server.refresh(one.refresh).string("reason") == "revoked_by_user")
            #expect(await server.refresh(two.refresh).status == 200)
            #expect(await account.events().contains("session_ended revoked_by_user"))
            // A double click finds it ended.
            let again = try await account.act("/account/end", of: page, form)
            #expect(again.text.contains("It was signed out already."))
        }
    }

    /// Another user's session looks like one that is not there.
    @Test func noOtherUsersSessionIsEnded() async throws {
        try await EndpointsFixture.with { server in
            let anna = try await server.logIn()
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            let account = AccountPages(server)
            let page = try await account.open(username: "bert", password: "another long horse")
            for id in [anna.sessionID, String(repeating: "0", count: 32), "x", "'; DROP TABLE sessions; --", ""] {
                let after = try await account.act("/account/end", of: page, ["which": "one", "session": id])
                #expect(after.text.contains("It was signed out already."), "\(id)")
            }
            #expect(await server.refresh(anna.refresh).status == 200)
            _ = try await account.act("/account/end", of: page, ["which": "others"])
            _ = try await account.send("/account/end", of: page, ["which": "all"])
            #expect(await server.refresh(anna.refresh).status == 200)
        }
    }

    @Test func allOthersAreEnded() async throws {
        try await EndpointsFixture.with { server in
            let phones = [try await server.logIn(device: "phone-1"), try await server.logIn(device: "phone-2")]
            let account = AccountPages(server)
            let page = try await account.open()
            let after = try await account.act("/account/end", of: page, ["which": "others"])
            #expect(after.text.contains("2 devices were signed out.") && after.sessions.isEmpty)
            for phone in phones { #expect(await server.refresh(phone.refresh).string("reason") == "revoked_by_user") }
            #expect(await account.events().contains("sessions_ended revoked_by_user"))
        }
    }

    @Test func allAreEnded() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            let page = try await account.open()
            let cookie = try #require(account.browser.cookies[AccountPages.cookie])
            let after = try await account.act("/account/end", of: page, ["which": "all"])
            #expect(after.answer.status == 200 && after.text.contains("You are signed out"))
            #expect(account.browser.cookies[AccountPages.cookie] == nil)
            #expect(await server.refresh(phone.refresh).string("reason") == "revoked_by_user")
            // The cookie opens nothing, wherever it was kept.
            let thief = Browser(server)
            thief.plant(AccountPages.cookie, cookie)
            #expect(await thief.get("/account").status == 303)
        }
    }

    /// The session of an app that began in this browser ends alone, if it is ended here, and with the browser's, if it is ended
    /// elsewhere.
    @Test func theAppOfThisBrowser() async throws {
        try await PageLoginFixture.with(#","browser_session":"client""#) { login in
            let here = AccountPages(login.server)
            let first = try Tokens(await login.exchange(try await login.code(here.browser)))
            let page = try await here.open()
            let after = try await here.act("/account/end", of: page, ["which": "one", "session": first.sessionID])
            #expect(after.answer.status == 200 && after.text.contains("One device was signed out."))
            let second = try Tokens(await login.exchange(try await login.code(here.browser, ["prompt": "login"])))
            let elsewhere = AccountPages(login.server)
            let other = try await elsewhere.open()
            _ = try await elsewhere.act("/account/end", of: other, ["which": "one", "session": second.sessionID])
            #expect(await here.browser.get("/account").status == 303)
        }
    }

    @Test func theUserLogsOut() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            let account = AccountPages(server)
            let page = try await account.open()
            let answer = try await account.send("/oauth/logout", of: page, [:])
            #expect(answer.status == 200 && answer.text.contains("You are signed out"))
            #expect(await account.browser.get("/account").status == 303)
            #expect(await server.refresh(phone.refresh).status == 200)
        }
    }
}
