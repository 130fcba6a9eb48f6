internal import HTTP
internal import OAuth
internal import Sessions

/// The calls of a phone without an account here, which has an invitation. Its secret, which the claim answers, is the bearer token
/// of all further calls.
extension Endpoints {
    /// `POST /v1/enrolments` `{code, source, device_id, manual_start}`: the phone claims the invitation of the code that it has
    /// scanned, followed or got as a message.
    func claimInvitation(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["code", "source", "device_id", "manual_start"])
        guard let source = try members.word("source", as: PhoneLoginCode.Source.self) else {
            throw members.refused("source", "is missing: qr, deep_link or push")
        }
        guard let deviceID = try members.identifier("device_id") else {
            throw members.refused("device_id", "is missing")
        }
        let claim = PhoneLoginService.InvitationClaim(
            code: try members.requiredString("code"), source: source, deviceID: deviceID,
            startsByHand: try members.bool("manual_start") ?? false)
        let key = try call.idempotencyKey()
        if call.page != nil, let clientID = try await services.phoneLogins.clientID(ofInvitation: claim.code) {
            try await admitPage(of: call, clientID)
        }
        let (login, secret) = try await rateLimiter.invitationCode(from: call.caller) { () async throws(ServiceError) in
            try await services.phoneLogins.claim(claim, key: key, from: call.origin)
        }
        return try .json(EnrolmentAnswer(enrolment: try await enrolmentAnswer(login, call), enrolmentToken: secret))
    }

    /// `GET /v1/enrolments/{login_id}?wait=&version=`: the enrolment as it stands.
    func showEnrolment(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["wait", "version"])
        let patience = call.patience(try query.seconds("wait", max: Self.longestWait) ?? .zero)
        let (id, secret, version) = (try call.enrolmentID(), try call.enrolmentSecret(), try query.text("version"))
        if call.page != nil { try await admitPageOfEnrolment(call) }
        let login =
            patience > .zero
            ? try await services.phoneLogins.enrolment(id, secret: secret, unlike: version, patience: patience)
            : try await services.phoneLogins.enrolment(id, secret: secret)
        return try .json(try await enrolmentAnswer(login, call))
    }

    /// `POST /v1/enrolments/{login_id}/start`: the app is ready for the user.
    func startEnrolment(_ call: Call) async throws -> Response { try await act(.start, call) }

    /// `POST /v1/enrolments/{login_id}/confirm`: the user agrees to the account.
    func confirmEnrolment(_ call: Call) async throws -> Response { try await act(.confirm(number: nil), call) }

    /// `POST /v1/enrolments/{login_id}/stop`: the user refuses. The invitation is used up.
    func stopEnrolment(_ call: Call) async throws -> Response { try await act(.stop(isReport: false), call) }

    private func act(_ act: PhoneLogin.Act, _ call: Call) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        if call.page != nil { try await admitPageOfEnrolment(call) }
        let login = try await services.phoneLogins.perform(
            act, onEnrolment: try call.enrolmentID(), secret: try call.enrolmentSecret(),
            key: try call.idempotencyKey(), from: call.origin)
        return try .json(try await enrolmentAnswer(login, call))
    }

    /// `POST /v1/enrolments/{login_id}/second-factor` with `device`, `password` or `presence_key` and `user_assertion`, and the other
    /// members of a login: the last act, which makes the account and answers the tokens of the phone.
    func completeEnrolment(_ call: Call) async throws -> Response {
        let members = try Members(
            call, known: Members.loginNames.filter { $0 != "client_id" } + ["username", "password", "user_assertion"])
        guard let device = try members.device() else { throw members.refused("device", "is missing") }
        var request = try members.loginRequest(on: device)
        let (id, secret) = (try call.enrolmentID(), try call.enrolmentSecret())
        request.clientID = try await services.phoneLogins.enrolment(id, secret: secret).clientID
        if call.page != nil { try await admitPage(of: call, request.clientID) }
        request.proof = try keyProof(call)
        request.idempotencyKey = try call.idempotencyKey()
        let factor = PhoneLoginService.EnrolmentFactor(
            username: try members.string("username"), password: try members.string("password"),
            assertion: try members.string("user_assertion"))
        do throws(ServiceError) {
            let grant = try await rateLimiter.enrolment(in: call) { [request] () async throws(ServiceError) in
                try await services.phoneLogins.enrol(id, secret: secret, factor, request, from: call.origin)
            }
            metrics.countLogin()
            return TokenAnswer.response(grant)
        } catch {
            metrics.countLogin(failing: error)
            throw error
        }
    }

    private func admitPageOfEnrolment(_ call: Call) async throws {
        let login = try await services.phoneLogins.enrolment(
            try call.enrolmentID(), secret: try call.enrolmentSecret())
        try await admitPage(of: call, login.clientID)
    }

    private func enrolmentAnswer(_ login: PhoneLogin, _ call: Call) async throws -> PhoneLoginAnswer {
        var answer = try await answer(login, call)
        answer.secondFactor = try await services.phoneLogins.setsFactor(login) ? "set" : "verify"
        return answer
    }
}

extension Call {
    fileprivate func enrolmentID() throws -> Identifier<Session> {
        guard let id = Identifier<Session>(parameter) else { throw ServiceError.invalidToken(nil) }
        return id
    }

    fileprivate func enrolmentSecret() throws -> String {
        guard case .bearer(let secret)? = try authorization() else { throw RequestProblem.unauthenticated }
        return secret
    }
}

/// A claimed invitation, and the secret of its phone.
private struct EnrolmentAnswer: Encodable {
    let enrolment: PhoneLoginAnswer
    let enrolmentToken: String

    enum CodingKeys: String, CodingKey {
        case enrolment
        case enrolmentToken = "enrolment_token"
    }
}

extension Route {
    static let claimInvitation = Route(
        .post, "/v1/enrolments", cors: .client, .open { try await $0.claimInvitation($1) },
        Operation(
            "claim_invitation", .logins, "Claim an invitation",
            """
            A phone without an account brings what it has scanned, followed or got as a message. \
            `enrolment_token` is the bearer token of the further calls. A second phone that brings the code ends \
            the invitation for both.
            """,
            takes: .json("InvitationClaim"), parameters: ["Idempotency-Key"],
            answers: [.json("ClaimedInvitation", "The enrolment, and its token.")],
            errors: [.notFound, .loginConflict, .tooManyRequests]))

    static let showEnrolment = Route(
        .get, "/v1/enrolments/{login_id}", mayWait: true, cors: .client, .open { try await $0.showEnrolment($1) },
        Operation(
            "show_enrolment", .logins, "Show an enrolment",
            "With `wait` the call waits for a change.",
            parameters: ["wait", "version"], security: [.enrolment],
            answers: [.json("PhoneLogin", "The enrolment.")]))

    static let startEnrolment = Route(
        .post, "/v1/enrolments/{login_id}/start", cors: .client, .open { try await $0.startEnrolment($1) },
        Operation(
            "start_enrolment", .logins, "Start the user's part of an enrolment",
            "After a claim with `manual_start`.",
            takes: .json("Nothing", isOptional: true), parameters: ["Idempotency-Key"], security: [.enrolment],
            answers: [.json("PhoneLogin", "The enrolment.")], errors: [.loginConflict]))

    static let confirmEnrolment = Route(
        .post, "/v1/enrolments/{login_id}/confirm", cors: .client, .open { try await $0.confirmEnrolment($1) },
        Operation(
            "confirm_enrolment", .logins, "Agree to the account",
            "The second factor follows.",
            takes: .json("Nothing", isOptional: true), parameters: ["Idempotency-Key"], security: [.enrolment],
            answers: [.json("PhoneLogin", "The enrolment.")], errors: [.loginConflict]))

    static let completeEnrolment = Route(
        .post, "/v1/enrolments/{login_id}/second-factor", cors: .client, .open { try await $0.completeEnrolment($1) },
        Operation(
            "complete_enrolment", .logins, "Complete an enrolment",
            """
            Makes the account, unless the invitation is for a present one, and starts the session of the phone, \
            in one transaction. A repeated request with the same `Idempotency-Key` gets the tokens again for ten \
            minutes.
            """,
            takes: .json("EnrolmentFactor"), parameters: ["DPoP", "Idempotency-Key"], security: [.enrolment],
            answers: [.tokens], errors: [.loginForbidden, .notFound, .loginConflict, .tooManyRequests]))

    static let stopEnrolment = Route(
        .post, "/v1/enrolments/{login_id}/stop", cors: .client, .open { try await $0.stopEnrolment($1) },
        Operation(
            "stop_enrolment", .logins, "Refuse an enrolment",
            "The invitation is used up.",
            takes: .json("Nothing", isOptional: true), parameters: ["Idempotency-Key"], security: [.enrolment],
            answers: [.json("PhoneLogin", "The enrolment.")], errors: [.loginConflict]))
}
