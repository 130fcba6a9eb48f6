import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The account pages in one browser.
struct AccountPages {
    static let cookie = "__Host-sojourn-session"
    static let sameOrigin: Fields = ["Sec-Fetch-Site": "same-origin"]

    let server: EndpointsFixture
    let browser: Browser

    init(_ server: EndpointsFixture, _ browser: Browser? = nil) {
        self.server = server
        self.browser = browser ?? Browser(server)
    }

    /// Opens a page. If it leads to the login page, logs in there, and follows back.
    func open(
        _ path: String = "/account", username: String = "anna", password: String = EndpointsFixture.password,
        more: [String: String] = [:]
    ) async throws -> AccountPage {
        let answer = await browser.get(path)
        if answer.status == 200 { return AccountPage(answer) }
        let answered = try await logIn(answer, username: username, password: password, more: more)
        #expect(answered.status == 303, "\(answered.text)")
        return AccountPage(await browser.get(try #require(answered.field("Location"))))
    }

    /// Fills the login page to which `answer` leads, and returns the answer to its form.
    func logIn(
        _ answer: Answer, username: String = "anna", password: String = EndpointsFixture.password,
        more: [String: String] = [:]
    ) async throws -> Answer {
        #expect(answer.status == 303, "\(answer.text)")
        let location = try #require(answer.field("Location"))
        try #require(location.hasPrefix(EndpointsFixture.issuer + "/login?r="), "\(location)")
        let page = try Page(await browser.get(location))
        var form = ["r": page.request, "csrf": page.csrf, "username": username, "password": password]
        for (name, value) in more { form[name] = value }
        return await browser.post("/login/password", form)
    }

    /// Sends a form of a page.
    func send(
        _ path: String, of page: AccountPage, _ form: [String: String], fields: Fields = sameOrigin
    ) async throws -> Answer {
        var form = form
        let token: String = try #require(page.csrf(path), "\(page.text)")
        form["csrf"] = token
        return await browser.post(path, form, fields: fields)
    }

    /// Sends a form of a page, and opens the page to which it leads.
    func act(_ path: String, of page: AccountPage, _ form: [String: String]) async throws -> AccountPage {
        let answer = try await send(path, of: page, form)
        #expect(answer.status == 303, "\(answer.text)")
        return AccountPage(await browser.get(try #require(answer.field("Location"))))
    }

    /// The bytes of a page with its style sheet and its modules.
    func weight(of page: AccountPage) async -> Int {
        var weight = page.text.utf8.count
        for file in Set(page.text.matches(of: #/"(\/assets\/[^"]+)"/#).map { String($0.1) }) {
            weight += await browser.get(file).text.utf8.count
        }
        return weight
    }

    /// The kinds of anna's newest events, with their reasons.
    func events() async -> [String] {
        await server.admin(.get, "/admin/v1/events?limit=200").items.map {
            [$0.string("event"), $0.string("reason")].compactMap(\.self).joined(separator: " ")
        }
    }
}

struct AccountPage {
    let answer: Answer
    var text: String { answer.text }

    init(_ answer: Answer) { self.answer = answer }

    /// The token of the first form that goes to that path.
    func csrf(_ path: String) -> String? {
        text.firstRange(of: "action=\"\(path)\"").flatMap { Page.value("csrf", in: String(text[$0.upperBound...])) }
    }

    /// The ids of the sessions that buttons end.
    var sessions: [String] {
        text.split(separator: "name=\"session\" value=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
    }
}
