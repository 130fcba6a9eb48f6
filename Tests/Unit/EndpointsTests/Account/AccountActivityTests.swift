import Cryptography
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
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn()
            #expect(await server.call(.post, "/v1/logout", bearer: phone.access).status == 204)
            _ = await server.call(
                .post, "/v1/login", #"{"username":"anna","password":"wrong","device":{"id":"x"}}"#)
            let second = try await server.logIn()
            let account = AccountPages(server)
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

    /// Signs in on a telephone with that name.
    private func telephone(_ name: String, _ server: EndpointsFixture) async throws -> Tokens {
        try await server.logIn(device: "phone-1\",\"name\":\"\(name)")
    }

    @Test("An event keeps the name that its device had, after its session is forgotten and without another one")
    func forgottenSession() async throws {
        try await EndpointsFixture.with { server in
            let first = try await telephone("Old telephone", server)
            _ = try await server.logIn(device: "x\",\"platform\":\"ios")
            _ = await server.call(.post, "/v1/logout", bearer: first.access)
            server.moveClock(to: 40 * EndpointsFixture.day)
            let now = server.context.clock.now
            let sweep = try await server.store.sweepSessions(
                .ended(by: now), limit: 100, by: server.context.policy, at: CleanUpTime(earliest: now, settled: now)
            ) { _ in false }
            #expect(sweep.deleted == 1)
            let account = AccountPages(server)
            let text = try await account.open("/account/activity").text
            // The end and the start.
            #expect(text.components(separatedBy: "<bdi>Old telephone</bdi>").count == 3, "\(text)")
            #expect(text.components(separatedBy: "<bdi>iOS</bdi>").count == 2, "\(text)")
            _ = try await telephone("Telephone of Anna", server)
            let later = try await account.open("/account/activity").text
            #expect(later.components(separatedBy: "<bdi>Old telephone</bdi>").count == 3, "\(later)")
            #expect(later.components(separatedBy: "<bdi>Telephone of Anna</bdi>").count == 2, "\(later)")
        }
    }

    @Test("The deletion of a user erases the names of the devices from the events, those of the deletion among them")
    func erasure() async throws {
        try await EndpointsFixture.with { server in
            for name in ["Old telephone", "Telephone of Anna"] { _ = try await telephone(name, server) }
            _ = try await server.logIn(device: "tablet\",\"name\":\"Tablet of Anna")
            func names() async -> [String] {
                await server.admin(.get, "/admin/v1/events?limit=200").items.compactMap { $0.string("device_name") }
            }
            #expect(
                await names() == ["Old telephone", "Old telephone", "Telephone of Anna", "Tablet of Anna"],
                "the second login on the telephone has replaced the first")
            #expect(await server.admin(.delete, "/admin/v1/users/username:anna").status == 204)
            let left = await server.admin(.get, "/admin/v1/events?limit=200").items
            #expect(left.count { $0.string("event") == "session_ended" } == 3)
            #expect(await names().isEmpty)
        }
    }

    @Test("A wrong PIN is a sentence of its own, with the device on which it was entered")
    func wrongPIN() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await telephone("Telephone of Anna", server)
            func set(_ members: String) async -> Int {
                let pin = Base64URL.encode([UInt8](repeating: 1, count: 32))
                return await server.call(.put, "/v1/me/pin", #"{"pin":"\#(pin)",\#(members)}"#, bearer: phone.access)
                    .status
            }
            #expect(await set(#""password":"\#(EndpointsFixture.password)""#) == 200)
            #expect(await set(#""old_pin":"\#(Base64URL.encode([UInt8](repeating: 2, count: 32)))""#) == 403)
            let account = AccountPages(server)
            let text = try await account.open("/account/activity").text
            #expect(text.contains("<li class=\"warn\"><p>Wrong PIN on <bdi>Telephone of Anna</bdi></p>"), "\(text)")
            #expect(!text.contains("refused"))
            let german = await account.browser.get("/account/activity", fields: ["Accept-Language": "de"])
            #expect(german.text.contains("<p>Falsche PIN auf <bdi>Telephone of Anna</bdi></p>"), "\(german.text)")
        }
    }

    @Test("The places of a German page are German") func germanPlaces() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.logIn()
            let account = AccountPages(server)
            for path in ["/account", "/account/activity"] {
                #expect(try await account.open(path).text.contains("Graz &lt;b&gt;, Austria"), "\(path)")
                let german = await account.browser.get(path, fields: ["Accept-Language": "de"])
                #expect(german.text.contains("Graz &lt;b&gt;, Österreich"), "\(path)")
            }
        }
    }

    @Test func itIsPaged() async throws {
        try await EndpointsFixture.with { server in
            for number in 0..<33 {
                _ = try await server.logIn(device: "phone-\(number)\",\"name\":\"The telephone of Grace \(number)")
            }
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            let account = AccountPages(server)
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
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            _ = try await account.open()
            let answer = await account.browser.get("/account/activity?cursor=" + PercentEncoding.encode(cursor))
            #expect(answer.status == 200)
        }
    }

    @Test func noUserSeesTheEventsOfOthers() async throws {
        try await EndpointsFixture.with { server in
            for number in 0..<5 { _ = try await server.logIn(device: "phone-\(number)") }
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"bert","password":"another long horse"}"#)
            let account = AccountPages(server)
            let page = try await account.open(
                "/account/activity", username: "bert", password: "another long horse")
            #expect(lines(page.text) == ["Signed in with the password", "The account was created"])
            let text = await account.browser.get("/account/activity?cursor=999").text
            #expect(lines(text) == ["Signed in with the password", "The account was created"])
        }
    }
}
