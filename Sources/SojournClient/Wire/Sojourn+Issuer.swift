/// The URL by which the server knows itself. Signatures name the URL that the app calls, so that the server refuses all of them if
/// its own is another one.
extension Sojourn {
    /// The server's issuer (RFC 8414 §2), if it is another URL than the configured one; nil also if the server does not say it.
    /// It is for a message only: nothing is ever sent there.
    func otherIssuer() async -> String? {
        guard let server = try? server(),
            let message = try? server.request("GET", "/.well-known/oauth-authorization-server"),
            let answer = try? await exchange(message, within: configuration.patience), answer.status == 200,
            var issuer = JSONValue(parsing: answer.body)?.members?.text("issuer")
        else { return nil }
        while issuer.hasSuffix("/") { issuer.removeLast() }
        return issuer == server.base ? nil : issuer
    }

    static func wrongServer(_ issuer: String, _ server: ServerAddress) -> String {
        "the server's issuer is \(issuer), but the app calls \(server.base): SojournConfiguration.server and the server's "
            + "server.issuer must be the same URL"
    }
}
