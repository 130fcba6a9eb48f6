internal import HTTP
internal import OAuth
internal import Sessions

/// The calls by which an app makes an account for a proven mailbox, and logs in by one.
extension Endpoints {
    /// `POST /v1/sign-up`: makes the user, with a password or a passkey, and the session. With the access token of an anonymous
    /// user it names that user: id and session stay.
    func signUp(_ call: Call, _ current: AuthenticatedSession?) async throws -> Response {
        let own = ["verification_token", "password", "username"]
        let all = try Members(call, known: Members.loginNames + own + ["passkey"])
        let (username, password) = (try all.string("username"), try all.string("password"))
        if let device = try all.device() { _ = try all.loginRequest(on: device) }
        var request = SignUpRequest(try all.verification())
        (request.username, request.password) = (username, password)
        _ = try verifications()
        if let current {
            _ = try Members(call, known: own)
            let named = request
            let user = try await rateLimiter.naming(in: call) { () async throws(ServiceError) in
                let signUp = try await services.signUp.prepare(named, from: call.origin)
                return try await services.signUp.name(current, as: signUp, from: call.origin)
            }
            return Response(.ok, "application/json", TokenResponse.User(user, in: current.session.scope).json)
        }
        if all.contains("passkey") { request.passkey = try all.requiredJSON("passkey") }
        let method: Client.LoginMethod = request.passkey == nil ? .password : .passkey
        let start = try await publicLogin(all, by: method, call)
        guard let client = try await services.pageLogin.client(start.clientID), client.signUp else {
            throw ServiceError.signUpClosed
        }
        request.clientID = start.clientID
        let made = request
        do throws(ServiceError) {
            let grant = try await rateLimiter.signUp(in: call) { () async throws(ServiceError) in
                let signUp = try await services.signUp.prepare(made, from: call.origin)
                return try await services.signUp.logIn(start, as: signUp, from: call.origin)
            }
            let response = TokenAnswer.response(grant)
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            throw error
        }
    }

    /// `POST /v1/sign-up/passkey-options` `{verification_token}`: makes the options of a registration for the new user.
    func signUpPasskeyOptions(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["verification_token"])
        let handle = try members.verification()
        if let page = call.page { try await verifications().admit(page, by: handle) }
        _ = try verifications()
        return try .json(PasskeyOptionsAnswer(try await services.signUp.passkeyOptions(handle)))
    }

    /// `POST /v1/login` `{verification_token, code}`: logs in the user of a proven mailbox; with a code it is proven by it first.
    func logInByEmail(_ members: Members, _ call: Call) async throws -> Response {
        let code = try members.string("code")
        if let device = try members.device() { _ = try members.loginRequest(on: device) }
        let handle = try members.verification()
        let service = try verifications()
        var request = try await publicLogin(members, by: .email, call)
        do throws(ServiceError) {
            let proof: VerificationProof
            if let code, let proven = try await provenByMail(handle, code, call) {
                proof = proven
                request.code = nil
            } else {
                // Beside a mailbox that is proven already, a code is that of the second factor.
                proof = try await service.proof(handle)
            }
            let grant = try await service.logIn(request, as: proof, from: call.origin)
            let response = TokenAnswer.response(grant)
            metrics.countLogin()
            return response
        } catch {
            metrics.countLogin(failing: error)
            throw error
        }
    }
}

extension Endpoints {
    /// The proof of a mailbox by the code of its mail; nil: it is proven, and the code is another one.
    private func provenByMail(
        _ handle: VerificationHandle, _ code: String, _ call: Call
    ) async throws(ServiceError) -> VerificationProof? {
        do throws(ServiceError) {
            return try await services.verifications.prove(handle, code: code, from: call.origin)
        } catch {
            guard error == .verificationOver else { throw error }
            return nil
        }
    }
}

extension Members {
    /// The verification that the member `verification_token` names.
    func verification() throws -> VerificationHandle {
        guard let handle = VerificationHandle(token: try requiredString("verification_token")) else {
            throw refused("verification_token", "must be that of a verification")
        }
        return handle
    }
}

extension Route {
    static let signUp = Route(
        .post, "/v1/sign-up", cors: .client,
        .open { endpoints, call in
            let hasToken = try call.onlyField("Authorization") != nil
            let current =
                hasToken ? try await endpoints.authenticatedSession(call, scope: Scope.account) : nil
            return try await endpoints.signUp(call, current)
        },
        Operation(
            "sign_up", .apps, "Make an account",
            """
            Takes the `verification_token` of a proven mailbox, and a password or a passkey. The user, the verified \
            mailbox and the session are made together. The same request with the same `Idempotency-Key` gets the same \
            session for ten minutes. With the access token of an anonymous user it names that user: id and \
            session stay, and the answer is the user.
            """,
            takes: .json("SignUp"), parameters: ["DPoP", "Idempotency-Key"], security: [.nothing, .bearer],
            answers: [.tokens],
            errors: [.verificationRefused, .unauthorized, .signUpClosed, .notFound, .accountExists, .tooManyRequests]))

    static let signUpPasskeyOptions = Route(
        .post, "/v1/sign-up/passkey-options", cors: .client, .open { try await $0.signUpPasskeyOptions($1) },
        Operation(
            "sign_up_passkey_options", .apps, "Options of a passkey for a new account",
            """
            The argument of `PublicKeyCredential.parseCreationOptionsFromJSON`, or of the call of your platform. The \
            challenge serves one `POST /v1/sign-up` by this verification, for five minutes.
            """,
            takes: .json("SignUpPasskeyOptions"), answers: [.json("PasskeyOptions", "Options.")],
            errors: [.verificationRefused, .notFound]))
}
