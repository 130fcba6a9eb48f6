public import Foundation

extension Sojourn {
    /// Starts a session for the picture that the user has scanned: the text of a QR code, as a link or in base64. That of an
    /// invitation starts an enrolment, which needs no signed-in user and replaces the account that is.
    ///
    /// The session begins in the state `STARTING`, and its details are fetched in the background. What cannot be a code is refused
    /// at once, as `invalid_code`, and that of another server as `other_server`.
    public func startSession(
        scanned text: String, options: LoginSessionOptions = LoginSessionOptions()
    ) async throws(SojournError) -> LoginSession {
        try await start(.code(ScannedCode(text, from: .picture, at: server())), options)
    }

    /// Starts a session for the picture that the user has scanned: the bytes of a binary QR code, or those of its text.
    public func startSession(
        scanned bytes: Data, options: LoginSessionOptions = LoginSessionOptions()
    ) async throws(SojournError) -> LoginSession {
        try await start(.code(ScannedCode(bytes, from: .picture, at: server())), options)
    }

    /// Starts a session for a link that the system has given the app, from a browser or another app of the phone.
    public func startSession(
        link: URL, options: LoginSessionOptions = LoginSessionOptions()
    ) async throws(SojournError) -> LoginSession {
        try await start(.code(ScannedCode(link.absoluteString, from: .link, at: server())), options)
    }

    /// Starts a session for a message that was pushed to the app, as `registerForPushes` lets the server encrypt it: the text alone,
    /// or JSON with it in the member `sojourn`. JSON with a plain code in the member `login` is accepted as well. Nil: the message is
    /// of another kind, and no session begins.
    ///
    /// What is no message is refused as `invalid_code`, a changed one as `invalid_message`, one for another key as `other_key`, one of
    /// another server as `other_server`, one for another session of this device as `other_session`, one that came too late as
    /// `message_expired`, and one that this version does not know as `unknown_message`. Nothing is sent then.
    public func startSession(
        push message: Data, options: LoginSessionOptions = LoginSessionOptions()
    ) async throws(SojournError) -> LoginSession? {
        guard let code = try await code(inPush: Array(message)) else { return nil }
        return try await start(.code(code), options)
    }

    /// Starts a session that logs the app itself in at its backend. It always asks for a second factor, and after that
    /// `LoginSession.backendAccess` has what opens the backend.
    ///
    /// - Parameter client: the client ID of the backend.
    public func appLogin(
        client: String, options: LoginSessionOptions = LoginSessionOptions()
    ) async throws(SojournError) -> LoginSession {
        try await start(.app(client: client), options)
    }

    /// Goes on with a session of an earlier start of the app.
    public func resumeSession(
        _ id: LoginDetails.ID, options: LoginSessionOptions = LoginSessionOptions()
    ) async throws(SojournError) -> LoginSession {
        try await start(.known(try await login(.look(id))), options)
    }

    /// The logins of the user that wait, or whose session lives, the latest one first.
    public func logins() async throws(SojournError) -> [LoginDetails] { try await page(.list).items }

    /// The logins of the user, those that are over as well, the latest one first.
    ///
    /// - Parameter limit: how many are fetched at most.
    public func loginHistory(atMost limit: Int = 50) async throws(SojournError) -> [LoginDetails] {
        var (items, cursor): ([LoginDetails], String?) = ([], nil)
        repeat {
            let page = try await page(.history(after: cursor))
            // A server that gives the same page again and again must not keep the app for ever.
            guard !page.items.isEmpty, page.cursor != cursor || cursor == nil else { break }
            items += page.items
            cursor = page.cursor
        } while cursor != nil && items.count < limit
        return Array(items.prefix(max(limit, 0)))
    }

    private func page(
        _ call: LoginSessionCall
    ) async throws(SojournError) -> (items: [LoginDetails], cursor: String?) {
        let answer = try await checkedAnswer(to: call)
        guard let members = JSONValue(parsing: answer.body)?.members, let items = members["items"]?.elements else {
            throw .unreachable(Unreachable("not an answer of the server", status: answer.status))
        }
        return (items.compactMap { LoginDetails($0) }, members.text("next_cursor"))
    }

    /// Ends a login that this phone has let happen, whatever its state is.
    @discardableResult
    public func stopLogin(_ id: LoginDetails.ID, isReport: Bool = false) async throws(SojournError) -> LoginDetails {
        try await login(.stop(id, isReport: isReport))
    }

    /// Takes over what another phone of the user has let in, so that it does not end with that phone. It asks for biometry.
    @discardableResult
    public func adoptLogin(
        _ id: LoginDetails.ID, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> LoginDetails {
        let assertion = try await loginAssertion(id, number: nil, reason, isFirst: false)
        return try await login(.adopt(id, .assertion(assertion)))
    }

    /// Tells the server that this phone is there, for logins that end when their phone is silent. Every renewal tells it as well.
    public func pingLogins() async throws(SojournError) { _ = try await checkedAnswer(to: .ping) }

    // MARK: Steps

    private func start(
        _ origin: LoginSession.Origin, _ options: LoginSessionOptions
    ) async throws(SojournError) -> LoginSession {
        if case .code(let code) = origin, code.isEnrolment {
            _ = try await deviceIdentity()
        } else {
            _ = try await living()
        }
        let session = LoginSession(origin, self, options)
        await session.run()
        return session
    }

    private func login(_ call: LoginSessionCall) async throws(SojournError) -> LoginDetails {
        let answer = try await checkedAnswer(to: call)
        guard let details = JSONValue(parsing: answer.body).flatMap({ LoginDetails($0) }) else {
            throw .unreachable(Unreachable("not an answer of the server", status: answer.status))
        }
        return details
    }

    private func checkedAnswer(to call: LoginSessionCall) async throws(SojournError) -> HTTPAnswer {
        let answer = try await perform(call, attempt: 0)
        if let error = error(of: answer) { throw error }
        return answer
    }

    /// Makes a call. A call about a login ends nothing but that login, and asks for nothing of the stay in this app.
    func perform(_ call: LoginSessionCall, attempt: Int) async throws(SojournError) -> HTTPAnswer {
        var message = try call.message(to: try server())
        if call.isAct, let secret = try await current()?.record.retrySecret {
            let key = IdempotencyKey.ofAct(message, attempt: UInt64(attempt) &+ call.salt, secret: secret)
            message.fields.append(HTTPMessageField("Idempotency-Key", key))
        }
        return try await answer(to: message)
    }

    /// The signature of the presence key over a login and its number, after one prompt. Each login asks anew, however long the
    /// session stays unlocked.
    ///
    /// - Parameter isFirst: whether the user sets the factor by it, if there is none: the mode becomes `BIOMETRIC`.
    func loginAssertion(
        _ login: String, number: Int?, _ reason: String, isFirst: Bool
    ) async throws(SojournError) -> String {
        var session = try await living()
        var opened: OpenGate?
        if session.gateID == nil, isFirst {
            try await switchMode(to: .biometric, reason: reason)
            session = try await living()
            opened = openGate(of: session)
        } else if let id = session.gateID {
            opened = try await prompt { gate throws(PresenceError) in try await gate.unlock(id, reason: reason) }
        }
        guard let opened, let id = session.sessionID else {
            throw .presenceRequired(PresenceRequirement(ways: ["password"], maxAge: nil))
        }
        // A prompt for this login opens the key for this signature only.
        let isForThis = !isFirst || unlocked?.gate?.id != opened.id
        let audience = try server().base
        let signed: Result<String, KeyError>
        do throws(KeyError) {
            signed = .success(
                try await AssertionMaker(key: opened.presenceKey, random: random).assertion(
                    issuer: id, subject: session.account.userID, audience: audience, issuedAt: now, lifetime: 120,
                    login: AssertionMaker.Login(id: login, number: number)))
        } catch { signed = .failure(error) }
        if isForThis { await opened.close() }
        do throws(KeyError) { return try signed.get() } catch { throw SojournError(error) }
    }
}
