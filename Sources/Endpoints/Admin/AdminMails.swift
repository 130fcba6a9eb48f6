internal import HTTP
internal import Sessions
internal import Telemetry

extension Endpoints {
    /// `GET /admin/v1/mails?dead=&cursor=&limit=`: the mails that wait, or those that are not tried again.
    func listMails(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["dead", "cursor", "limit"])
        var cursor: Identifier<QueuedMail>?
        if let text = try query.text("cursor") {
            guard let id = Identifier<QueuedMail>(text) else {
                throw RequestProblem.invalid("cursor", "must be a next_cursor of this list")
            }
            cursor = id
        }
        let page = try await services.administration.mails(
            dead: try query.flag("dead"), after: cursor, limit: try query.limit())
        return try .json(ListAnswer(page.items.map(MailAnswer.init), nextCursor: page.nextCursor))
    }

    /// `POST /admin/v1/mails/{mail_id}/retry`: lets a mail be tried now.
    func retryMail(_ call: Call) async throws -> Response {
        guard let id = Identifier<QueuedMail>(call.parameter) else { throw ServiceError.notFound("mail") }
        try await services.administration.retryMail(id)
        logger.notice("an admin lets a mail be tried again", ["actor": .string(call.actor), "mail": .string("\(id)")])
        return .noContent
    }

    /// `POST /admin/v1/mail/refusals` `{email, reply}`: a mailbox that refuses mails, as a relay has learned after it took one.
    func noteMailRefusal(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["email", "reply"])
        let reply = try members.text("reply") ?? ""
        try await services.administration.noteRefusal(of: try members.requiredString("email"), reply)
        return .noContent
    }
}

/// A mail as JSON. It has no code and no link.
private struct MailAnswer: Encodable {
    let mailID: String
    let kind: String
    let userID: String?
    let email: String?
    let language: String
    let createdAt: Int64
    let expiresAt: Int64
    let dueAt: Int64?
    let tries: Int
    let reply: String?

    init(_ mail: QueuedMail) {
        (mailID, kind, userID) = (mail.id.description, mail.kind.rawValue, mail.userID?.description)
        (email, language, tries, reply) = (mail.email, mail.language, mail.tries, mail.reply)
        createdAt = mail.createdAt.secondsSinceEpoch
        expiresAt = mail.expiresAt.secondsSinceEpoch
        dueAt = mail.dueAt?.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case mailID = "mail_id"
        case kind
        case userID = "user_id"
        case email, language
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case dueAt = "due_at"
        case tries, reply
    }
}

extension Route {
    static let listMails = Route(
        .get, "/admin/v1/mails", on: .admin, .admin(.read) { try await $0.listMails($1) },
        Operation(
            "list_mails", .operation, "List mails",
            "The mails that wait for an attempt, or with `dead` those that are kept for 7 days and not tried again.",
            parameters: ["dead.mails", "cursor", "limit"], answers: [.json("Mails", "A page.")]))

    static let retryMail = Route(
        .post, "/admin/v1/mails/{mail_id}/retry", on: .admin, .admin(.support) { try await $0.retryMail($1) },
        Operation(
            "retry_mail", .operation, "Try a mail again",
            "The mail is due now, also one that would not be tried again. One of which the time is over is refused.",
            answers: [.empty("The mail is due.")], errors: [.mailExpired]))

    static let noteMailRefusal = Route(
        .post, "/admin/v1/mail/refusals", on: .admin, .admin(.mail) { try await $0.noteMailRefusal($1) },
        Operation(
            "note_mail_refusal", .operation, "Report a refused mailbox",
            """
            For a relay that learns of a bounce after it took the mail. Codes to the mailbox rest for an hour, and \
            notices for 7 days.
            """,
            takes: .json("MailRefusal"), answers: [.empty("The refusal is noted.")]))
}
