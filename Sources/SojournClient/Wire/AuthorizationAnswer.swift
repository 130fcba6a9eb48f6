package import Foundation

/// The URL with which the browser returns to the app (RFC 6749 §4.1.2), and whether it answers the app's own request.
///
/// Anybody can open a URL with the scheme of an app. So an answer counts only if it comes to the redirect URI of the request, with
/// its `state`, and with the issuer of the configured server (RFC 9207). Every part of it stands once.
package struct AuthorizationAnswer {
    private let redirect: URLComponents
    private let parameters: [String: String]

    /// Reads a URL. Throws `refused` with the code `invalid_callback` if it cannot be read, or a parameter stands twice.
    package init(_ url: URL) throws(SojournError) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { throw Self.invalid }
        var parameters: [String: String] = [:]
        for item in parts.queryItems ?? [] {
            guard parameters.updateValue(item.value ?? "", forKey: item.name) == nil else { throw Self.invalid }
        }
        (redirect, self.parameters) = (parts, parameters)
    }

    /// The code. Throws `refused` if the URL does not answer `login`, or says that the login was refused.
    package func code(for login: PendingLogin, of server: ServerAddress) throws(SojournError) -> String {
        guard isSent(to: login.redirectURI) else { throw Self.refused("redirect_uri_mismatch") }
        guard parameters["state"] == login.state else { throw Self.refused("state_mismatch") }
        guard let issuer = parameters["iss"], issuer == server.base || issuer == server.base + "/" else {
            throw Self.refused("iss_mismatch")
        }
        if let error = parameters["error"] {
            let detail = parameters["error_description"]
            switch error {
            case "server_error", "temporarily_unavailable": throw .unreachable(Unreachable(detail ?? error))
            case "unauthorized_client": throw .misconfigured(error, detail: detail)
            default: throw .refused(Refusal(status: 0, code: error, detail: detail))
            }
        }
        guard let code = parameters["code"], !code.isEmpty else { throw Self.invalid }
        return code
    }

    /// Whether the URL is `redirectURI` with further parameters. A host without a path may have got a slash on its way.
    private func isSent(to redirectURI: String) -> Bool {
        guard let own = URLComponents(string: redirectURI) else { return false }
        func path(_ parts: URLComponents) -> String {
            parts.percentEncodedPath.isEmpty && parts.host != nil ? "/" : parts.percentEncodedPath
        }
        return own.scheme?.lowercased() == redirect.scheme?.lowercased()
            && own.host?.lowercased() == redirect.host?.lowercased() && own.port == redirect.port
            && own.user == redirect.user && path(own) == path(redirect)
            && (own.queryItems ?? []).allSatisfy { parameters[$0.name] == $0.value ?? "" }
    }

    private static let invalid = refused("invalid_callback")

    private static func refused(_ code: String) -> SojournError { .refused(Refusal(status: 0, code: code)) }
}
