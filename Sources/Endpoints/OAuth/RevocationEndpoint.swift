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
