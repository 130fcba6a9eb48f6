internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The pages to which the links of mails lead. A GET changes nothing and learns nothing, because the token is in the fragment. The
/// first form shows what a link is about; only the link of a proof does its act at once, in the browser that had the mail sent.
extension Endpoints {
    /// `GET /v`, `GET /cancel`, `GET /undo`: the field for the link.
    func showMailLink(_ call: Call, _ link: MailLinkPage.Link) async throws -> Response {
        let transport = try proofTransport(call)
        return try await mailLinkPage(call, link, .opened, transport)
    }

    /// `POST /v`: proves the mailbox in the browser that had the mail sent, and goes on. Elsewhere it says where to type the code.
    func proveByLink(_ call: Call) async throws -> Response {
        try await withLink(call, .proof) { token, transport in
            var found = VerificationLink.over
            for flow in call.flowSecrets(transport) {
                let asker = VerificationAsker(browser: flow.text)
                found = try await services.verifications.link(token, by: asker)
                guard case .own(let handle, let verification) = found else { continue }
                let carried = carriedVerification(call, transport, of: handle)
                // A login that the browser does not carry any more goes on where its page is: the proof would be lost here.
                if carried == nil, verification.purpose == .signIn || verification.clientID != nil {
                    return try await elsewherePage(call, transport, verification)
                }
                let proof = try await services.verifications.prove(link: token, by: asker, from: call.origin)
                let known =
                    carried
                    ?? CarriedVerification(
                        handle.id, verification.purpose, email: verification.email ?? "", browser: flow.browser,
                        login: nil)
                return try await goOn(call, verification, proof, known)
            }
            switch found {
            case .elsewhere(let verification):
                if let response = try await confirmEmail(call, transport, by: token, verification) { return response }
                return try await elsewherePage(call, transport, verification)
            case .replaced: return try await mailLinkPage(call, .proof, .replaced, transport)
            case .own, .over: return try await mailLinkPage(call, .proof, .over, transport)
            }
        }
    }

    /// `POST /cancel`: shows what the link ends, and ends it once the box of that page is ticked.
    func cancelByLink(_ call: Call) async throws -> Response {
        try await withLink(call, .cancel) { token, transport in
            guard let verification = try await services.verifications.cancellation(by: token) else {
                return try await mailLinkPage(call, .cancel, .over, transport)
            }
            let state = MailLinkPage.State.cancel(
                MailboxPurpose(verification.purpose), place: nil,
                askedAt: verification.createdAt.secondsSinceEpoch)
            return try await mailLinkPage(call, .cancel, state, transport, token: token)
        } confirmed: { [services] token in
            try await services.verifications.cancel(token, from: call.origin)
            return .cancelled
        }
    }

    /// `POST /undo`: shows what the link takes back, and takes it back once the box of that page is ticked.
    func undoByLink(_ call: Call) async throws -> Response {
        try await withLink(call, .undo) { token, transport in
            let state: MailLinkPage.State
            if token.hasPrefix(VerificationSecrets.Link.keep.rawValue) {
                guard let time = try await services.accounts.pendingDeletion(by: token) else {
                    return try await mailLinkPage(call, .undo, .over, transport)
                }
                state = .keepAccount(deletedAt: time.secondsSinceEpoch)
            } else {
                guard let change = try await services.accounts.emailUndo(by: token) else {
                    return try await mailLinkPage(call, .undo, .over, transport)
                }
                state = .takeBack(old: change.former, new: change.present)
            }
            return try await mailLinkPage(call, .undo, state, transport, token: token)
        } confirmed: { [services] token in
            if token.hasPrefix(VerificationSecrets.Link.keep.rawValue) {
                try await services.accounts.keepAccount(token, from: call.origin)
                return .accountKept
            }
            try await services.accounts.undoEmailChange(token, from: call.origin)
            return .takenBack
        }
    }

    /// Reads a form with a link: that of the field, or that of a question, which has the token as its request.
    ///
    /// - Parameters:
    ///   - shown: answers the link of the field, and a question without the tick in its box.
    ///   - confirmed: does what the ticked question was about.
    private func withLink(
        _ call: Call, _ link: MailLinkPage.Link,
        _ shown: (_ token: String, PageTransport) async throws -> Response,
        confirmed: ((_ token: String) async throws -> MailLinkDonePage.Act)? = nil
    ) async throws -> Response {
        let transport = try proofTransport(call)
        let form = try call.form()
        let asked = form[.request]
        let token = asked ?? Self.pasted(form[.token]) ?? ""
        let isSent = call.flowSecrets(transport).contains {
            $0.isToken(form[.csrf], of: link.path.text, asked ?? "")
        }
        guard isSent else {
            let stale = call.staleness(of: form, transport)
            return try await mailLinkPage(call, link, .stale(stale), transport, typed: token)
        }
        do throws(any Error) {
            guard let confirmed, asked != nil, form[.confirmed] == "1" else { return try await shown(token, transport) }
            return MailLinkDonePage(try await confirmed(token)).response(.ok, in: call.language())
        } catch {
            guard let error = error as? ServiceError else { throw error }
            let state: MailLinkPage.State
            switch VerificationMessage(error) {
            case .tooManyAttempts(let seconds)?: state = .tooManyAttempts(seconds: seconds)
            case .unavailable?: state = .unavailable
            // Another account has the mailbox meanwhile, or the link was used at this moment.
            case .codeOver?, .mailboxTaken?: state = .over
            default: throw error
            }
            log(error, state.status, call)
            return page(try await mailLinkPage(call, link, state, transport, typed: token), after: error)
        }
    }

    /// Goes on after a proof by the link, with what the browser carries in its cookie.
    private func goOn(
        _ call: Call, _ verification: Verification, _ proof: VerificationProof, _ carried: CarriedVerification
    ) async throws -> Response {
        try await sentProofPage(
            call, MailboxPurpose(verification.purpose), context.requests.seal(carried)
        ) { try await goOn($0, by: proof, remembers: nil) }
    }

    /// What the cookie carries.
    private func carriedVerification(_ call: Call, _ transport: PageTransport) -> CarriedVerification? {
        call.cookies(PageCookie.verification.name(transport)).lazy.compactMap(context.requests.openVerification).first
    }

    /// What the cookie carries, if it is for that verification.
    private func carriedVerification(
        _ call: Call, _ transport: PageTransport, of handle: VerificationHandle
    ) -> CarriedVerification? {
        call.cookies(PageCookie.verification.name(transport)).lazy.compactMap(context.requests.openVerification)
            .first { $0.id == handle.id.description }
    }

    /// Changes the mailbox of the account by the link, in the browser of the session that asked for it. Nil in any other one.
    private func confirmEmail(
        _ call: Call, _ transport: PageTransport, by token: String, _ verification: Verification
    ) async throws -> Response? {
        guard verification.purpose == .email, let handle = browserHandle(call, transport),
            verification.sessionID == handle.id
        else { return nil }
        return try await account(call, .accountEmail) { stay in
            do throws(ServiceError) {
                _ = try await services.accounts.confirmEmail(
                    link: token, in: stay.visit.session.id, of: stay.user.id, from: call.origin)
            } catch { return try await emailRefusal(error, stay) }
            return redirect(stay, to: .accountProfile, saying: AccountFlash(.mailboxChanged))
        }
    }

    private func elsewherePage(
        _ call: Call, _ transport: PageTransport, _ verification: Verification
    ) async throws -> Response {
        try await mailLinkPage(
            call, .proof, .elsewhere(MailboxPurpose(verification.purpose)), transport,
            token: context.verificationSecrets.token(.cancel, of: verification))
    }

    private func mailLinkPage(
        _ call: Call, _ link: MailLinkPage.Link, _ state: MailLinkPage.State, _ transport: PageTransport,
        token: String? = nil, typed: String = ""
    ) async throws -> Response {
        let browserFlow = flow(call, transport)
        let flow = browserFlow.secret
        var form = FormState(request: token) { flow.formToken($0.text, token ?? "") }
        if case .stale = state { form.isShownAgain = true }
        // A login by e-mail goes on to its client from here.
        let login = link == .proof ? carriedVerification(call, transport)?.login?.request : nil
        let client = try await login.asyncFlatMap { try await services.pageLogin.client($0.clientID) }
        var response = MailLinkPage(link, form: form, state: state, typed: typed).response(
            state.status, in: call.language(),
            submittingTo: login.map { formTargets($0, client) } ?? [])
        browserFlow.set(transport, on: &response)
        return response
    }
}

extension MailboxPurpose {
    /// The purpose of a verification.
    init(_ purpose: Verification.Purpose) {
        switch purpose {
        case .signUp: self = .signUp
        case .signIn: self = .signIn
        case .reset: self = .reset
        case .email: self = .email
        }
    }
}

extension MailLinkPage.State {
    /// The status of the page in this state.
    fileprivate var status: Status {
        switch self {
        case .opened, .elsewhere, .cancel, .takeBack, .keepAccount: .ok
        case .stale(let stale): stale.status
        case .tooManyAttempts: .tooManyRequests
        case .unavailable: .serviceUnavailable
        case .over, .replaced: .unprocessable
        }
    }
}

extension Route {
    static let showProofLink = link(.proof, "/v", "showProofLink", "The page to which the link of a code leads")
    static let showCancelLink = link(.cancel, "/cancel", "showCancelLink", "Did you not ask for this?")
    static let showUndoLink = link(.undo, "/undo", "showUndoLink", "Undo a change")

    static let proveByLink = linkForm(
        "/v", "proveByLink", "Prove a mailbox by a link",
        """
        In the browser that had the mail sent it goes on there. In any other one the page says where to type the code, \
        and nothing is proven.
        """
    ) { try await $0.proveByLink($1) }
    static let cancelByLink = linkForm(
        "/cancel", "cancelByLink", "End what was begun with a mailbox",
        """
        Shows purpose and time first. With `confirmed=1` of that page it ends, and the mailbox gets no mail for an hour, \
        unless the request was a change of address.
        """
    ) { try await $0.cancelByLink($1) }
    static let undoByLink = linkForm(
        "/undo", "undoByLink", "Take back a change of the mailbox, or keep an account",
        "Shows the change first, and takes it back with `confirmed=1` of that page."
    ) { try await $0.undoByLink($1) }

    private static func link(_ link: MailLinkPage.Link, _ path: String, _ id: String, _ summary: String) -> Route {
        Route(
            .get, path, errorFormat: .page, .open { try await $0.showMailLink($1, link) },
            Operation(
                id, .loginPage, summary,
                "The token is the fragment, which is sent to no server. Opening the page changes nothing.",
                answers: [.page, .page(404, "The server sends no mails.")]))
    }

    private static func linkForm(
        _ path: String, _ id: String, _ summary: String, _ description: String,
        _ handle: @escaping @Sendable (Endpoints, Call) async throws -> Response
    ) -> Route {
        Route(
            .post, path, errorFormat: .page, .open(handle),
            Operation(
                id, .loginPage, summary, description, takes: .form,
                answers: [
                    .page, .redirect("To the next page, or to the client with the answer."),
                    .page(404, "The server sends no mails."), .page(422, "The link is over."), .tooManyAttempts,
                ]))
    }
}
