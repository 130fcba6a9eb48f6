internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The calls by which an app proves a mailbox. Without `mail` in the configuration there are none.
extension Endpoints {
    /// The service of verifications. Throws `notFound` if the server sends no mails.
    func verifications() throws(ServiceError) -> VerificationService {
        guard context.mails != nil else { throw .notFound("call: mail is not configured") }
        return services.verifications
    }

    /// `POST /v1/verifications`: asks for a mail with a code and a link. The answer is the same for every mailbox.
    func requestVerification(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["purpose", "email", "client_id", "language", "device_id"])
        enum Purpose: String, CaseIterable {
            case signUp = "sign_up"
            case signIn = "sign_in"
            case reset
        }
        guard let purpose = try members.word("purpose", as: Purpose.self),
            let wanted = Verification.Purpose(rawValue: purpose.rawValue)
        else { throw members.refused("purpose", "is missing") }
        var request = VerificationRequest(
            wanted, email: try members.requiredString("email"),
            language: call.mailLanguage(try members.text("language")))
        request.clientID = try members.identifier("client_id") ?? Client.mobileID
        request.knownDevice = try members.identifier("device_id")
        request.idempotencyKey = try call.idempotencyKey()
        if call.page != nil { try await admitPage(of: call, request.clientID ?? Client.mobileID) }
        let (asked, service) = (request, try verifications())
        let ticket = try await rateLimiter.verification(in: call) { () async throws(ServiceError) in
            try await service.ask(asked, from: call.origin)
        }
        return try .json(VerificationAnswer(ticket, at: context.clock.now), .accepted)
    }

    /// `POST /v1/verifications/{verification_id}/resend`: sends the same code again.
    func resendVerification(_ call: Call) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        let (handle, service) = (try call.verification(), try verifications())
        if let page = call.page { try await service.admit(page, by: handle) }
        let ticket = try await rateLimiter.verification(in: call) { () async throws(ServiceError) in
            try await service.resend(handle, from: call.origin)
        }
        return try .json(VerificationAnswer(ticket, at: context.clock.now), .accepted)
    }

    /// `POST /v1/verifications/{verification_id}/code` `{code}`: proves the mailbox by its code.
    func proveVerification(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["code"])
        let code = try members.requiredString("code")
        let handle = try call.verification()
        if let page = call.page { try await verifications().admit(page, by: handle) }
        _ = try await verifications().prove(handle, code: code, from: call.origin)
        return try .json(VerificationStateAnswer(.proven))
    }

    /// `GET /v1/verifications/{verification_id}?wait=`: the state, which a link in another place can change.
    func showVerification(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["wait"])
        let wait = call.patience(try query.seconds("wait", max: Self.longestWait) ?? .zero)
        let handle = try call.verification()
        if let page = call.page { try await verifications().admit(page, by: handle) }
        return try .json(VerificationStateAnswer(try await verifications().state(of: handle, waiting: wait)))
    }
}

extension Call {
    /// The verification in the path, for the holder of its token.
    fileprivate func verification() throws -> VerificationHandle {
        guard case .bearer(let token)? = try authorization() else { throw RequestProblem.unauthenticated }
        guard let handle = VerificationHandle(token: token) else { throw ServiceError.invalidToken(nil) }
        guard handle.id.description == parameter else { throw ServiceError.notFound("verification") }
        return handle
    }

    /// The language of a mail: that which the request names, or else that of the caller's pages.
    func mailLanguage(_ named: String?) -> String {
        (named.flatMap { languages[$0] } ?? language()).tag
    }
}

/// A verification as JSON, for the app that has asked.
struct VerificationAnswer: Encodable {
    let id: String?
    let token: String?
    let codeLength = VerificationSecrets.codeLength
    let expiresAt: Int64
    let resendAfter: Int64

    init(_ ticket: VerificationTicket, at now: Instant, withID isNamed: Bool = true) {
        id = isNamed ? ticket.handle.id.description : nil
        token = ticket.token
        expiresAt = ticket.expiresAt.secondsSinceEpoch
        resendAfter = max(0, (ticket.resendAt - now).wholeSeconds)
    }

    enum CodingKeys: String, CodingKey {
        case id = "verification_id"
        case token = "verification_token"
        case codeLength = "code_length"
        case expiresAt = "expires_at"
        case resendAfter = "resend_after"
    }
}

/// The state of a verification as JSON.
struct VerificationStateAnswer: Encodable {
    let state: String

    init(_ state: VerificationState) { self.state = state.rawValue }
}

extension Route {
    static let requestVerification = Route(
        .post, "/v1/verifications", cors: .client, .open { try await $0.requestVerification($1) },
        Operation(
            "request_verification", .apps, "Ask for a code by mail",
            """
            The mail has a code of eight digits, which is valid for ten minutes, and a link. Every mailbox gets the \
            same answer, whether it has an account or not. The same request with the same `Idempotency-Key` gets the \
            same verification. 404: the server sends no mails.
            """,
            takes: .json("VerificationRequest"), parameters: ["Idempotency-Key"],
            answers: [.json("Verification", "What the app keeps.", status: 202)],
            errors: [.verificationRefused, .signUpClosed, .notFound, .tooManyRequests]))

    static let resendVerification = Route(
        .post, "/v1/verifications/{verification_id}/resend", cors: .client,
        .open { try await $0.resendVerification($1) },
        Operation(
            "resend_verification", .apps, "Send the same code again",
            "Takes the `verification_token` as the bearer token. Before `resend_after` no mail is sent.",
            takes: .json("Nothing", isOptional: true), security: [.bearer],
            answers: [.json("Verification", "What the app keeps.", status: 202)],
            errors: [.verificationRefused, .unauthorized, .notFound, .tooManyRequests]))

    static let proveVerification = Route(
        .post, "/v1/verifications/{verification_id}/code", cors: .client, .open { try await $0.proveVerification($1) },
        Operation(
            "prove_verification", .apps, "Prove a mailbox by its code",
            """
            Takes the `verification_token` as the bearer token. Spaces and hyphens in the code are ignored. Five wrong \
            codes end the verification. The right code gets the same answer again.
            """,
            takes: .json("VerificationCode"), security: [.bearer],
            answers: [.json("VerificationState", "The mailbox is proven.")],
            errors: [.verificationRefused, .unauthorized, .notFound, .tooManyRequests]))

    static let showVerification = Route(
        .get, "/v1/verifications/{verification_id}", mayWait: true, cors: .client,
        .open { try await $0.showVerification($1) },
        Operation(
            "show_verification", .apps, "Show the state of a verification",
            "Takes the `verification_token` as the bearer token. With `wait` the call waits for the end of `open`.",
            parameters: ["wait"], security: [.bearer],
            answers: [.json("VerificationState", "The state.")], errors: [.unauthorized, .notFound]))
}
