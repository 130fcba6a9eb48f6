internal import HTTP
internal import Sessions

extension Endpoints {
    /// `PUT /v1/me/password`: changes the password and ends the sessions on all other devices.
    func changePassword(_ call: Call, _ session: AuthenticatedSession) async throws -> Response {
        let members = try Members(call, known: ["old_password", "new_password"])
        let (old, new) = (
            try members.requiredString("old_password"), try members.requiredString("new_password")
        )
        try await services.accounts.changePassword(
            of: session.user, in: session.session, from: old, to: new, by: call.origin)
        return .noContent
    }

    /// `POST /v1/password-reset`: sets a password with the token of a link, or of a proven verification, and ends all sessions of
    /// the user.
    func resetPassword(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["reset_token", "verification_token", "new_password"])
        let token = try members.string("verification_token") ?? members.requiredString("reset_token")
        let new = try members.requiredString("new_password")
        guard !members.contains("verification_token") || !members.contains("reset_token") else {
            throw members.refused("reset_token", "must not stand beside verification_token")
        }
        if let page = call.page, let handle = VerificationHandle(token: token) {
            try await verifications().admit(page, by: handle)
        }
        try await rateLimiter.reset(from: call.caller) { () async throws(ServiceError) in
            let reset = try await services.accounts.passwordReset(by: token)
            try await rateLimiter.reset(of: reset.userID) { () async throws(ServiceError) in
                try await services.accounts.resetPassword(reset, to: new, from: call.origin)
            }
        }
        return .noContent
    }
}

extension Route {
    static let changePassword = Route(
        .put, "/v1/me/password", onProbation: false, .user { try await $0.changePassword($1, $2) },
        Operation(
            "change_my_password", .me, "Change my password",
            "The sessions on all other devices end.",
            takes: .json("PasswordChange"), answers: [.empty("The password is changed.")],
            errors: [.wrongPasswordOrToken, .tooManyRequests]))

    static let resetPassword = Route(
        .post, "/v1/password-reset", cors: .anyClient, .open { try await $0.resetPassword($1) },
        Operation(
            "reset_password", .apps, "Set a forgotten password",
            """
            Takes the token of a link, which a mail has or an admin made, or the `verification_token` of a proven \
            mailbox. A newer link of an admin, a new e-mail address or a new telephone number makes a link invalid. All \
            sessions of the user end, and no session begins.
            """,
            takes: .json("PasswordReset"), answers: [.empty("The password is set.")],
            errors: [.originNotAllowed, .tooManyRequests]))
}
