internal import HTTP
internal import OAuth
internal import Sessions

/// The calls by which a user's app changes the mailbox, and deletes the account.
extension Endpoints {
    /// `POST /v1/me/email` `{email}`: asks for a code and a link to the new mailbox.
    func requestEmailChange(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: Members.evidenceNames + ["email", "language", "passkey"])
        let change = EmailRequest(
            email: try members.requiredString("email"), language: call.mailLanguage(try members.text("language")))
        let evidence = try evidence(members)
        _ = try verifications()
        let ticket = try await rateLimiter.verification(in: call) { () async throws(ServiceError) in
            try await verifying(evidence, in: session, call) { () async throws(ServiceError) in
                try await services.accounts.changeEmail(change, in: session, shownBy: evidence, from: call.origin)
            }
        }
        return try .json(VerificationAnswer(ticket, at: context.clock.now, withID: false), .accepted)
    }

    /// `POST /v1/me/email/confirm` `{code}`: changes the mailbox by the code that the new one has got.
    func confirmEmailChange(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["code"])
        let code = try members.requiredString("code")
        _ = try verifications()
        let user = try await services.accounts.confirmEmail(
            code: code, in: session.session.id, of: session.user.id, from: call.origin)
        return Response(.ok, "application/json", TokenResponse.User(user, in: session.session.scope).json)
    }

    /// `DELETE /v1/me`: deletes the account, after the days that the configuration says.
    func deleteMe(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(
            call, known: Members.evidenceNames + ["language", "passkey"], mayBeMissing: true)
        let language = call.mailLanguage(try members.text("language"))
        let evidence = try evidence(members)
        let deleteAt = try await verifying(evidence, in: session, call) { () async throws(ServiceError) in
            try await services.accounts.requestDeletion(
                in: session, shownBy: evidence, language: language, from: call.origin)
        }
        guard let deleteAt else { return .noContent }
        return try .json(DeletionAnswer(deleteAt: deleteAt.secondsSinceEpoch), .accepted)
    }
}

/// The time of a deletion as JSON.
struct DeletionAnswer: Encodable {
    let deleteAt: Int64

    enum CodingKeys: String, CodingKey { case deleteAt = "delete_at" }
}

extension Route {
    static let requestEmailChange = Route(
        .post, "/v1/me/email", onProbation: false, .user { try await $0.requestEmailChange($1, $2) },
        Operation(
            "request_my_email_change", .me, "Change my mailbox",
            """
            Mails a code and a link to the new mailbox, and tells the old one, if it is verified. The user must have \
            logged in or proved their presence in the last five minutes, or does so in the request. The profile changes \
            after the proof. 404: the server sends no mails.
            """,
            takes: .json("EmailRequest"), answers: [.json("Verification", "When the code ends.", status: 202)],
            errors: [.verificationRefused, .wrongPasswordOrToken, .notFound, .accountExists, .tooManyRequests]))

    static let confirmEmailChange = Route(
        .post, "/v1/me/email/confirm", onProbation: false, .user { try await $0.confirmEmailChange($1, $2) },
        Operation(
            "confirm_my_email_change", .me, "Prove my new mailbox",
            """
            In the session that has asked. The old mailbox, if it was verified, can undo the change for seven days. Links \
            and codes for a new password are invalid afterwards.
            """,
            takes: .json("VerificationCode"), answers: [.json("User", "The changed user.")],
            errors: [.verificationRefused, .notFound, .accountExists, .tooManyRequests]))

    static let deleteMe = Route(
        .delete, "/v1/me", onProbation: false, .user { try await $0.deleteMe($1, $2) },
        Operation(
            "delete_me", .me, "Delete my account",
            """
            All sessions end, and logins are off until the account is deleted, after `accounts.deletion_days`. A login \
            with `cancel_deletion` keeps it, and so does the link of the mail. An anonymous user is deleted at once. The \
            user must have logged in or proved their presence in the last five minutes, or does so in the request.
            """,
            takes: .json("DeletionRequest", isOptional: true),
            answers: [.json("Deletion", "The account goes on until then.", status: 202), .empty("It is deleted.")],
            errors: [.wrongPasswordOrToken, .tooManyRequests]))
}
