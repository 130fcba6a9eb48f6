internal import HTTP
internal import Pages
internal import Sessions

extension Call {
    /// Reads the user of the path, given by id or as `username:NAME`.
    func user() throws -> UserReference {
        guard let reference = UserReference(parameter) else { throw ServiceError.notFound("user") }
        return reference
    }
}

extension Endpoints {
    /// `POST /admin/v1/users`: creates a user.
    func createUser(_ call: Call) async throws -> Response {
        let members = try Members(
            call,
            known: ProfileChange.names + [
                "email_verified", "username", "password", "offline_session_max", "claims", "source",
            ])
        try members.refuseOwnersMembers(in: call)
        var profile = User.Profile()
        if let problem = try ProfileChange(members).apply(to: &profile) { throw problem }
        let user = try await services.administration.createUser(
            username: try members.requiredString("username"), password: try members.string("password"),
            profile: profile, offlineSessionMax: try members.seconds("offline_session_max"),
            claims: try members.claims("claims", in: call) ?? nil, from: try members.givenSource(), by: call.origin)
        var response = try Response.json(try await wholeAnswer(user), .created)
        response.fields.append("Location", "/admin/v1/users/\(user.id)")
        return response
    }

    /// `GET /admin/v1/users?query=&cursor=&limit=`: lists users. With `phone_number` those with that number.
    func listUsers(_ call: Call) async throws -> Response {
        let query = try QueryParameters(call, known: ["query", "phone_number", "cursor", "limit"])
        if let number = try query.text("phone_number") {
            guard try query.text("query") == nil, try query.text("cursor") == nil else {
                throw RequestProblem.invalid("phone_number", "stands beside no query and no cursor")
            }
            let users = try await services.administration.users(withPhoneNumber: number, limit: try query.limit())
            return try .json(ListAnswer(users.map { UserAnswer($0) }, nextCursor: nil))
        }
        let page = try await services.administration.users(
            matching: try query.text("query"), after: try query.encodedCursor(), limit: try query.limit())
        return try .json(
            ListAnswer(
                page.items.map { UserAnswer($0) }, nextCursor: page.nextCursor.map(QueryParameters.cursor)))
    }

    /// `GET /admin/v1/users/{user}`: answers one user.
    func showUser(_ call: Call) async throws -> Response {
        try .json(try await wholeAnswer(try await services.administration.user(try call.user())))
    }

    /// A user, with the sources.
    private func wholeAnswer(_ user: User) async throws -> UserAnswer {
        UserAnswer(user, try await services.administration.sources(of: user))
    }

    /// `PATCH /admin/v1/users/{user}`: changes the members that the body names. Null clears a member, except `username` and
    /// `email_verified`.
    func changeUser(_ call: Call) async throws -> Response {
        let members = try Members(
            call,
            known: ProfileChange.names + ["email_verified", "username", "offline_session_max", "claims", "source"])
        try members.refuseNull("username", "email_verified")
        try members.refuseOwnersMembers(in: call)
        let profile = try ProfileChange(members)
        let username = try members.string("username")
        let maximum = try members.change("offline_session_max", members.seconds)
        let claims = try members.claims("claims", in: call)
        let source = try members.givenSource()
        let user = try await services.administration.changeUser(try call.user(), from: source, by: call.origin) {
            user in
            if let claims { user.claims = claims }
            if let username { user.username = username }
            if let maximum { user.offlineSessionMax = maximum }
            return profile.apply(to: &user.profile)
        }
        return try .json(try await wholeAnswer(user))
    }

    /// `DELETE /admin/v1/users/{user}`: deletes the user. The sessions end with the reason `user_deleted`.
    func deleteUser(_ call: Call) async throws -> Response {
        _ = try await services.administration.deleteUser(try call.user(), by: call.origin)
        return .noContent
    }

    /// `POST /admin/v1/users/{user}/disable` `{effective?, revoke_sessions?, reason?}`: disables logins. `effective` is
    /// `immediate` by default. Sessions end only if `revoke_sessions` is true.
    func disableUser(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["effective", "revoke_sessions", "reason"], mayBeMissing: true)
        let (user, ended) = try await services.administration.disable(
            try call.user(),
            effective: try members.word("effective", as: User.LoginDisabling.Effective.self) ?? .immediate,
            revokingSessions: try members.bool("revoke_sessions") ?? false, note: try members.string("reason"),
            by: call.origin)
        return try .json(UserAnswer(user, revoked: ended))
    }

    /// `POST /admin/v1/users/{user}/enable` `{include_own_switch?}`: enables logins that an admin disabled, and with
    /// `include_own_switch` also those that the user disabled.
    func enableUser(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["include_own_switch"], mayBeMissing: true)
        let user = try await services.administration.enable(
            try call.user(), includingOwnSwitch: try members.bool("include_own_switch") ?? false, by: call.origin)
        return try .json(UserAnswer(user))
    }

    /// `POST /admin/v1/users/{user}/unlock`: removes the lock that wrong passwords caused.
    func unlockUser(_ call: Call) async throws -> Response {
        _ = try Members(call, known: [], mayBeMissing: true)
        return try .json(UserAnswer(try await services.administration.unlock(try call.user(), by: call.origin)))
    }

    /// `PUT /admin/v1/users/{user}/password` `{new_password}`: sets the password and ends all sessions of the user.
    func setPassword(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["new_password"])
        try await services.administration.setPassword(
            of: try call.user(), to: try members.requiredString("new_password"), by: call.origin)
        return .noContent
    }

    /// `POST /admin/v1/users/{user}/password-reset`: makes a one-time token, which replaces an earlier one.
    func requestPasswordReset(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["send", "language"], mayBeMissing: true)
        let isSent = try members.bool("send") ?? false
        let language = call.mailLanguage(try members.text("language"))
        let userID = try await services.administration.user(try call.user()).id
        let reset = try await rateLimiter.resetToken(of: userID) { () async throws(ServiceError) in
            try await services.administration.requestPasswordReset(
                of: .id(userID), mailing: isSent ? (language, [:]) : nil, by: call.origin)
        }
        // The link of a mail is for the mailbox alone (ASVS 6.4.6).
        if isSent { return try .json(SentResetAnswer(expiresAt: reset.expiresAt.secondsSinceEpoch), .accepted) }
        return try .json(
            PasswordResetAnswer(
                resetToken: reset.token, link: "\(url(.reset))#\(reset.token)",
                expiresAt: reset.expiresAt.secondsSinceEpoch))
    }
}

extension Members {
    /// Throws if a key without the scope `owner` sets what a user may do: roles in `claims`, and a longer session.
    fileprivate func refuseOwnersMembers(in call: Call) throws {
        guard call.adminScope != .owner else { return }
        for name in ["claims", "offline_session_max"] where contains(name) {
            throw RequestProblem.insufficientScope([.owner], actor: call.actor, member: name)
        }
    }

    /// The source of the names and the address in a call of an admin. A backend says `user` if a stranger has chosen them.
    fileprivate func givenSource() throws -> AccountSource {
        enum Given: String, CaseIterable { case admin, user }
        return try word("source", as: Given.self) == .user ? .user : .admin
    }
}

/// A link that was mailed to the user.
struct SentResetAnswer: Encodable {
    let expiresAt: Int64

    enum CodingKeys: String, CodingKey { case expiresAt = "expires_at" }
}

/// A one-time token with which the user sets a new password.
struct PasswordResetAnswer: Encodable {
    let resetToken: String
    /// The page of this server that takes the token.
    let link: String
    let expiresAt: Int64

    enum CodingKeys: String, CodingKey {
        case resetToken = "reset_token"
        case link
        case expiresAt = "expires_at"
    }
}

extension Route {
    static let createUser = Route(
        .post, "/admin/v1/users", on: .admin, .admin(.users) { try await $0.createUser($1) },
        Operation(
            "create_user", .users, "Make a user",
            "`claims` and `offline_session_max` need `owner`.",
            takes: .json("NewUser"), answers: [.created("AdminUser", "The user.")], errors: [.usernameTaken]))

    static let listUsers = Route(
        .get, "/admin/v1/users", on: .admin, .admin(.read) { try await $0.listUsers($1) },
        Operation(
            "list_users", .users, "List users",
            """
            Sorted by name. `query` matches any part of names and addresses, and may read every user. \
            `phone_number` finds the users with that number by an index, and stands alone beside `limit`.
            """,
            parameters: ["query", "phone_number", "cursor", "limit"], answers: [.json("AdminUsers", "A page.")]))

    static let showUser = Route(
        .get, "/admin/v1/users/{user}", on: .admin, .admin(.read, or: .users) { try await $0.showUser($1) },
        Operation(
            "show_user", .users, "Show a user",
            answers: [.json("AdminUser", "The user.")]))

    static let changeUser = Route(
        .patch, "/admin/v1/users/{user}", on: .admin, .admin(.users) { try await $0.changeUser($1) },
        Operation(
            "change_user", .users, "Change a user",
            """
            Absent members keep their value; null removes it, except the username. A new e-mail address or \
            telephone number makes a reset token invalid. `claims` and `offline_session_max` need `owner`.
            """,
            takes: .json("UserChange"), answers: [.json("AdminUser", "The changed user.")], errors: [.usernameTaken]))

    static let deleteUser = Route(
        .delete, "/admin/v1/users/{user}", on: .admin, .admin(.owner) { try await $0.deleteUser($1) },
        Operation(
            "delete_user", .users, "Delete a user",
            "The sessions end as `user_deleted`.",
            answers: [.empty("It is deleted.")]))

    static let disableUser = Route(
        .post, "/admin/v1/users/{user}/disable", on: .admin, .admin(.support) { try await $0.disableUser($1) },
        Operation(
            "disable_user", .users, "Switch a user's logins off",
            "Blocks logins and refreshes. Sessions end only on request.",
            takes: .json("Disable", isOptional: true), answers: [.json("AdminUser", "The user.")]))

    static let enableUser = Route(
        .post, "/admin/v1/users/{user}/enable", on: .admin, .admin(.support) { try await $0.enableUser($1) },
        Operation(
            "enable_user", .users, "Switch a user's logins on",
            "Active sessions go on.",
            takes: .json("Enable", isOptional: true), answers: [.json("AdminUser", "The user.")]))

    static let unlockUser = Route(
        .post, "/admin/v1/users/{user}/unlock", on: .admin, .admin(.support) { try await $0.unlockUser($1) },
        Operation(
            "unlock_user", .users, "Lift the lock after wrong passwords",
            "The server accepts passwords again, however many were wrong.",
            takes: .json("Nothing", isOptional: true), answers: [.json("AdminUser", "The user.")]))

    static let setPassword = Route(
        .put, "/admin/v1/users/{user}/password", on: .admin, .admin(.owner) { try await $0.setPassword($1) },
        Operation(
            "set_password", .users, "Set a user's password",
            "All sessions of the user end.",
            takes: .json("NewPassword"), answers: [.empty("The password is set.")]))

    static let requestPasswordReset = Route(
        .post, "/admin/v1/users/{user}/password-reset", on: .admin,
        .admin(.users) { try await $0.requestPasswordReset($1) },
        Operation(
            "request_password_reset", .users, "Make a one-time token for a new password",
            "It replaces an earlier one, which stays valid when the call is refused with 429.",
            takes: .json("ResetRequest", isOptional: true),
            answers: [.json("ResetToken", "The token."), .json("SentReset", "With `send`.", status: 202)],
            errors: [.accountExists, .tooManyRequests]))
}
