/// The URL by which the server knows itself. Signatures name the URL that the app calls, so that the server refuses all of them if
/// its own is another one.
extension Sojourn {
    /// The server's issuer (RFC 8414 §2), if it is another URL than the configured one; nil also if the server does not say it.
    /// It is for a message only: nothing is ever sent there.
    func otherIssuer() async -> String? {
        guard let server = try? server(),
            let message = try? server.request("GET", Self.metadataPath),
            let answer = try? await exchange(message, within: configuration.patience), answer.status == 200,
            var issuer = JSONValue(parsing: answer.body)?.members?.text("issuer")
        else { return nil }
        while issuer.hasSuffix("/") { issuer.removeLast() }
        return issuer == server.base ? nil : issuer
    }

    private static var metadataPath: String { "/.well-known/oauth-authorization-server" }

    /// What to set if no public listener of Sojourn answers at the configured URL; nil if one does, or if it cannot be told, because
    /// of an outage or a portal on the way.
    func missingServer() async -> String? {
        guard let server = try? server(), let message = try? server.request("GET", Self.metadataPath),
            let answer = try? await exchange(message, within: configuration.patience)
        else { return nil }
        let metadata = JSONValue(parsing: answer.body)?.members
        switch answer.status {
        case 200 where metadata == nil || metadata?.text("token_endpoint")?.hasSuffix(TokenRequest.path) == true:
            return nil
        case 200, 400...407, 409...428, 430..<500:
            return "no Sojourn answers at \(server.base): SojournConfiguration.server must be the URL of its public "
                + "listener"
        default: return nil
        }
    }

    static func wrongServer(_ issuer: String, _ server: ServerAddress) -> String {
        "the server's issuer is \(issuer), but the app calls \(server.base): SojournConfiguration.server and the server's "
            + "server.issuer must be the same URL"
    }
}
