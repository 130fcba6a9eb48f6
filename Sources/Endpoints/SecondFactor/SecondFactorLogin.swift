internal import HTTP
internal import OAuth
internal import Sessions

/// The second step of a login after a right first proof.
extension Endpoints {
    /// `POST /v1/login` `{login_token, code}`: ends a login by password with the second factor.
    func continueLogin(_ members: Members, _ call: Call) async throws -> Response {
        let token = try members.requiredString("login_token")
        guard members.contains("code") else { throw members.refused("code", "is missing") }
        let request = try await publicLogin(members, by: .password, call)
        return try await counted { () async throws(ServiceError) in
            let user = try await services.login.user(
                continuing: token, in: request.clientID, on: request.device.id)
            try rateLimiter.admitLogin(username: user.username, deviceID: request.device.id)
            return try await rateLimiter.session(of: user.username) { () async throws(ServiceError) in
                try await services.login.logIn(request, as: user, from: call.origin)
            }
        }
    }

    /// `POST /v1/login/totp` `{login_token, device, client_id, name}`: adds the authenticator without which the user cannot log in.
    func addFactorAtLogin(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["login_token", "client_id", "device", "name"])
        let token = try members.requiredString("login_token")
        guard let device = try members.device() else { throw members.refused("device", "is missing") }
        let clientID = try members.identifier("client_id") ?? Client.mobileID
        if call.page != nil { try await admitPage(of: call, clientID) }
        let user = try await services.login.user(continuing: token, in: clientID, on: device.id)
        let enrolment = try await services.secondFactors.add(
            name: try members.text("name"), toLoginOf: user, in: clientID)
        return try .json(TOTPEnrolmentAnswer(enrolment), .created)
    }

    /// Reads the code of a second factor; nil if the body has none.
    func code(_ members: Members) throws -> SecondFactorCode? {
        guard let text = try members.string("code") else { return nil }
        guard text.utf8.count <= SecondFactorCode.lengthMax else {
            throw members.refused("code", "has at most \(SecondFactorCode.lengthMax) characters")
        }
        return services.secondFactors.code(text)
    }

    // MARK: Errors

    static let blockedText = "Too many wrong codes: use a recovery code or a passkey, or ask an admin."
    static let noWayText = "A second factor is demanded, and this way takes none: log in by password or passkey."
    static let secondFactorText = "A second factor is missing: the first proof was right."
    static let enrolText = "A second factor is demanded: the user adds an authenticator first."
    static let wrongCodeText = "The code is wrong, or was used before."

    /// A missing or wrong second factor as an RFC 9457 problem.
    static func problem(_ refusal: SecondFactorRefusal) -> Problem {
        switch refusal {
        case .required(let demand):
            var problem = Problem(
                .unauthorized, code: "second_factor_required", detail: demand.enrols ? enrolText : secondFactorText,
                reauthenticate: false)
            problem.loginToken = demand.loginToken
            problem.methods = demand.ways.map(\.rawValue)
            if demand.enrols { problem.enrols = true }
            return problem
        case .wrongCode(let clockDiffers):
            var problem = Problem(
                .unauthorized, code: "wrong_second_factor", detail: wrongCodeText, reauthenticate: false)
            if clockDiffers { problem.clockDiffers = true }
            return problem
        case .blocked: return Problem(.forbidden, code: "second_factor_blocked", detail: blockedText)
        case .noWay: return Problem(.forbidden, code: "second_factor_required", detail: noWayText)
        }
    }

    /// A missing or wrong second factor as an error of RFC 6749 section 5.2.
    static func oauthError(_ refusal: SecondFactorRefusal) -> OAuthError {
        let problem = problem(refusal)
        return OAuthError(
            .badRequest,
            ErrorResponse(
                .invalidGrant, description: problem.detail, reason: problem.code, reauthenticate: false))
    }
}

extension Members {
    /// The members of the second step of a login.
    static let codeNames = ["login_token", "code"]
}

extension Route {
    static let addFactorAtLogin = Route(
        .post, "/v1/login/totp", cors: .client, .open { try await $0.addFactorAtLogin($1) },
        Operation(
            "add_totp_at_login", .apps, "Add an authenticator at a login",
            """
            After `second_factor_required` with `enrols`: the user has no second factor, and the policy demands \
            one. `POST /v1/login` with the same `login_token` and a `code` of the new authenticator confirms it \
            and starts the session.
            """,
            takes: .json("LoginTOTP"), answers: [.json("TOTPEnrolment", "The new authenticator.", status: 201)],
            errors: [.secondFactorConflict]))
}
