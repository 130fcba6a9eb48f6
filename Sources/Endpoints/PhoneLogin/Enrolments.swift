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
