import Foundation

extension Sojourn {
    /// Fetches the profile of the user, and stores it.
    @discardableResult public func refreshProfile() async throws(SojournError) -> Account {
        let answer = try await call(.profile)
        guard let members = JSONValue(parsing: answer.body)?.members, let userID = members.text("user_id") else {
            throw .unreachable(Unreachable("not an answer of the server", status: answer.status))
        }
        do throws(StoreError) {
            try await update { record in
                guard record.session?.account.userID == userID, record.session?.user != members else { return false }
                record.session?.user = members
                return true
            }
        } catch { throw SojournError(error) }
        return Account(members: members)
    }

    /// The devices on which the user is signed in, the last seen one first.
    public func devices() async throws(SojournError) -> [Device] {
        let answer = try await call(.devices)
        guard let items = JSONValue(parsing: answer.body)?.members?["items"]?.elements else {
            throw .unreachable(Unreachable("not an answer of the server", status: answer.status))
        }
        return items.compactMap(Device.init)
    }

    /// Ends the user's sessions on a device. On this device it is a sign-out.
    public func endDevice(_ id: String) async throws(SojournError) {
        _ = try await call(.endDevice(id))
        if cache?.record?.record.deviceID == id { await leave(owing: false) }
    }

    /// Ends all sessions of the user, this one included.
    public func endAllDevices() async throws(SojournError) {
        _ = try await call(.endAllDevices)
        await leave(owing: false)
    }

    /// The user's own switch for logins.
    public func loginSettings() async throws(SojournError) -> LoginSettings {
        try settings(in: try await call(.loginSettings))
    }

    /// Switches logins of the user off or on, on all devices.
    ///
    /// - Parameters:
    ///   - revokeSessions: whether all sessions end as well, this one included.
    ///   - password: instead of the session, because no token works while logins are off at once.
    @discardableResult
    public func setLoginsDisabled(
        _ isDisabled: Bool, effective: LoginSettings.Effect = .immediate, revokeSessions: Bool = false,
        password: String? = nil
    ) async throws(SojournError) -> LoginSettings {
        let change = AccountCall.setLoginsDisabled(isDisabled, effective, revokeSessions: revokeSessions)
        guard let password else { return try settings(in: try await call(change)) }
        guard let session = try await current()?.record.session, let name = session.account.username else {
            throw .notSignedIn
        }
        var message = try change.message(to: try server())
        let credentials = Data("\(name):\(password)".utf8).base64EncodedString()
        message.fields.append(HTTPMessageField("Authorization", "Basic \(credentials)"))
        let answer = try await exchanged(message)
        if let error = error(of: answer) { throw error }
        retries.noteAnswer()
        return try settings(in: answer)
    }

    /// Changes the password. The user's sessions on other devices end.
    public func changePassword(from old: String, to new: String) async throws(SojournError) {
        _ = try await call(.changePassword(from: old, to: new))
    }

    private func settings(in answer: HTTPAnswer) throws(SojournError) -> LoginSettings {
        guard let settings = LoginSettings(parsing: answer.body) else {
            throw .unreachable(Unreachable("not an answer of the server", status: answer.status))
        }
        return settings
    }

    // MARK: Calls with the access token

    /// Makes a call. If the server refuses the access token, it is renewed once; what the renewal finds counts, because it
    /// presents what is stored.
    func call(_ call: AccountCall) async throws(SojournError) -> HTTPAnswer {
        try await self.call(
            try call.message(to: try server()), requiresUserForItself: call.requiresUserForItself,
            answersDemand: call.answersDemand)
    }

    /// Sends a request of an account call, without its access token.
    func call(
        _ plain: HTTPMessage, requiresUserForItself: Bool = false, answersDemand: Bool = false
    ) async throws(SojournError) -> HTTPAnswer {
        let answer = try await answer(to: plain, answersDemand: answersDemand)
        guard !answer.isSuccess else { return answer }
        if case .presenceRequired(let requirement) = Verdict<TokenAnswer>(of: answer), !requiresUserForItself {
            note(requirement)
        }
        throw error(of: answer) ?? .unreachable(Unreachable("status \(answer.status)", status: answer.status))
    }

    /// Sends a request, without its access token. The answer is a refusal as well.
    func answer(to plain: HTTPMessage, answersDemand: Bool = false) async throws(SojournError) -> HTTPAnswer {
        var token = answersDemand ? try await tokenDuringDemand() : try await accessToken()
        var (isRenewed, isSignedAgain) = (false, false)
        while true {
            let answer = try await exchanged(try await authorized(plain, by: token))
            guard !answer.isSuccess else {
                if answer.serverTime != nil { noteReached() }
                return answer
            }
            let verdict = Verdict<TokenAnswer>(of: answer)
            noteWord(verdict)
            if verdict == .signAgain, !isSignedAgain {
                isSignedAgain = true
            } else if !isRenewed, isAboutToken(answer, verdict) {
                isRenewed = true
                // The server itself has refused the token: this is worth a renewal, however recent the last one is.
                rejections = []
                token = try await accessToken(.renewed(after: token))
            } else {
                return answer
            }
        }
    }

    /// The token for an answer to a demand: the stored one if no other comes, because the renewal waits for that answer.
    private func tokenDuringDemand() async throws(SojournError) -> AccessToken {
        do throws(SojournError) { return try await accessToken() } catch {
            guard case .presenceRequired = error, let session = try await current()?.record.session, isOpen(session),
                session.isUsable(at: now)
            else { throw error }
            return session.token
        }
    }

    /// Notes that an API asks for the user.
    func note(_ requirement: PresenceRequirement) {
        presence = (requirement, true)
        publishState()
    }

    /// Notes what the server has just said of the session. During a wait after a failed renewal it is the newer word.
    private func noteWord(_ verdict: Verdict<TokenAnswer>) {
        if case .unreachable = verdict { return }
        noteReached()
        guard case .suspended(let suspension) = verdict else { return }
        reachability = .suspended(suspension)
        if heldError != nil { heldError = .suspended(suspension) }
        publishState()
    }

    private func isAboutToken(_ answer: HTTPAnswer, _ verdict: Verdict<TokenAnswer>) -> Bool {
        guard answer.status == 401 else { return false }
        switch verdict {
        case .ended, .suspended: return true
        case .refused(let refusal): return refusal.code == "invalid_token"
        default: return false
        }
    }

    /// The error of a call; nil if it succeeded. A call ends no session.
    func error(of answer: HTTPAnswer) -> SojournError? {
        guard !answer.isSuccess else { return nil }
        let verdict = Verdict<TokenAnswer>(of: answer)
        guard case .ended = verdict, let error = ErrorAnswer(parsing: answer.body) else { return SojournError(verdict) }
        return .refused(error.refusal(answer.status))
    }

    private func exchanged(_ message: HTTPMessage) async throws(SojournError) -> HTTPAnswer {
        do throws(TransportFailure) { return try await exchange(message, within: configuration.patience) } catch {
            if error == .cancelled || Task.isCancelled { throw .cancelled }
            throw .unreachable(Unreachable(error))
        }
    }

    private func authorized(_ message: HTTPMessage, by token: AccessToken) async throws(SojournError) -> HTTPMessage {
        var message = message
        for field in try await authorization(message.method, message.url, by: token) { message.fields.append(field) }
        return message
    }

    /// The fields that carry an access token: `Authorization`, and the proof of the key if the token is bound.
    func authorization(
        _ method: String, _ url: URL, by token: AccessToken
    ) async throws(SojournError) -> [HTTPMessageField] {
        guard ServerAddress.isSafe(url) else {
            throw .misconfigured("access tokens are sent only by https, or http to a loopback address")
        }
        let field = HTTPMessageField("Authorization", "\(token.type) \(token.value)")
        guard token.type.lowercased() == "dpop" else { return [field] }
        do throws(KeyError) {
            guard let key = try await deviceKey(cache?.record?.record.session?.keyThumbprint) else {
                throw .corrupted("the key of the session does not exist")
            }
            let proof = try await proof(by: key, method, url, accessToken: token.value)
            return [field, HTTPMessageField("DPoP", proof)]
        } catch { throw SojournError(error) }
    }
}
