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

    /// `POST /v1/password-reset`: sets a password with the one-time token that an admin made, and ends all sessions of the
    /// user.
    func resetPassword(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["reset_token", "new_password"])
        let (token, new) = (
            try members.requiredString("reset_token"), try members.requiredString("new_password")
        )
        try await rateLimiter.reset(from: call.caller) { () async throws(ServiceError) in
            let reset = try await services.accounts.passwordReset(by: token)
            try await rateLimiter.reset(of: reset.userID) { () async throws(ServiceError) in
                try await services.accounts.resetPassword(reset, to: new, from: call.origin)
            }
        }
        return .noContent
    }
}
