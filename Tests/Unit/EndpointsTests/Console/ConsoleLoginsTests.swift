import HTTP
import Sessions
import Testing

@testable import Console
@testable import Endpoints

/// Logins with a phone in the console.
@Suite struct ConsoleLoginsTests {
    @Test func aLoginIsListedFoundAndSaysWhereBothDevicesAre() async throws {
        try await DeviceLogin.with { server, phone in
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            #expect(await browser.get("/console/logins").words.contains("No login here matches."))
            let waiting = try await DeviceLogin(server)
            let list = await browser.get("/console/logins")
            #expect(list.words.contains("waits for a phone") && list.words.contains("none yet"))
            #expect(!list.words.contains("STARTING"))
            #expect(list.text.contains("href=\"/console/logins/\(waiting.id)\""))
            #expect(await browser.get("/console/logins/\(waiting.id)").words.contains("No phone has claimed it yet."))
            // The id of a login without a session leads to the login.
            #expect(try await browser.find(waiting.id).words.contains("Login to TV"))
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            let page = await browser.get("/console/logins/\(login.id)")
            #expect(page.words.contains("anna has claimed it on the phone phone-1, which scanned the picture."))
            #expect(page.words.contains("The device is logged in.") && page.words.contains("Statelogged in"))
            #expect(page.words.components("Place and address192.0.2.1, Graz <b>, Austria") == 2, "\(page.words)")
            #expect(page.text.contains("href=\"/console/sessions/\(phone.sessionID)\""))
            #expect(page.text.contains("href=\"/console/sessions/\(tokens.sessionID)\""))
            #expect(page.words.contains("the session ends with that of the phone"))
            #expect(page.words.contains("login claimed") && page.words.contains("login approved"))
        }
    }

    @Test func theListHasAUserAStateAndACursor() async throws {
        try await DeviceLogin.with { server, phone in
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            let (login, _) = try await DeviceLogin.complete(server, phone)
            server.moveClock(to: 5)
            for _ in 0..<ConsoleView.rowsMax { _ = try await DeviceLogin(server) }
            let first = await browser.get("/console/logins")
            let next = try #require(first.text.firstMatch(of: #/href="(\/console\/logins\?cursor=[^"]*)"/#)?.1)
            #expect(!first.text.contains(login.id))
            let second = await browser.get(String(next).replacing("&amp;", with: "&"))
            #expect(second.text.contains(login.id) && second.words.contains("First page"))
            for query in ["user=anna", "user=\(phone.userID)", "phase=signed_in", "user=anna&phase=signed_in"] {
                let answer = await browser.get("/console/logins?\(query)")
                #expect(answer.text.contains(login.id) && !answer.words.contains("Next page"), "\(query)")
            }
            #expect(await browser.get("/console/logins?phase=aborted").words.contains("No login here matches."))
            let unknown = await browser.get("/console/logins?user=nobody")
            #expect(unknown.status == 404 && unknown.words.contains("No user has the name or id nobody."))
            #expect(await browser.get("/console/logins/x").status == 404)
        }
    }

    /// A list that cannot be continued is not begun again, and a filter that cannot be read filters.
    @Test func aQueryThatCannotBeReadIsRefused() async throws {
        try await ConsoleBrowser.with(.read) { browser, _ in
            for query in [
                "logins?user=%00", "logins?user=%FF", "logins?cursor=zz", "logins?x=1", "bulk?client=mobile&cursor=zz",
                "bulk?client=%00", "bulk?client=mobile&client=shop",
            ] { #expect(await browser.get("/console/\(query)").status == 400, "\(query)") }
            #expect(await browser.get("/console/bulk?client=mobile").status == 200)
            #expect(await browser.get("/console/logins?user=anna&phase=nope").status == 200)
        }
    }

    @Test func aLoginAndItsSessionEndTogether() async throws {
        try await DeviceLogin.with { server, phone in
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            let path = "/console/logins/\(login.id)"
            let page = await browser.get(path)
            #expect(page.words.contains("curl -X DELETE http://localhost:8081/admin/v1/logins/\(login.id)"))
            #expect(page.words.contains("sojourn login end \(login.id)"))
            let ended = try await browser.follow(page, path, ["act": "end"])
            #expect(ended.words.contains("The login is over.") && ended.words.contains("revoked by admin"))
            #expect(!ended.words.contains("End this login …"))
            #expect(await server.refresh(tokens.refresh).string("reason") == "revoked_by_admin")
            let waiting = try await DeviceLogin(server)
            let other = "/console/logins/\(waiting.id)"
            let over = try await browser.follow(await browser.get(other), other, ["act": "end"])
            #expect(over.words.contains("the device, or an admin, gave it up."), "\(over.words)")
        }
    }

    /// A session that a phone has let in stands below it, and each leads to the other.
    @Test func childrenStandBelowTheirPhone() async throws {
        try await DeviceLogin.with { server, phone in
            let browser = ConsoleBrowser(server)
            try await browser.enter()
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            server.moveClock(to: 5)
            _ = try await server.logIn(device: "tablet-9")
            let user = await browser.get("/console/users/\(phone.userID)")
            let places = try ["tablet-9", "phone-1", "↳"].map { word in
                try #require(user.text.firstRange(of: word)?.lowerBound, "\(word)")
            }
            #expect(places.sorted() == places)
            #expect(user.text.contains("href=\"/console/logins?user=\(phone.userID)\""))
            let parent = await browser.get("/console/sessions/\(phone.sessionID)")
            #expect(parent.words.contains("Sessions that end with ittv-1 (tv)"))
            let child = await browser.get("/console/sessions/\(tokens.sessionID)")
            #expect(child.words.contains("Ends with the session of the phonephone-1 (mobile)"))
            #expect(child.text.contains("href=\"/console/logins/\(login.id)\""))
            _ = await server.admin(.delete, "/admin/v1/sessions/\(phone.sessionID)")
            let ended = await browser.get("/console/sessions/\(tokens.sessionID)")
            #expect(ended.words.contains("parent ended") && ended.words.contains("Why the phone"))
        }
    }

    @Test func aKeyThatReadsEndsNoLogin() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            try await DeviceLogin.makeClient(server)
            let login = try await DeviceLogin(server)
            let path = "/console/logins/\(login.id)"
            #expect(!(await browser.get(path)).text.contains("<details"))
            #expect(await browser.post(path, ["act": "end", "csrf": "x"]).status == 403)
        }
    }
}

extension String {
    /// How often a text stands in this one.
    fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
