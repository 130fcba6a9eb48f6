import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The login with the phone on the login page.
struct PhoneOnPageTests {
    @Test(
        "A phone scans, its user types the number, and the browser goes on with a code; the session depends on the phone"
    )
    func wholeLogin() async throws {
        try await PhonePageFixture.with { waiting, phone in
            let first = await waiting.page()
            #expect(first.status == 200 && first.text.contains(#"data-state="waiting""#), "\(first.text)")
            #expect(first.text.contains("src=\"\(waiting.here)/code.svg\""))
            #expect(await waiting.event().string("event") == "waiting")
            let claimed = await waiting.claim(try await waiting.code(), phone)
            #expect(claimed.status == 200 && claimed.bool("number_required") == true, "\(claimed.text)")
            let scanned = await waiting.event()
            #expect(scanned.string("event") == "number")
            let number = try #require(scanned.string("data"))
            // The page shows the number, and nothing of the user.
            let page = await waiting.page()
            #expect(page.text.contains(number) && !page.text.contains("anna"))
            let confirmed = await waiting.server.call(
                .post, "/v1/me/logins/\(waiting.id)/confirm", #"{"number":\#(number)}"#, bearer: phone.access)
            #expect(confirmed.string("input") == "WAIT_FOR_SECOND_FACTOR", "\(confirmed.text)")
            // The digits were right, and the page says so.
            #expect(await waiting.event().string("event") == "confirmed")
            let approved = await waiting.server.call(
                .post, "/v1/me/logins/\(waiting.id)/second-factor",
                #"{"password":"\#(EndpointsFixture.password)"}"#, bearer: phone.access)
            #expect(approved.string("state") == "ACTIVE", "\(approved.text)")
            #expect(await waiting.event().string("event") == "approved")
            let answer = try Redirect(await waiting.finish())
            #expect(answer.uri == PageLoginFixture.redirectURI && answer["state"] == "a b&c=d")
            let code = try #require(answer["code"])
            let tokens = try Tokens(await waiting.hosted.exchange(code))
            let claims = try Answer.claims(of: try #require(tokens.answer.string("id_token")))
            #expect(claims.strings("amr") == ["phone"] && claims.string("sid") == tokens.sessionID)
            #expect(tokens.sessionID == waiting.id)
            #expect(await waiting.event().string("event") == "finished")
            #expect(await waiting.server.call(.post, "/v1/logout", bearer: phone.access).status == 204)
            #expect(await waiting.server.refresh(tokens.refresh).string("reason") == "parent_ended")
        }
    }

    @Test("The page of a client without `phone` has no such button, and its form is refused")
    func methodIsOff() async throws {
        try await PageLoginFixture.with { hosted in
            let browser = Browser(hosted.server)
            let page = try await hosted.page(browser)
            #expect(!page.answer.text.contains("/login/phone"))
            let sent = await browser.post("/login/phone", ["r": page.request, "csrf": page.csrf])
            #expect(sent.status == 200 && sent.text.contains("Please press once more"))
        }
    }

    @Test("Without the flow cookie the page shows nothing of a login and leads to the login page")
    func otherBrowser() async throws {
        try await PhonePageFixture.with { waiting, _ in
            let other = Browser(waiting.server)
            #expect(await waiting.page(other).field("Location")?.contains("/login?r=") == true)
            #expect(await waiting.event(other).status == 404)
            #expect(await other.get(waiting.here + "/code.svg").status == 404)
            // A browser with a cookie of its own is another one as well.
            _ = try await waiting.hosted.page(other)
            #expect(await waiting.page(other).field("Location")?.contains("/login?r=") == true)
            #expect(await waiting.event(other).status == 404)
        }
    }

    @Test("The picture has the link of this moment, another one ten seconds later, and none after the scan")
    func pictureChanges() async throws {
        try await PhonePageFixture.with { waiting, phone in
            let one = await waiting.browser.get(waiting.here + "/code.svg")
            #expect(one.status == 200 && one.field("Content-Type") == "image/svg+xml", "\(one.text)")
            #expect(one.field("Cache-Control") == "no-store" && one.text.hasPrefix("<svg "))
            let (code, event) = (try await waiting.code(), await waiting.event().string("data"))
            #expect(code.hasPrefix(EndpointsFixture.issuer.uppercased() + "/L/"), "\(code)")
            #expect(await waiting.browser.get(waiting.here + "/code.svg").text == one.text)
            waiting.server.moveClock(to: 10)
            #expect(await waiting.browser.get(waiting.here + "/code.svg").text != one.text)
            #expect(try await waiting.code() != code)
            #expect(await waiting.event().string("data") != event)
            let next = try await waiting.code()
            #expect(await waiting.claim(next, phone).status == 200)
            #expect(await waiting.browser.get(waiting.here + "/code.svg").status == 204)
        }
    }

    @Test("A wrong number ends the login for all, and the page offers a new code")
    func wrongNumber() async throws {
        try await PhonePageFixture.with { waiting, phone in
            _ = await waiting.claim(try await waiting.code(), phone)
            let number = try #require(await waiting.event().string("data").flatMap { Int($0) })
            let refused = await waiting.approve(phone, number: "\(number == 99 ? 98 : number + 1)")
            #expect(refused.status >= 400, "\(refused.text)")
            #expect(await waiting.event().string("event") == "wrong_number")
            #expect(try await waiting.finish().field("Location")?.hasSuffix(waiting.path) == true)
        }
    }

    @Test("Declined, timed out and contested logins say so", arguments: ["cancelled", "timed_out", "contested"])
    func otherEnds(end: String) async throws {
        try await PhonePageFixture.with { waiting, phone in
            let code = try await waiting.code()
            _ = await waiting.claim(code, phone)
            switch end {
            case "cancelled":
                _ = await waiting.server.call(.post, "/v1/me/logins/\(waiting.id)/stop", bearer: phone.access)
            case "contested":
                _ = await waiting.claim(code, try await waiting.server.logIn(device: "phone-2"))
            default: waiting.server.moveClock(to: 600)
            }
            #expect(await waiting.event().string("event") == end)
            let page = await waiting.page()
            #expect(page.text.contains(#"data-state="\#(end)""#), "\(page.text)")
        }
    }

    @Test("A form of another site, a stale token, and a finish before the approval start no session") func forms()
        async throws
    {
        try await PhonePageFixture.with { waiting, phone in
            #expect(try await waiting.finish().field("Location")?.hasSuffix(waiting.path) == true)
            try await waiting.approveByScan(phone)
            let r = try #require(Page.value("r", in: await waiting.page().text))
            let stale = await waiting.browser.post(waiting.here + "/finish", ["r": r, "csrf": "x"])
            #expect(stale.field("Location")?.hasSuffix(waiting.path) == true)
            let foreign = await waiting.browser.post(
                waiting.here + "/finish", ["r": r, "csrf": "x"], fields: ["Sec-Fetch-Site": "cross-site"])
            #expect(foreign.status == 403)
            #expect(try Redirect(await waiting.finish())["code"] != nil)
            // The code is given out once.
            #expect(try await waiting.finish().field("Location")?.contains("code=") != true)
        }
    }

    @Test("More requests in a minute than one address may send get the page with a sentence, and no row")
    func tooMany() async throws {
        try await PageLoginFixture.with(#","login_methods":["phone"]"#) { hosted in
            let browser = Browser(hosted.server)
            let page = try await hosted.page(browser)
            let token = try #require(page.token(of: "/login/phone"))
            var answers: [Int] = []
            for _ in 0..<61 {
                answers.append(await browser.post("/login/phone", ["r": page.request, "csrf": token]).status)
            }
            #expect(answers.prefix(60).allSatisfy { $0 == 303 } && answers.last == 429)
        }
    }

    @Test("A link in the hand of a camera or a browser explains itself, whatever it says", arguments: ["/l/", "/L/"])
    func linkExplains(path: String) async throws {
        try await PhonePageFixture.with { waiting, _ in
            let code = try await waiting.code(.link)
            let writes = waiting.hosted.writes
            for name in [String(code.suffix(26)), "nonsense"] {
                let answer = await Browser(waiting.server).get(path + name)
                #expect(answer.status == 200 && answer.text.contains("This code is for the app"), "\(answer.text)")
            }
            #expect(waiting.hosted.writes == writes)
            #expect(await waiting.event().string("event") == "waiting")
        }
    }
}

/// Logins by a link, which opens the app on the device of the browser.
struct PhoneLinkTests {
    /// The path to which the app leads the browser after the approval.
    private func returnPath(_ waiting: PhonePageFixture, _ phone: Tokens) async throws -> String {
        let claimed = await waiting.claim(try await waiting.code(.link), phone, source: "deep_link")
        #expect(claimed.status == 200 && claimed.bool("number_required") == false, "\(claimed.text)")
        #expect(claimed.string("return_url") == nil)
        let approved = await waiting.approve(phone, number: nil)
        #expect(approved.string("state") == "ACTIVE", "\(approved.text)")
        let url = try #require(approved.string("return_url"), "\(approved.text)")
        try #require(url.hasPrefix(EndpointsFixture.issuer + "/login/return?"))
        return String(url.dropFirst(EndpointsFixture.issuer.count))
    }

    @Test("The app leads back to the browser, which goes on with a code in any of its tabs") func wholeLogin()
        async throws
    {
        try await PhonePageFixture.with { waiting, phone in
            let path = try await returnPath(waiting, phone)
            #expect(await waiting.event().string("event") == "opened")
            let answer = try Redirect(await waiting.browser.get(path))
            #expect(answer["state"] == "a b&c=d")
            let tokens = try Tokens(await waiting.hosted.exchange(try #require(answer["code"])))
            #expect(tokens.sessionID == waiting.id)
            #expect(await waiting.event().string("event") == "finished")
            #expect(await waiting.browser.get(path).field("Location")?.contains("code=") != true)
        }
    }

    @Test(
        "A link that was sent to another person starts no session, in the browser that waits or in the other")
    func sentLink() async throws {
        try await PhonePageFixture.with { waiting, victim in
            let path = try await returnPath(waiting, victim)
            // The browser of the victim did not ask.
            let other = await Browser(waiting.server).get(path)
            #expect(other.status == 403 && other.text.contains("Go back to where you began"), "\(other.text)")
            // The browser of the attacker asked, but has not got the token.
            #expect(try await waiting.finish().field("Location")?.contains("code=") != true)
            for guess in ["", "x", String(path.suffix(22).reversed())] {
                let answer = await waiting.browser.get("/login/return?l=\(waiting.id)&t=\(guess)")
                #expect(answer.status == 403, "\(answer.text)")
            }
        }
    }

    @Test("The code of a picture does not come as a link, and that of a link not by a camera") func kinds() async throws
    {
        try await PhonePageFixture.with { waiting, phone in
            let (picture, link) = (try await waiting.code(), try await waiting.code(.link))
            #expect(await waiting.claim(picture, phone, source: "deep_link").status == 404)
            #expect(await waiting.claim(link, phone, source: "qr").status == 404)
            #expect(await waiting.event().string("event") == "waiting")
        }
    }
}
