import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A browser before the console of the admin listener.
final class ConsoleBrowser {
    static let cookie = "sojourn-console"
    let server: EndpointsFixture
    private(set) var cookies: [String: String] = [:]
    var host = "localhost:8081"
    var isSecure = false

    init(_ server: EndpointsFixture) { self.server = server }

    func get(_ path: String, fields: Fields = Fields()) async -> Answer { await send(.get, path, nil, fields) }

    func post(
        _ path: String, _ form: [String: String], fields: Fields = ["Sec-Fetch-Site": "same-origin"]
    ) async -> Answer {
        await send(.post, path, form, fields)
    }

    /// Sends a form of another type.
    func send(_ body: [UInt8], to path: String, type: String) async -> Answer {
        await send(.post, path, body, ["Sec-Fetch-Site": "same-origin", "Content-Type": type])
    }

    private func send(_ method: HTTP.Method, _ path: String, _ form: [String: String]?, _ more: Fields) async -> Answer
    {
        var fields = more
        if form != nil { fields.append("Content-Type", "application/x-www-form-urlencoded") }
        return await send(method, path, Array((form.map(Browser.encoded) ?? "").utf8), fields)
    }

    private func send(_ method: HTTP.Method, _ path: String, _ body: [UInt8], _ more: Fields) async -> Answer {
        var fields = more
        fields.append("Host", host)
        if !cookies.isEmpty {
            fields.append("Cookie", cookies.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: "; "))
        }
        let answer = await server.send(
            Request(method, path, fields: fields, body: body), on: .admin, isSecure: isSecure)
        for line in answer.response.fields.values("Set-Cookie") {
            let pair = line.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            cookies[String(pair[0])] = line.contains("Max-Age=0") ? nil : String(pair[1])
        }
        return answer
    }

    func plant(_ name: String, _ value: String) { cookies[name] = value }

    /// Enters by an admin key.
    @discardableResult func enter(_ key: String? = nil, to page: String = "") async throws -> Answer {
        let entry = await get("/console/enter")
        let token: String = try #require(Page.value("csrf", in: entry.text))
        return await post("/console/enter", ["csrf": token, "key": key ?? server.adminKey, "to": page])
    }

    /// Sends a form of a page with what else it has.
    func act(_ page: Answer, _ path: String, _ form: [String: String], fields: Fields? = nil) async throws -> Answer {
        var form = form
        let token: String = try #require(page.csrf(path), "\(page.text)")
        form["csrf"] = token
        return await post(path, form, fields: fields ?? ["Sec-Fetch-Site": "same-origin"])
    }

    /// Sends a form of a page, and opens the page to which it leads.
    func follow(_ page: Answer, _ path: String, _ form: [String: String]) async throws -> Answer {
        let answer = try await act(page, path, form)
        #expect(answer.status == 303, "\(answer.text)")
        return await get(try #require(answer.field("Location")))
    }

    /// Looks for something.
    func find(_ text: String) async throws -> Answer {
        let answer = try await act(await get("/console"), "/console/find", ["q": text])
        guard answer.status == 303 else { return answer }
        return await get(try #require(answer.field("Location")))
    }

    /// Gives `body` a browser that has entered with an admin key of that scope.
    static func with(
        _ scope: AdminKey.Scope = .owner, _ body: (ConsoleBrowser, EndpointsFixture) async throws -> Void
    ) async throws {
        try await EndpointsFixture.with { server in
            let key = try await Administration(server.context).createAdminKey(
                name: "Grace <b>", scope: scope, by: .system
            ).1
            let browser = ConsoleBrowser(server)
            #expect(try await browser.enter(key).status == 303)
            try await body(browser, server)
        }
    }
}

extension Answer {
    /// The token of the first form that goes to that path.
    func csrf(_ path: String) -> String? {
        text.firstRange(of: "action=\"\(path)\"").flatMap { Page.value("csrf", in: String(text[$0.upperBound...])) }
    }

    /// The text of the page without its markup, and with one space between words.
    var words: String {
        text.replacing(#/<[^>]*>/#, with: "").replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
            .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

extension Answer {
    /// The values of the fields of the page, as a browser would send them.
    var fields: [String: String] { fields(after: "<main>") }

    /// The values of the fields after a text of the page, up to the end of their form.
    func fields(after start: String) -> [String: String] {
        guard let place = text.firstRange(of: start) else { return [:] }
        let rest = text[place.upperBound...]
        let part = rest[..<(rest.firstRange(of: "</form>")?.lowerBound ?? rest.endIndex)]
        var fields: [String: String] = [:]
        for match in part.matches(of: #/<input[^>]*? name="([^"]*)"[^>]*? value="([^"]*)"([^>]*)>/#) {
            let isBox = match.0.contains("checkbox")
            if !isBox || match.3.contains("checked") { fields[String(match.1)] = Self.unescaped(match.2) }
        }
        for match in part.matches(of: #/<textarea name="([^"]*)"[^>]*>\n([^<]*)<\/textarea>/#) {
            fields[String(match.1)] = Self.unescaped(match.2)
        }
        for match in part.matches(of: #/<select name="([^"]*)">([\s\S]*?)<\/select>/#) {
            let chosen =
                match.2.firstMatch(of: #/value="([^"]*)" selected/#)?.1
                ?? match.2.firstMatch(of: #/value="([^"]*)"/#)?.1
            fields[String(match.1)] = chosen.map(Self.unescaped) ?? ""
        }
        fields["csrf"] = nil
        return fields
    }

    static func unescaped(_ text: Substring) -> String {
        String(text).replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&lt;", with: "<")
            .replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }
}
