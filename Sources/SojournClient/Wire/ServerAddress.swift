package import Foundation

/// The server that a configuration names, and the requests that it takes.
package struct ServerAddress: Hashable, Sendable {
    /// The base URL without a slash at its end, equal to the server's `server.issuer`.
    package let base: String

    /// Throws `misconfigured` unless the URL is `https`, or `http` on a loopback address.
    package init(_ url: URL) throws(SojournError) {
        guard Self.isSafe(url) else {
            throw .misconfigured("the server's URL must be https, or http on a loopback address")
        }
        var text = url.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        guard URL(string: text + "/") != nil, url.query == nil, url.fragment == nil else {
            throw .misconfigured("the server's URL must have no query and no fragment")
        }
        base = text
    }

    /// Whether tokens can be sent to `url`.
    package static func isSafe(_ url: URL) -> Bool {
        switch url.scheme?.lowercased() {
        case "https": url.host?.isEmpty == false
        case "http": url.host.map { ["localhost", "127.0.0.1", "::1", "[::1]"].contains($0.lowercased()) } ?? false
        default: false
        }
    }

    /// The URL of a path such as `/oauth/token`.
    package func url(_ path: String) throws(SojournError) -> URL {
        guard let url = URL(string: base + path) else { throw .misconfigured("no URL: \(base)\(path)") }
        return url
    }

    /// A request with a form.
    package func post(_ path: String, _ form: Form) throws(SojournError) -> HTTPMessage {
        HTTPMessage(
            method: "POST", url: try url(path),
            fields: [
                HTTPMessageField("Accept", "application/json"),
                HTTPMessageField("Content-Type", "application/x-www-form-urlencoded"),
            ], body: form.bytes)
    }

    /// A request with JSON, or without content if `members` is nil.
    package func request(
        _ method: String, _ path: String, _ members: [String: JSONValue]? = nil
    ) throws(SojournError) -> HTTPMessage {
        var message = HTTPMessage(
            method: method, url: try url(path),
            fields: [HTTPMessageField("Accept", "application/json")])
        if let members {
            message.fields.append(HTTPMessageField("Content-Type", "application/json"))
            message.body = JSONValue.object(members).bytes
        }
        return message
    }
}
