// The user's own switch. While it is off no token works, so it takes what a user has beside tokens: the password, or an ID token of an
// identity provider. Whoever has neither would be locked out by it until an admin comes.
extension AccountService {
    /// The user with that name and password, for the one call that must work while no token does.
    public func verifiedUser(
        username: String, password: String, from origin: Origin
    ) async throws(ServiceError) -> User {
        try await tokens.verifiedUser(
            LoginAttempt(username: username, password: password, deviceID: nil), from: origin)
    }

    /// The user whom that ID token is about, for the same call. It makes nobody, and is used up.
    public func verifiedUser(
        by token: IdentityToken, of verifier: any IdentityVerifier, from origin: Origin
    ) async throws(ServiceError) -> Identifier<User> {
        try await tokens.owner(of: try await tokens.identity(of: token, by: verifier, from: origin), from: origin)
    }

    /// Throws the user's own switch: no new logins and no refreshes on any device, while `disabled` (seed 003).
    ///
    /// - Parameter providers: whose ID tokens can switch logins on again.
    public func setLogins(
        of userID: Identifier<User>, shownBy proof: AccountProof, disabled: Bool,
        effective: User.LoginDisabling.Effective, providers: Set<String> = [], from origin: Origin
    ) async throws(ServiceError) -> User {
        let now = context.clock.now
        let takesWayBack = disabled && effective == .immediate
        let hasIdentity = takesWayBack ? try await hasIdentity(userID, of: providers) : false
        return try await update(.id(userID), by: proof, at: now) { change in
            if takesWayBack, change.user.passwordHash == nil, !hasIdentity {
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
            return .success(change.user)
        }.outcome
    }

    private func hasIdentity(
        _ userID: Identifier<User>, of providers: Set<String>
    ) async throws(ServiceError) -> Bool {
        if providers.isEmpty { return false }
        let identities = try await tokens.inStore { () async throws(StoreError) in
            try await store.identities(of: userID)
        }
        return identities.contains { providers.contains($0.key.provider) }
    }
}
