internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /oauth/revoke` (RFC 7009). The hint is not needed: a token says what it is. Either token of a session ends it. The
    /// session of a key ends by an access token, which every API sees, only with a proof of that key, as far as its client has
    /// nothing else to prove itself by; by its refresh token, which the device alone has, without: unmodified clients send no
    /// proof here.
    func revoke(_ call: Call) async throws -> Response {
        let form = try call.form()
        let identity = try await clientIdentity(call, ClientParameters(form))
        let client = try await client(identity, call)
        guard let token = form["token"] else { throw RequestProblem.invalid("token", "is missing") }
        var call = call
        if case .authenticated = identity { call.actor = "client:\(client.id)" }
        // A token that a client got for itself has no session to end, and to say that it is revoked would be a lie.
        if case .clientToken(let own) = try await services.accessTokens.introspect(token, from: call.origin),
            own.clientID == client.id
        {
            throw RequestProblem.unsupportedTokenType
        }
        let proof = services.logout.isSeenByAPIs(token, of: client) ? try keyProof(call) : nil
        try await services.logout.revoke(token, of: client, proof: proof, from: call.origin)
        return Response(status: .ok)
    }
}
