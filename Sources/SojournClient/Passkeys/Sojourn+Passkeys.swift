/// A passkey of the user, as the server keeps it.
public struct Passkey: Hashable, Sendable, Identifiable {
    /// The credential ID in base64url.
    public let id: String
    /// The name in lists.
    public let name: String
    /// Whether the passkey is backed up, so that the user's other devices have it.
    public let isBackedUp: Bool
    /// When it was added, in Unix seconds.
    public let createdAt: Int64
    /// When it last logged the user in, in Unix seconds; nil: never.
    public let lastUsedAt: Int64?
}

extension Sojourn {
    /// Signs a user in by a passkey. The authenticator shows the user which passkeys there are.
    ///
    /// The error is `cancelled` if the user has closed that, and `refused` with the code `invalid_credentials` if the server does
    /// not know the passkey.
    ///
    /// - Parameters:
    ///   - authenticator: asks the user; `PlatformPasskeys` on Apple platforms.
    ///   - mode: how the app guards the session. `BIOMETRIC` asks the user for biometry as well, once, before the passkey.
    ///   - reason: what that prompt says.
    @discardableResult
    public func signIn(
        passkey authenticator: any PasskeyAuthenticator, mode: AuthenticationMode = .no,
        reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> Account {
        try await signIn(by: authenticator, mode, reason)
    }

    func signIn(
        by authenticator: any PasskeyAuthenticator, _ mode: AuthenticationMode, _ reason: String,
        cancelsDeletion: Bool = false, secondStepOf first: SecondFactorChallenge? = nil
    ) async throws(SojournError) -> Account {
        try await activating(mode, reason, secondStepOf: first) { opened throws(SojournError) in
            let credential = try await self.assertion(by: authenticator)
            return try await self.logIn(.passkey(credential), mode, by: opened, cancelsDeletion: cancelsDeletion)
        }
    }

    /// The assertion of a passkey for a login, as JSON.
    func assertion(
        by authenticator: any PasskeyAuthenticator
    ) async throws(SojournError) -> [String: JSONValue] {
        let options = try PasskeyOptions(try await passkeyLoginOptions())
        return try await Self.assertion(for: options, by: authenticator).json
    }

    private static func assertion(
        for options: PasskeyOptions, by authenticator: any PasskeyAuthenticator
    ) async throws(SojournError) -> PasskeyAssertion {
        do throws(PasskeyError) { return try await authenticator.assertion(for: options.assertionRequest) } catch {
            throw SojournError(error)
        }
    }

    /// Adds a passkey to the signed-in user, who must have proved to be present in the last five minutes: if not, the error is
    /// `presenceRequired`.
    ///
    /// - Parameter name: the name in lists; nil: that of the device.
    @discardableResult
    public func addPasskey(
        by authenticator: any PasskeyAuthenticator, name: String? = nil
    ) async throws(SojournError) -> Passkey {
        let options = try PasskeyOptions(try await call(.passkeyOptions))
        let request = try options.registrationRequest
        let registration: PasskeyRegistration
        do throws(PasskeyError) { registration = try await authenticator.registration(for: request) } catch {
            throw SojournError(error)
        }
        let answer = try await call(.addPasskey(registration.json, name: name))
        guard let passkey = JSONValue(parsing: answer.body).flatMap(Passkey.init) else {
            throw .unreachable(Unreachable("not an answer of the server", status: answer.status))
        }
        return passkey
    }

    /// The passkeys of the user, the oldest first.
    public func passkeys() async throws(SojournError) -> [Passkey] {
        let answer = try await call(.passkeys)
        guard let items = JSONValue(parsing: answer.body)?.members?["items"]?.elements else {
            throw .unreachable(Unreachable("not an answer of the server", status: answer.status))
        }
        return items.compactMap(Passkey.init)
    }

    /// Removes a passkey of the user, who must have proved to be present in the last five minutes. Sessions go on. The device keeps
    /// its half, which the user removes in the settings of the system.
    public func removePasskey(_ id: Passkey.ID) async throws(SojournError) { _ = try await call(.removePasskey(id)) }

    /// Proves by a passkey of the user that the user is present, for an API that asks for `presence`, and for changes of how the
    /// account is guarded. It does not open a session that is locked: `unlock` does.
    public func showPresence(passkey authenticator: any PasskeyAuthenticator) async throws(SojournError) {
        let options = try PasskeyOptions(try await call(.presenceOptions))
        let assertion = try await Self.assertion(for: options, by: authenticator)
        _ = try await call(.showPresenceByPasskey(assertion.json))
        await notePresence()
    }

    /// Notes that the server has seen the user.
    func notePresence() async {
        (presence, heldError) = (nil, nil)
        // A demand of the server has held renewals back until now.
        retries.noteAnswer()
        publishState()
        // APIs read in the token when the user was there.
        rejections = []
        if let token = try? await accessToken() { _ = try? await accessToken(.renewed(after: token)) }
    }

    private func passkeyLoginOptions() async throws(SojournError) -> HTTPAnswer {
        try await plainAnswer(to: try server().request("POST", "/v1/passkeys/options"))
    }
}

extension SojournError {
    init(_ error: PasskeyError) {
        switch error {
        case .cancelled: self = .cancelled
        case .alreadyRegistered: self = .refused(Refusal(status: 0, code: "passkey_exists"))
        case .failed(let detail): self = .misconfigured(detail)
        }
    }
}
