internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /v1/refresh`: refreshes a session of a public client, with `{refresh_token}`. A client that keeps one string sends
    /// it in the `Authorization` field, as Bearer or, if it is bound to a key, as DPoP.
    func refreshSession(_ call: Call) async throws -> Response {
        let members = try Members(
            call, known: ["refresh_token", "device_id", "device", "sent_at", "code"] + Members.evidenceNames,
            mayBeMissing: true)
        let token: String
        var proof: ProofOfPossession?
        switch (try call.authorization(), try members.string("refresh_token")) {
        case (.bearer(let single)?, nil): token = single
        case (.dpop(let single)?, nil):
            token = single
            proof = try keyProof(call, accessToken: single, isRepeatable: true)
        case (nil, let refreshToken?):
            token = refreshToken
            proof = try keyProof(call, isRepeatable: true)
        case (nil, nil): throw members.refused("refresh_token", "is missing")
        case (.basic?, nil): throw RequestProblem.unauthenticated
        case (_?, _?): throw members.refused("refresh_token", "must not stand beside an Authorization field")
        }
        let attempt = RefreshAttempt(
            token: token, clientID: nil, deviceID: try members.identifier("device_id"),
            idempotencyKey: try call.idempotencyKey(), sentAt: try members.instant("sent_at"), proof: proof,
            evidence: try evidence(members),
            deviceReport: try members.deviceReport(), page: call.page)
        return try await renew(attempt, call)
    }
}

extension Route {
    static let refreshSession = Route(
        .post, "/v1/refresh", countsRefusals: true, cors: .client, .open { try await $0.refreshSession($1) },
        Operation(
            "refresh", .apps, "Renew the tokens",
            """
            A public client sends `refresh_token` in the body. A client with the `token_style` `single` sends \
            its one token in the field `Authorization`. 429 and 5xx never mean that the user is logged out.
            """,
            takes: .json("Refresh", isOptional: true), parameters: ["Idempotency-Key"],
            security: [.nothing, .bearer, .dpop], answers: [.tokens],
            errors: [.secondFactorConflict, .wrongPasswordOrToken]))
}
