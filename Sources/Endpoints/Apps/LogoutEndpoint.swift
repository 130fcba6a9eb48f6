internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /v1/logout`: ends the session of the token. The call is idempotent and accepts an expired access token.
    func logOut(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["refresh_token"], mayBeMissing: true)
        let token: String
        let use: TokenUse
        switch (try call.authorization(), try members.string("refresh_token")) {
        case (.bearer(let accessToken)?, nil): (token, use) = (accessToken, .bearer)
        case (.dpop(let accessToken)?, nil): (token, use) = (accessToken, try provenUse(of: accessToken, call))
        case (nil, let refreshToken?):
            token = refreshToken
            use = try keyProof(call).map { .proven($0) } ?? .bearer
        case (nil, nil), (.basic?, nil): throw RequestProblem.unauthenticated
        case (_?, _?): throw members.refused("refresh_token", "must not stand beside an Authorization field")
        }
        try await services.logout.logOut(token, as: use, page: call.page, from: call.origin)
        return .noContent
    }
}

extension Route {
    static let logOut = Route(
        .post, "/v1/logout", countsRefusals: true, cors: .client, .open { try await $0.logOut($1) },
        Operation(
            "log_out", .apps, "Log out on this device",
            "Ends the session. A repeated call is no error, and an expired access token works.",
            takes: .json("Logout", isOptional: true), security: [.nothing, .bearer, .dpop],
            answers: [.empty("The session is over.")]))
}
