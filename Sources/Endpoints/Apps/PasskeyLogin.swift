internal import HTTP
internal import Sessions

extension Endpoints {
    /// `POST /v1/passkeys/options`: makes the options of a login, which name no user.
    func passkeyLoginOptions(_ call: Call) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        return try .json(PasskeyOptionsAnswer(try services.passkeys.loginOptions()))
    }

    /// `POST /v1/login` `{passkey}`: logs in the user of a passkey. Refused passkeys count against the caller's address.
    func logInByPasskey(_ members: Members, _ call: Call) async throws -> Response {
        let credential = try members.requiredJSON("passkey")
        let request = try await publicLogin(members, by: .passkey, call)
        return try await counted { () async throws(ServiceError) in
            try await rateLimiter.passkey(in: call) { () async throws(ServiceError) in
                let proof = try await services.passkeys.verify(credential, from: call.origin)
                let name = "passkey\0\(proof.userID)"
                try rateLimiter.admitLogin(username: name, deviceID: request.device.id)
                return try await rateLimiter.session(of: name) { () async throws(ServiceError) in
                    try await services.passkeys.logIn(request, as: proof, from: call.origin)
                }
            }
        }
    }

    /// Answers a login, and counts it.
    func counted(_ login: () async throws(ServiceError) -> TokenGrant) async throws(ServiceError) -> Response {
        do throws(ServiceError) {
            let response = TokenAnswer.response(try await login())
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            throw error
        }
    }
}

extension Route {
    static let passkeyLoginOptions = Route(
        .post, "/v1/passkeys/options", cors: .anyClient, .open { try await $0.passkeyLoginOptions($1) },
        Operation(
            "passkey_login_options", .apps, "Options of a login by a passkey",
            """
            The argument of `PublicKeyCredential.parseRequestOptionsFromJSON`, or of the call of your platform. \
            The options name no user. The challenge serves one login, for five minutes. Without `passkeys.rp_id` \
            in the configuration the answer is 404.
            """,
            takes: .json("Nothing", isOptional: true), answers: [.json("PasskeyOptions", "Options.")],
            errors: [.notFound]))
}
