internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The deletion of an account by its user.
extension Endpoints {
    /// `GET /account/delete`: asks whether the user wants it, or says that it is done.
    func showAccountDeletion(_ call: Call) async throws -> Response {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        let path = PagePath.accountDelete.text
        for flow in call.flowSecrets(transport) {
            let flash: AccountFlash? = flow.flash(in: call.query, on: path)
            guard let flash, flash.word == .deleted else { continue }
            return DeletionDonePage(deletedAt: flash.count.map { Int64($0) }).response(.ok, in: call.language())
        }
        return try await accountDeletion(call) { request in
            deletionPage(request, isStale: request.flash(on: .accountDelete)?.word == .again)
        }
    }

    /// `POST /account/delete`: deletes the account, after a login within the last minutes.
    func deleteAccount(_ call: Call) async throws -> Response {
        try await accountDeletion(call, act: .deletion) { request in
            let form = try call.form()
            guard request.sent(form, to: .accountDelete), form[.confirmed] == "1" else {
                return deletionPage(request, isStale: true)
            }
            return try await perform(.deletion, form, request)
        }
    }

    /// Deletes the account as its user has confirmed, and leaves it.
    func deleteAccount(_ form: FormParameters, _ request: AccountPageRequest) async throws -> Response {
        guard form[.confirmed] == "1" else { return deletionPage(request, isStale: true) }
        let time = try await services.accounts.requestDeletion(
            of: request.visit, language: request.language.tag, from: request.call.origin)
        let done = AccountFlash(.deleted, time.map { Int($0.secondsSinceEpoch) })
        return redirect(request, to: .accountDelete, saying: done)
    }

    private func accountDeletion(
        _ call: Call, act: AccountAct? = nil, _ body: (AccountPageRequest) async throws -> Response
    ) async throws -> Response {
        guard context.mails != nil else { throw ServiceError.notFound("page") }
        return try await account(call, .accountDelete, act: act, body)
    }

    private func deletionPage(_ request: AccountPageRequest, isStale: Bool) -> Response {
        let delay = request.user.isAnonymous ? .zero : context.accountRules.deletionDelay
        return DeletionPage(header: request.header, days: Int(delay.wholeSeconds / 86_400), isStale: isStale)
            .response(.ok, in: request.language)
    }
}

extension Route {
    static let showAccountDeletion = Route(
        .get, "/account/delete", errorFormat: .page, .open { try await $0.showAccountDeletion($1) },
        Operation(
            "showAccountDeletion", .accountPages, "Delete the account?",
            "Only where the server sends mails.", parameters: ["done", "t"],
            answers: [.page, .toLogin, .page(404, "There is no such page.")]))

    static let deleteAccountOnPage = Route(
        .post, "/account/delete", errorFormat: .page, .open { try await $0.deleteAccount($1) },
        Operation(
            "deleteAccountOnPage", .accountPages, "Delete the account",
            """
            Ends all sessions, and deletes the account after the days of the configuration. Needs `confirmed=1`, and a \
            login of the last five minutes, for which it asks. The form needs the page's token and the browser's \
            cookies, and comes from this origin; a stale one is shown again.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `/account/delete`, which says that it is done, or to the login page."),
                .page(404, "There is no such page."),
            ]))
}
