public import Foundation
public import SojournClient

/// A browser for tests, without a screen: it opens the login page of either server, and sends its form with a name and a password.
public struct FormLoginPresenter: LoginPresenter {
    private let transport: any Transport
    private let username: String
    private let password: String

    /// A browser whose user gives that name and password.
    public init(_ server: any TestServer, username: String, password: String) {
        (transport, self.username, self.password) = (server.transport, username, password)
    }

    /// Follows the page to the redirect URI. Throws `cancelled` if the page takes the name and the password not.
    public func present(_ url: URL, redirectURI: URL) async throws(LoginPresentationError) -> URL {
        var cookies: [String: String] = [:]
        var (answer, place) = (try await send("GET", url, &cookies), url)
        var isSent = false
        for _ in 0..<8 {
            if (300..<400).contains(answer.status), let location = answer["Location"],
                let next = URL(string: location, relativeTo: place)?.absoluteURL
            {
                if next.scheme == redirectURI.scheme, next.path == redirectURI.path { return next }
                (answer, place) = (try await send("GET", next, &cookies), next)
                continue
            }
            guard answer.status < 400 || isSent else { throw .failed("the login page answers \(answer.status)") }
            guard !isSent else { throw .cancelled }
            isSent = true
            var form = Form()
            for (name, value) in Self.hiddenFields(of: String(decoding: answer.body, as: UTF8.self)) {
                form.add(name, value)
            }
            form.add("username", username)
            form.add("password", password)
            guard let action = Self.action(of: String(decoding: answer.body, as: UTF8.self)),
                let next = URL(string: action, relativeTo: place)?.absoluteURL
            else { throw .failed("the login page asks for no password") }
            (answer, place) = (try await send("POST", next, &cookies, form), next)
        }
        throw .failed("too many redirects")
    }

    private func send(
        _ method: String, _ url: URL, _ cookies: inout [String: String], _ form: Form? = nil
    ) async throws(LoginPresentationError) -> HTTPAnswer {
        var fields = [HTTPMessageField("Accept", "text/html"), HTTPMessageField("Sec-Fetch-Site", "same-origin")]
        if form != nil { fields.append(HTTPMessageField("Content-Type", "application/x-www-form-urlencoded")) }
        if !cookies.isEmpty {
            let value = cookies.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: "; ")
            fields.append(HTTPMessageField("Cookie", value))
        }
        let request = HTTPMessage(method: method, url: url, fields: fields, body: form?.bytes ?? [])
        let answer: HTTPAnswer
        do throws(TransportFailure) { answer = try await transport.send(request, within: .seconds(60)) } catch {
            throw .failed("\(error)")
        }
        for field in answer.fields where field.name.lowercased() == "set-cookie" {
            let pair = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { cookies[pair[0]] = pair[1] }
        }
        return answer
    }

    /// The hidden fields of the first form with a request in it.
    private static func hiddenFields(of html: String) -> [(String, String)] {
        guard let form = passwordForm(of: html) else { return [] }
        return form.components(separatedBy: "<input").dropFirst().compactMap { input in
            let tag = input.prefix { $0 != ">" }
            guard tag.contains(#"type="hidden""#), let name = attribute("name", of: tag) else { return nil }
            return (name, attribute("value", of: tag) ?? "")
        }
    }

    /// The form for the password. The server may lie below a path.
    private static func passwordForm(of html: String) -> String? {
        html.components(separatedBy: "<form").dropFirst().first { $0.contains(#"/login/password""#) }
    }

    private static func action(of html: String) -> String? {
        passwordForm(of: html).flatMap { attribute("action", of: $0.prefix { $0 != ">" }) }
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        guard let start = tag.range(of: " \(name)=\"") else { return nil }
        return String(tag[start.upperBound...].prefix { $0 != "\"" })
    }
}
