internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /oauth/revoke` (RFC 7009): ends the session of an access token or a refresh token. The token shows its type, so
    /// that the hint is ignored.
    ///
    /// A public client that revokes a bound session by an access token needs a proof of the key, because every API sees that
    /// token. A refresh token needs no proof, because only the device holds it, and unmodified clients send none here.
    func revoke(_ call: Call) async throws -> Response {
        let form = try call.form()
        let identity = try await clientIdentity(call, ClientParameters(form))
        let client = try await client(identity, call)
        guard let token = form["token"] else { throw RequestProblem.invalid("token", "is missing") }
        var call = call
        if case .authenticated = identity { call.actor = "client:\(client.id)" }
        // A client's own token cannot be revoked, because it has no session, and an answer of 200 would claim that it had
        // ended.
        if case .clientToken(let own) = try await tokens.introspect(token, from: call.origin), own.clientID == client.id
        {
            throw RequestProblem.unsupportedTokenType
        }
        let proof = tokens.isSeenByAPIs(token, of: client) ? try keyProof(call) : nil
        try await tokens.revoke(token, of: client, proof: proof, from: call.origin)
        return Response(status: .ok)
    }
}
