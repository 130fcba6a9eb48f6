internal import Cryptography
internal import HTTP
internal import OAuth
internal import Sessions

extension Endpoints {
    /// `POST /oauth/par` (RFC 9126): checks an authorization request that the client sends directly, and names it. The name is
    /// the sealed request, so that no row is written.
    func pushRequest(_ call: Call) async throws -> Response {
        let form = try call.form(repeatable: { _ in ["resource"] })
        let identity = try await clientIdentity(call, ClientParameters(form))
        let client = try await client(identity, call)
        let parameters = try AuthorizationParameters(call)
        let uri = try parameters.destination(client).redirectURI
        var request = try parameters.request(
            id: Hex.encode(context.random.bytes(16)), of: client, to: uri, ownAudience: context.audience,
            pageMethods: pageMethods,
            hint: services.pageLogin.hint)
        if let proof = try keyProof(call) {
            // RFC 9449 section 10.1: a proof binds the code as `dpop_jkt` does.
            guard request.keyThumbprint == nil || request.keyThumbprint == proof.keyThumbprint else {
                throw RequestProblem.invalid("dpop_jkt", "must be the thumbprint of the key of the proof")
            }
            try proof.use(for: client.dpop)
            request.keyThumbprint = proof.keyThumbprint
        }
        request.isPushed = true
        guard let sealed = context.requests.sealPushed(CarriedRequest(request, at: context.clock.now)) else {
            throw RequestProblem.authorization(.invalidRequest, "The request is too long.")
        }
        return try .json(
            PushedRequestAnswer(
                requestURI: AuthorizationParameters.requestURIPrefix + sealed,
                expiresIn: CarriedRequest.pushedLifetime.wholeSeconds), .created)
    }
}

/// The answer to a pushed request (RFC 9126 section 2.2).
private struct PushedRequestAnswer: Encodable {
    let requestURI: String
    let expiresIn: Int64

    enum CodingKeys: String, CodingKey {
        case requestURI = "request_uri"
        case expiresIn = "expires_in"
    }
}

extension Route {
    static let pushRequest = Route(
        .post, Endpoints.pushedRequestPath, errorFormat: .oauth, challenge: .basic, cors: .client,
        .open { try await $0.pushRequest($1) },
        Operation(
            "pushAuthorizationRequest", .loginPage, "Push an authorization request",
            """
            RFC 9126. The client authenticates if it can. A proof in `DPoP` binds the code to its key. The name \
            of the request is good for 90 seconds, and is spent when a login completes.
            """,
            takes: .form, parameters: ["DPoP"], answers: [.inline(201, "PushedRequest")]))
}
