internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /oauth/revoke` (RFC 7009). The hint is ignored, because a token shows its kind. The access token and the refresh
    /// token both end the session; a token that a client got for itself ends alone. An access token of a public client's session that is bound to a key needs a proof of that
    /// key, because APIs see access tokens. A refresh token needs none, because only the device has it, and unmodified clients
    /// send no proof here.
    func revoke(_ call: Call) async throws -> Response {
        let form = try call.form()
        let identity = try await clientIdentity(call, ClientParameters(form))
        let client = try await client(identity, call)
        guard let token = form["token"] else { throw RequestProblem.invalid("token", "is missing") }
        var call = call
        if case .authenticated = identity { call.actor = "client:\(client.id)" }
        if try await services.clientCredentials.revoke(token, of: client, from: call.origin) {
            return Response(status: .ok)
        }
        let proof = services.logout.isSeenByAPIs(token, of: client) ? try keyProof(call) : nil
        try await services.logout.revoke(token, of: client, proof: proof, from: call.origin)
        return Response(status: .ok)
    }
}

extension Route {
    static let revoke = Route(
        .post, Endpoints.revocationPath, errorFormat: .oauth, challenge: .basic, cors: .client,
        .open { try await $0.revoke($1) },
        Operation(
            "revoke", .oauth, "End a session by its token",
            """
            RFC 7009. Either token of a session ends it; a repeated call and an unknown token are no errors. If \
            a public client's session is bound to a key, its access token needs a proof by that key in the field \
            `DPoP`. Without it the answer is `invalid_grant` with the `reason` `binding_mismatch`. The refresh \
            token needs no proof, unless the client's `token_style` is `single`, because then every API sees it. \
            A token of the grant `client_credentials` ends alone, and only its own client, authenticated, can \
            revoke it.
            """,
            takes: .form, parameters: ["DPoP"],
            answers: [.empty("The session is over.", status: 200, headers: ["DPoP-Nonce"])]))
}
