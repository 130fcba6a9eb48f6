internal import WebAuthn

// The user's own switch. While logins are disabled no token is valid, so that the switch accepts the password, or an ID token
// of an identity provider; the pages of the server accept the password or a passkey. A user with neither cannot disable logins,
// because only an admin could enable them again.
extension AccountService {
    /// The user with that name and password. This check serves the one call that must work without a valid token.
    public func verifiedUser(
        username: String, password: String, from origin: Origin
    ) async throws(ServiceError) -> User {
        try await passwords.user(
            PasswordAttempt(account: .named(username, .both), password: password, deviceID: nil, clientID: nil),
            from: origin)
    }

    /// The user of an ID token, for the one call that must work without a valid token. The check creates no user, and marks the
    /// token as used.
    public func verifiedUser(
        by token: IdentityToken, of verifier: any IdentityVerifier, from origin: Origin
    ) async throws(ServiceError) -> Identifier<User> {
        try await federation.owner(
            of: try await federation.identity(of: token, by: verifier, from: origin), from: origin)
    }

    /// The user as the store has it now, for the state of the own switch.
    public func user(_ userID: Identifier<User>) async throws(ServiceError) -> User {
        let user = try await inStore(await store.user(.id(userID)))
        guard let user else { throw .notFound("user") }
        return user
    }

    /// Sets the user's own switch: while `disabled`, no login and no refresh succeeds on any device (seed 003). Throws
    /// `conflict` if the user would have no way to enable logins again, by the calls of an app, or on the pages of the server if
    /// the session of a browser asks. Returns the user and the number of ended sessions.
    ///
    /// - Parameters:
    ///   - revokesSessions: whether all sessions of the user end in the same transaction, the one that asks included.
    ///   - providers: the identity providers by which an app can enable logins again.
    public func setLogins(
        of userID: Identifier<User>, shownBy proof: AccountProof, disabled: Bool,
        effective: User.LoginDisabling.Effective, revokesSessions: Bool = false, providers: Set<String> = [],
        from origin: Origin
    ) async throws(ServiceError) -> (user: User, endedSessions: Int) {
        let now = context.clock.now
        let isByBrowser = if case .browser = proof { true } else { false }
        // A browser has no token that could undo a pause, and its login page takes no provider.
        let takesWayBack = disabled && (isByBrowser || effective == .immediate)
        var hasOther = false
        if takesWayBack {
            hasOther = try await isByBrowser ? hasPasskey(userID) : hasIdentity(userID, of: providers)
        }
        let needsPassword = takesWayBack && !hasOther
        let (user, ended) = try await update(.id(userID), by: proof, at: now) { change -> Result<User, ServiceError> in
            if needsPassword, change.user.passwordHash == nil {
                return .failure(
                    .conflict(
                        code: "password_missing",
                        detail: "without a password or an identity provider the user could not switch logins on again"))
            }
            change.switchLogins(
                disabled ? .loginsDisabled : .loginsEnabled, at: now, by: origin,
                reason: disabled ? effective.rawValue : nil
            ) { user in
                user.disabledByUser = disabled ? User.LoginDisabling(effective: effective, since: now) : nil
            }
            if revokesSessions { change.endSessions(onDevice: nil, at: now, by: origin) }
            return .success(change.user)
        }
        return (user, ended)
    }

    private func hasPasskey(_ userID: Identifier<User>) async throws(ServiceError) -> Bool {
        guard let rpID = context.passkeys?.relyingParty.id else { return false }
        let passkeys = try await inStore(await store.passkeys(of: userID))
        return passkeys.contains { $0.rpID == rpID }
    }

    private func hasIdentity(
        _ userID: Identifier<User>, of providers: Set<String>
    ) async throws(ServiceError) -> Bool {
        if providers.isEmpty { return false }
        let identities = try await inStore(await store.identities(of: userID))
        return identities.contains { providers.contains($0.key.provider) }
    }
}
