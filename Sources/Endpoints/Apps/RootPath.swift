internal import HTTP
internal import Pages

extension Endpoints {
    /// `GET /`: leads a browser to the pages of the listener, and tells other programs what there is.
    func showRoot(_ call: Call) throws -> Response {
        let isPublic = call.caller.listener == .public
        if call.accepts("text/html", ratherThan: "application/json") {
            return isPublic ? redirect(to: .account) : Self.redirect(to: PagePath.console.text)
        }
        let issuer = issuerPath(for: call.caller).text
        let paths = isPublic ? ["account": PagePath.account.text, "metadata": Self.metadataPath] : Self.adminPaths
        return try .json(
            RootAnswer(
                server: "sojourn", listener: isPublic ? "public" : "admin",
                paths: paths.merging(Self.commonPaths) { own, _ in own }.mapValues { issuer + $0 }))
    }

    private static let commonPaths = ["api": "/openapi.json", "health": "/healthz", "readiness": "/readyz"]
    private static let adminPaths = ["console": PagePath.console.text, "metrics": "/metrics"]
}

/// What a listener is, and where to go on.
private struct RootAnswer: Encodable {
    let server: String
    let listener: String
    let paths: [String: String]
}

extension Route {
    static let showRoot = Route(
        .get, "/", on: .both, cors: .noOrigin, .open { try $0.showRoot($1) },
        Operation(
            "root", .operation, "What is here?",
            """
            On both listeners. A browser is led to `/account`, at the admin listener to `/console`.
            """,
            answers: [.json("Root", "The listener, and paths to go on."), .redirect("To the pages, for a browser.")]))
}
