internal import HTTP
internal import Sessions

/// The calls of a phone that lets other devices in.
extension Endpoints {
    /// `POST /v1/me/logins` `{code, source, manual_start, skip_confirmation, second_factor}`: the phone claims the login whose code
    /// it has scanned, followed or got as a message.
    func claimLogin(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(
            call, known: ["code", "source", "manual_start", "skip_confirmation", "second_factor"])
        guard let code = try members.string("code") else { throw members.refused("code", "is missing") }
        guard let source = try members.word("source", as: PhoneLoginCode.Source.self) else {
            throw members.refused("source", "is missing: qr, deep_link or push")
        }
        var wishes = PhoneLogin.Wishes()
        wishes.startsByHand = try members.bool("manual_start") ?? false
        wishes.skipsConfirmation = try members.bool("skip_confirmation") ?? false
        wishes.demandsSecondFactor = try members.bool("second_factor") ?? false
        let key = try call.idempotencyKey()
        let (rule, address) = (remoteLogins, call.caller.remoteAddress)
        return try await acting(call, session) { () async throws(ServiceError) in
            try await services.phoneLogins.claim(
                .init(code: code, source: source, wishes: wishes), by: session, key: key, from: call.origin
            ) { rule.allows($0, $1, from: address) }
        }
    }

    /// `GET /v1/me/logins?wait=&version=&history=&cursor=&limit=`: the logins of the user that are not over, or with
    /// `history=true` all of them, newest first.
    func listMyLogins(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let query = try QueryParameters(call, known: ["wait", "version", "history", "cursor", "limit"])
        let (cursor, limit) = (try query.sessionCursor(), try query.limit())
        if try query.flag("history") {
            let page = try await services.phoneLogins.logins(of: session.user.id, after: cursor, limit: limit)
            return try .json(
                ListAnswer(try await answers(page.items, call), nextCursor: page.nextCursor))
        }
        let (logins, version) = try await services.phoneLogins.living(
            of: session.user.id, unlike: try query.text("version"),
            patience: call.patience(try query.seconds("wait", max: Self.longestWait) ?? .zero),
            while: call.isStillAdmitted)
        return try .json(LivingPhoneLoginsAnswer(items: try await answers(logins, call), version: version))
    }

    /// `GET /v1/me/logins/{login_id}?wait=&version=`: a login that the phone has claimed, or one of its user.
    func showMyLogin(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let query = try QueryParameters(call, known: ["wait", "version"])
        let wait = try query.seconds("wait", max: Self.longestWait) ?? .zero
        let (id, version) = (try call.loginID(), try query.text("version"))
        let login =
            wait > .zero
            ? try await services.phoneLogins.wait(
                for: id, for: session, unlike: version, patience: call.patience(wait), while: call.isStillAdmitted)
            : try await services.phoneLogins.login(id, for: session)
        return try .json(try await answer(login, call))
    }

    /// `POST /v1/me/logins/{login_id}/start`: the app is ready for the user.
    func startLogin(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        return try await act(.start, call, session)
    }

    /// `POST /v1/me/logins/{login_id}/confirm` `{number}`: the user agrees to log in there with the account of this session.
    func confirmLogin(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["number"], mayBeMissing: true)
        return try await act(.confirm(number: try members.loginNumber()), call, session)
    }

    /// `POST /v1/me/logins/{login_id}/second-factor` with `user_assertion`, `password`, `pin`, `id_token` or `passkey`, and
    /// `number` unless the assertion names it.
    func proveLoginFactor(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        try await proveFactor(call, session, adopting: false)
    }

    /// `POST /v1/me/logins/{login_id}/adopt`, with the members of a second factor: this phone takes the place of the one that let
    /// the device in.
    func adoptLogin(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        try await proveFactor(call, session, adopting: true)
    }

    private func proveFactor(_ call: Call, _ session: AuthenticatedSession, adopting: Bool) async throws -> Response {
        let members = try Members(
            call, known: Members.evidenceNames + ["passkey", "number"] + (adopting ? [] : ["pin"]))
        let (factor, number) = (try secondFactor(members), try members.loginNumber())
        let (id, key) = (try call.loginID(), try call.idempotencyKey())
        return try await acting(call, session) { () async throws(ServiceError) in
            try await prove(factor, number: number, adopting: adopting, on: id, call, session, key: key)
        }
    }

    /// What proves a login: a PIN, or the user's presence.
    enum SecondFactor {
        case pin(PIN.MAC)
        case presence(PresenceEvidence)
    }

    /// Reads the second factor of a login, which is exactly one.
    func secondFactor(_ members: Members) throws -> SecondFactor {
        let (pin, evidence) = (try members.pin("pin"), try evidence(members))
        switch (pin, evidence.isEmpty) {
        case (let pin?, true): return .pin(pin)
        case (nil, false): return .presence(evidence)
        case (nil, true):
            throw members.refused("user_assertion", "or password or pin or passkey or id_token is missing")
        case (_?, false): throw members.refused("pin", "stands beside no other second factor")
        }
    }

    /// Lets the user prove a login by that factor.
    func prove(
        _ factor: SecondFactor, number: Int?, adopting: Bool = false, on id: Identifier<Session>, _ call: Call,
        _ session: AuthenticatedSession, key: String?
    ) async throws(ServiceError) -> PhoneLogin {
        switch factor {
        case .pin(let pin):
            return try await services.phoneLogins.proveFactor(
                pin, number: number, on: id, by: session, key: key, from: call.origin)
        case .presence(let evidence):
            return try await verifying(evidence, in: session, call) { () async throws(ServiceError) in
                try await services.phoneLogins.proveFactor(
                    evidence, number: number, adopting: adopting, on: id, by: session, key: key, from: call.origin)
            }
        }
    }

    /// `POST /v1/me/logins/{login_id}/stop` `{not_me}`: the user refuses the login, or ends what came of it. `not_me`: somebody
    /// else asked for it.
    func stopLogin(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["not_me"], mayBeMissing: true)
        return try await act(.stop(isReport: try members.bool("not_me") ?? false), call, session)
    }

    /// `POST /v1/me/logins/ping`: the phone is there.
    func pingLogins(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        return try .json(PingAnswer(kept: try await services.phoneLogins.ping(by: session, from: call.origin)))
    }

    private func act(_ act: PhoneLogin.Act, _ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let (id, key) = (try call.loginID(), try call.idempotencyKey())
        return try await acting(call, session) { () async throws(ServiceError) in
            try await services.phoneLogins.perform(act, on: id, by: session, key: key, from: call.origin)
        }
    }

    /// Runs an act, and answers the login. Wrong numbers count against the user.
    private func acting(
        _ call: Call, _ session: AuthenticatedSession, _ body: () async throws(ServiceError) -> PhoneLogin
    ) async throws -> Response {
        let login = try await rateLimiter.loginNumber(of: session.user.id, body)
        return try .json(try await answer(login, call))
    }
}

extension Call {
    /// The login in the path.
    func loginID() throws -> Identifier<Session> {
        guard let id = Identifier<Session>(parameter) else { throw ServiceError.notFound("login") }
        return id
    }
}

extension Members {
    /// The number that the user has typed; nil when it is absent.
    func loginNumber() throws -> Int? {
        guard let value = try seconds("number") else { return nil }
        guard let number = Int(exactly: value.wholeSeconds), MatchingNumber.range.contains(number) else {
            throw refused("number", "must be a whole number from 10 to 99")
        }
        return number
    }
}

/// The living logins of a user, and the version of the list.
private struct LivingPhoneLoginsAnswer: Encodable {
    let items: [PhoneLoginAnswer]
    let version: String
}

/// The number of logins that a ping has kept.
private struct PingAnswer: Encodable {
    let kept: Int
}

extension Route {
    static let claimLogin = Route(
        .post, "/v1/me/logins", .user(.account) { try await $0.claimLogin($1, $2) },
        Operation(
            "claim_login", .logins, "Claim a login",
            """
            The phone brings what it has scanned, followed or got as a message. A second phone that does so ends \
            the login for both.
            """,
            takes: .json("LoginClaim"), parameters: ["Idempotency-Key"],
            answers: [.json("PhoneLogin", "The login.")],
            errors: [.loginForbidden, .notFound, .loginConflict, .tooManyRequests]))

    static let listMyLogins = Route(
        .get, "/v1/me/logins", mayWait: true, .user(.account) { try await $0.listMyLogins($1, $2) },
        Operation(
            "list_my_logins", .logins, "List my logins",
            """
            Those that are not over, and with `history=true` all of the last 30 days, newest first. With `wait` \
            the call waits for a change.
            """,
            parameters: ["wait", "version", "history", "cursor", "limit"],
            answers: [.json("MyLogins", "The logins.")]))

    static let showMyLogin = Route(
        .get, "/v1/me/logins/{login_id}", mayWait: true, .user(.account) { try await $0.showMyLogin($1, $2) },
        Operation(
            "show_my_login", .logins, "Show a login",
            """
            One that the phone has claimed, or one of its user. With `wait` the call waits for a change.
            """,
            parameters: ["wait", "version"], answers: [.json("PhoneLogin", "The login.")]))

    static let startLogin = Route(
        .post, "/v1/me/logins/{login_id}/start", .user(.account) { try await $0.startLogin($1, $2) },
        Operation(
            "start_login", .logins, "Start the user's part",
            """
            After `manual_start`: the app is ready for the user, and the other device shows the number.
            """,
            takes: .json("Nothing", isOptional: true), parameters: ["Idempotency-Key"],
            answers: [.json("PhoneLogin", "The login.")],
            errors: [.loginForbidden, .loginConflict, .tooManyRequests]))

    static let confirmLogin = Route(
        .post, "/v1/me/logins/{login_id}/confirm", .user(.account) { try await $0.confirmLogin($1, $2) },
        Operation(
            "confirm_login", .logins, "Agree to log in there",
            "With the account of this session. A wrong number ends the login.",
            takes: .json("LoginConfirmation", isOptional: true), parameters: ["Idempotency-Key"],
            answers: [.json("PhoneLogin", "The login.")],
            errors: [.loginForbidden, .loginConflict, .tooManyRequests]))

    static let proveLoginFactor = Route(
        .post, "/v1/me/logins/{login_id}/second-factor", .user(.account) { try await $0.proveLoginFactor($1, $2) },
        Operation(
            "prove_login_factor", .logins, "Give the second factor of a login",
            """
            The third wrong one ends the login. Wrong PINs count for the PIN alone: the third one in a row, at \
            all logins together, locks it, and the login takes another factor.
            """,
            takes: .json("LoginFactor"), parameters: ["Idempotency-Key"],
            answers: [.json("PhoneLogin", "The login.")],
            errors: [.loginForbidden, .loginConflict, .tooManyRequests]))

    static let stopLogin = Route(
        .post, "/v1/me/logins/{login_id}/stop", .user(.account) { try await $0.stopLogin($1, $2) },
        Operation(
            "stop_login", .logins, "Refuse a login, or end its session",
            "Repeated on a login that is over: 409.",
            takes: .json("LoginStop", isOptional: true), parameters: ["Idempotency-Key"],
            answers: [.json("PhoneLogin", "The login.")],
            errors: [.loginForbidden, .loginConflict, .tooManyRequests]))

    static let adoptLogin = Route(
        .post, "/v1/me/logins/{login_id}/adopt", .user(.account) { try await $0.adoptLogin($1, $2) },
        Operation(
            "adopt_login", .logins, "Take a login over to this phone",
            "Takes a second factor, which is no PIN. The session then depends on this phone.",
            takes: .json("LoginAdoption"), parameters: ["Idempotency-Key"],
            answers: [.json("PhoneLogin", "The login.")],
            errors: [.loginForbidden, .loginConflict, .tooManyRequests]))

    static let pingLogins = Route(
        .post, "/v1/me/logins/ping", .user(.account) { try await $0.pingLogins($1, $2) },
        Operation(
            "ping_logins", .logins, "Say that the phone is there",
            "Keeps the sessions with the bond `ping` that this phone has let in.",
            takes: .json("Nothing", isOptional: true), answers: [.json("LoginPing", "How many are kept.")]))
}
