import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A browser that waits on the page of a login with the phone.
struct PhonePageFixture {
    let hosted: PageLoginFixture
    let browser: Browser
    /// The path of the page, with the sealed request.
    let path: String
    var server: EndpointsFixture { hosted.server }

    /// The id of the login, in the path.
    var id: String { String(path.dropFirst("/login/phone/".count).prefix { $0 != "?" }) }
    /// The path of the page without the request.
    var here: String { String(path.prefix { $0 != "?" }) }

    /// Gives `body` a server whose client offers logins with the phone, a phone of anna, and a browser that waits.
    static func with(
        _ more: String = "", _ body: (PhonePageFixture, Tokens) async throws -> Void
    ) async throws {
        try await PageLoginFixture.with(#","login_methods":["password","phone"]"# + more) { hosted in
            let phone = try await hosted.server.logIn()
            try await body(try await begin(hosted), phone)
        }
    }

    /// Opens the login page and chooses the phone.
    static func begin(
        _ hosted: PageLoginFixture, _ browser: Browser? = nil, _ changes: [String: String?] = [:]
    ) async throws -> PhonePageFixture {
        let browser = browser ?? Browser(hosted.server)
        let page = try await hosted.page(browser, changes)
        let token = try #require(page.token(of: "/login/phone"), "\(page.answer.text)")
        let answer = await browser.post("/login/phone", ["r": page.request, "csrf": token])
        #expect(answer.status == 303, "\(answer.text)")
        let location = try #require(answer.field("Location"))
        try #require(location.hasPrefix(EndpointsFixture.issuer + "/login/phone/"), "\(location)")
        return PhonePageFixture(
            hosted: hosted, browser: browser, path: String(location.dropFirst(EndpointsFixture.issuer.count)))
    }

    func page(_ other: Browser? = nil) async -> Answer { await (other ?? browser).get(path) }

    /// What the page would be told now.
    func event(_ other: Browser? = nil) async -> Answer { await (other ?? browser).get(here + "/events") }

    /// The text of the picture, which a test asks of the service, because it has no camera.
    func code(_ kind: PhoneLoginCode.Kind = .picture) async throws -> String {
        let id = try #require(Identifier<Session>(id))
        let flow = try #require(browser.cookies["__Host-sojourn-flow"].flatMap { FlowSecret($0) })
        let login = try await server.endpoints.services.phoneLogins.look(at: id, as: .browser(flow.hash))
        return server.endpoints.phoneLink(login, kind)
    }

    /// The phone presents a code.
    func claim(_ code: String, _ phone: Tokens, source: String = "qr") async -> Answer {
        await server.call(
            .post, "/v1/me/logins", #"{"code":"\#(code)","source":"\#(source)"}"#, bearer: phone.access)
    }

    /// The user of the phone approves: the number, if there is one, and then the password.
    @discardableResult
    func approve(_ phone: Tokens, number: String?) async -> Answer {
        let body = number.map { #"{"number":\#($0)}"# }
        let confirmed = await server.call(.post, "/v1/me/logins/\(id)/confirm", body, bearer: phone.access)
        guard confirmed.string("input") == "WAIT_FOR_SECOND_FACTOR" else { return confirmed }
        return await server.call(
            .post, "/v1/me/logins/\(id)/second-factor", #"{"password":"\#(EndpointsFixture.password)"}"#,
            bearer: phone.access)
    }

    /// The phone scans the picture and approves.
    func approveByScan(_ phone: Tokens) async throws {
        let claimed = await claim(try await code(), phone)
        #expect(claimed.status == 200, "\(claimed.text)")
        let number: String = try #require(await event().string("data"))
        let approved = await approve(phone, number: number)
        #expect(approved.string("state") == "ACTIVE", "\(approved.text)")
    }

    /// Sends the last form of the page.
    func finish() async throws -> Answer {
        let page = await page()
        let token = try #require(
            page.text.firstRange(of: "action=\"\(here)/finish\"").flatMap {
                Page.value("csrf", in: String(page.text[$0.upperBound...]))
            }, "\(page.text)")
        return await browser.post(
            here + "/finish", ["r": try #require(Page.value("r", in: page.text)), "csrf": token])
    }
}
