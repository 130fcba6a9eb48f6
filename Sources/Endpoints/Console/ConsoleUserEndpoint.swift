internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

/// The page of a user in the console.
extension Endpoints {
    /// `GET /console/users/{user}?cursor=`: the user with sessions, passkeys, identities and events.
    func showConsoleUser(_ call: Call) async throws -> Response {
        try await console(call) { stay in try await consoleUserPage(stay).response() }
    }

    /// `POST /console/users/{user}`: does what the form's `act` says.
    func changeConsoleUser(_ call: Call) async throws -> Response {
        let page = PagePath.consoleUsers.appending(call.parameter)
        return try await consoleForm(call, of: page, needing: .support) { stay, form in
            guard let id = Identifier<User>(call.parameter) else { throw ServiceError.notFound("user") }
            let administration = services.administration
            switch form["act"] {
            case "disable":
                let note = form.value("reason")
                let effective = User.LoginDisabling.Effective(rawValue: form["effective"] ?? "") ?? .immediate
                do throws(ServiceError) {
                    let (_, ended) = try await administration.disable(
                        .id(id), effective: effective, revokingSessions: form["revoke_sessions"] == "1", note: note,
                        by: stay.origin)
                    return Self.redirect(to: stay.path(page, saying: "disabled \(ended)"))
                } catch {
                    guard case .invalid(let member, let detail) = error else { throw error }
                    return try await consoleUserPage(stay, (.bad, "\(member) \(detail).")).response(.unprocessable)
                }
            case "enable":
                _ = try await administration.enable(
                    .id(id), includingOwnSwitch: form["include_own_switch"] == "1", by: stay.origin)
                return Self.redirect(to: stay.path(page, saying: "enabled"))
            case "unlock":
                _ = try await administration.unlock(.id(id), by: stay.origin)
                return Self.redirect(to: stay.path(page, saying: "unlocked"))
            case "revoke":
                let ended = try await administration.revokeSessions(of: .id(id), by: stay.origin)
                return Self.redirect(to: stay.path(page, saying: "revoked \(ended)"))
            case "edit": return try await edit(stay, id, form, page)
            case "reset": return try await resetLink(stay, id)
            case "remove-passkey":
                return try await removePasskey(stay, form.value("passkey") ?? "", of: id, page)
            default: return Self.redirect(to: stay.path(page, saying: "again"))
            }
        }
    }

    /// Changes what the form has changed.
    private func edit(
        _ stay: ConsoleStay, _ id: Identifier<User>, _ form: FormParameters, _ page: PagePath
    ) async throws -> Response {
        guard stay.may(.owner) else { return ConsoleView(stay, self).refusal(.owner).response(.forbidden) }
        guard let made = ConsoleView.edit(id, form) else { return Self.redirect(to: stay.path(page, saying: "same")) }
        if made.body?["claims"] != nil, !StrictJSON.keepsNumbers(Array((form["claims"] ?? "").utf8)) {
            let sentence = "claims \(UserClaims.inexactNumbers)."
            return try await consoleUserPage(stay, (.bad, "\(sentence: sentence)")).response(.unprocessable)
        }
        switch try await attempt(made, for: stay) {
        case .success: return Self.redirect(to: stay.path(page, saying: "edited"))
        case .failure(let refusal):
            return try await consoleUserPage(stay, (.bad, "\(sentence: refusal.sentence)")).response(.unprocessable)
        }
    }

    /// Makes a link for a new password, and shows it once.
    private func resetLink(_ stay: ConsoleStay, _ id: Identifier<User>) async throws -> Response {
        guard stay.may(.owner) else { return ConsoleView(stay, self).refusal(.owner).response(.forbidden) }
        let reset = try await rateLimiter.resetToken(of: id) { () async throws(ServiceError) in
            try await services.administration.requestPasswordReset(of: .id(id), by: stay.origin)
        }
        let link = "\(url(.reset))#\(reset.token)"
        return try await consoleUserPage(stay, ConsoleView.resetLink(link, reset.expiresAt)).response()
    }

    private func removePasskey(
        _ stay: ConsoleStay, _ text: String, of id: Identifier<User>, _ page: PagePath
    ) async throws -> Response {
        guard stay.may(.owner) else { return ConsoleView(stay, self).refusal(.owner).response(.forbidden) }
        try await services.administration.removePasskey(try Self.credentialID(text), of: .id(id), by: stay.origin)
        return Self.redirect(to: stay.path(page, saying: "removed"))
    }

    private func consoleUserPage(
        _ stay: ConsoleStay, _ notice: (look: ConsoleLook, text: ConsoleText)? = nil
    ) async throws -> ConsolePage {
        let administration = services.administration
        guard let id = Identifier<User>(stay.call.parameter) else { throw ServiceError.notFound("user") }
        let cursor = stay.query["cursor"].flatMap { SessionCursor($0) }
        let user: User?
        do throws(ServiceError) { user = try await administration.user(.id(id)) } catch {
            guard case .notFound = error else { throw error }
            user = nil
        }
        let sessions = try await administration.sessions(of: .id(id), after: cursor, limit: ConsoleView.rowsMax)
        let events = try await services.accounts.history(of: id, limit: ConsoleView.rowsMax)
        if user == nil, sessions.items.isEmpty, events.isEmpty { throw ServiceError.notFound("user") }
        let facts = ConsoleView.UserFacts(
            id: id, user: user, sources: try await sources(of: user), sessions: sessions, isFirstPage: cursor == nil,
            addresses: user == nil ? [:] : try await addresses(of: id),
            passkeys: user == nil ? [] : try await administration.passkeys(of: .id(id)),
            identities: user == nil ? [] : try await administration.identities(of: .id(id)), events: events)
        return ConsoleView(stay, self).user(facts, notice)
    }

    private func sources(of user: User?) async throws(ServiceError) -> UserSources? {
        guard let user else { return nil }
        return try await services.administration.sources(of: user)
    }
}
