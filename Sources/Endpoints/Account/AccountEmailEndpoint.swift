internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The change of the mailbox of an account, which takes a code of the new one.
extension Endpoints {
    /// `GET /account/email?new=`: asks for the new mailbox, or for the code of the one that this session has asked for.
    func showAccountEmail(_ call: Call) async throws -> Response {
        try await accountEmail(call) { request in
            let isAgain = request.flash(on: .accountEmail)?.word == .again
            let pending = call.query["new"] == "1" ? nil : try await pendingEmail(request)
            return emailPage(request, pending, isAgain ? .stale(.pressAgain) : nil)
        }
    }

    /// `POST /account/email`: has a code sent to the new mailbox, after a login within the last minutes.
    func changeAccountEmail(_ call: Call) async throws -> Response {
        try await accountEmail(call, act: .email) { request in
            let form = try call.form()
            guard request.sent(form, to: .accountEmail) else {
                return emailPage(request, nil, .stale(.pressAgain), typed: form[.email] ?? "")
            }
            return try await perform(.email, form, request)
        }
    }

    /// Has a code sent to the mailbox of the form.
    func changeEmail(_ form: FormParameters, _ request: AccountPageRequest) async throws -> Response {
        let email = form[.email] ?? ""
        if email == request.user.profile.email, request.user.profile.isEmailVerified {
            return emailPage(request, nil, .sameMailbox, typed: email)
        }
        do throws(ServiceError) {
            let change = EmailRequest(
                email: email, language: request.language.tag, facts: mailFacts(request.call, request.language))
            _ = try await rateLimiter.verification(in: request.call) { () async throws(ServiceError) in
                try await services.accounts.changeEmail(change, of: request.visit, from: request.call.origin)
            }
        } catch { return try await emailRefusal(error, request, typed: email) }
        return redirect(to: .accountEmail)
    }

    /// `POST /account/email/code`: changes the mailbox by the code, or has the mail sent once more.
    func confirmAccountEmail(_ call: Call) async throws -> Response {
        try await accountEmail(call) { request in
            let form = try call.form()
            let pending = try await pendingEmail(request)
            guard request.sent(form, to: .accountEmailCode) else {
                return emailPage(request, pending, .stale(.pressAgain))
            }
            guard let pending else { return emailPage(request, nil, .codeOver) }
            do throws(ServiceError) {
                if form[.act] == CodePage.resending {
                    let asker = VerificationAsker(session: request.visit.session.id)
                    _ = try await rateLimiter.verification(in: call) { () async throws(ServiceError) in
                        try await services.verifications.resend(
                            VerificationHandle(id: pending.id, asker: asker), from: call.origin)
                    }
                    return emailPage(request, pending, .sentAgain)
                }
                _ = try await services.accounts.confirmEmail(
                    code: form[.code] ?? "", in: request.visit.session.id, of: request.user.id, from: call.origin)
            } catch { return try await emailRefusal(error, request, pending) }
            return redirect(request, to: .accountProfile, saying: AccountFlash(.mailboxChanged))
        }
    }

    /// The mailbox as the page of the account's security shows it; nil: users do not change it by a code.
    func accountMailbox(_ user: User, _ details: UserDetails?) -> AccountMailbox? {
        guard mailboxChange == .byCode else { return nil }
        var former: AccountMailbox.Former?
        if let email = details?.formerEmail, let until = details?.formerEmailUntil, context.clock.now < until {
            former = AccountMailbox.Former(email: email, until: until.secondsSinceEpoch)
        }
        return AccountMailbox(email: user.profile.email, isVerified: user.profile.isEmailVerified, former: former)
    }

    /// The page exists where the server sends mails, and users may change their mailbox.
    private func accountEmail(
        _ call: Call, act: AccountAct? = nil, _ body: (AccountPageRequest) async throws -> Response
    ) async throws -> Response {
        guard mailboxChange == .byCode else { throw ServiceError.notFound("page") }
        return try await account(call, .accountEmail, act: act, body)
    }

    /// The change that this session has asked for, and that waits for its code; nil: none.
    private func pendingEmail(_ request: AccountPageRequest) async throws(ServiceError) -> Verification? {
        let pending = try await services.accounts.pendingEmail(of: request.user.id)
        return pending?.sessionID == request.visit.session.id ? pending : nil
    }

    /// What the page says of a refusal.
    func emailRefusal(
        _ error: ServiceError, _ request: AccountPageRequest, _ pending: Verification? = nil, typed: String = ""
    ) async throws -> Response {
        guard let message = VerificationMessage(error) else { throw error }
        log(error, message.status, request.call)
        let isOver = message == .codeOver || message == .mailboxTaken
        return page(emailPage(request, isOver ? nil : pending, message, typed: typed), after: error)
    }

    /// The page, which does not repeat the mailbox to which a code goes: the row has it only if no other user owns it.
    private func emailPage(
        _ request: AccountPageRequest, _ pending: Verification?, _ message: VerificationMessage?, typed: String = ""
    ) -> Response {
        let page = AccountEmailPage(
            header: request.header, current: request.user.profile.email,
            step: pending == nil ? .mailbox(typed: typed) : .code(sentTo: nil), message: message)
        return page.response(message?.status ?? .ok, in: request.language)
    }
}

extension Route {
    static let showAccountEmail = Route(
        .get, "/account/email", errorFormat: .page, .open { try await $0.showAccountEmail($1) },
        Operation(
            "showAccountEmail", .accountPages, "Change the mailbox",
            "Only where the server sends mails, and `accounts.editable` of the configuration has `email`.",
            parameters: ["new", "done", "t"],
            answers: [.page, .toLogin, .page(404, "There is no such page.")]))

    static let changeAccountEmail = Route(
        .post, "/account/email", errorFormat: .page, .open { try await $0.changeAccountEmail($1) },
        Operation(
            "changeAccountEmail", .accountPages, "Send the code of a new mailbox",
            """
            Nothing changes before the code. Needs a login of the last five minutes, for which it asks. The form needs \
            the page's token and the browser's cookies, and comes from this origin; a stale one is shown again.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `/account/email`, or to the login page."),
                .page(404, "There is no such page."), .page(422, "No mail is sent to this address."),
                .tooManyAttempts,
            ]))

    static let confirmAccountEmail = Route(
        .post, "/account/email/code", errorFormat: .page, .open { try await $0.confirmAccountEmail($1) },
        Operation(
            "confirmAccountEmail", .accountPages, "Take the code of a new mailbox",
            """
            Changes the mailbox. With `act=resend` the same mail is sent once more. The form needs the page's token and \
            the browser's cookies, and comes from this origin; a stale one is shown again.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `/account/profile`, or to the login page."),
                .page(404, "There is no such page."), .page(409, "The mailbox belongs to another account."),
                .page(422, "The code is wrong, or over."), .tooManyAttempts,
            ]))
}
