internal import HTTP
internal import Sessions

extension Route {
    /// The pages of the admins' console.
    static let console: [Route] = [
        .showConsole, .showConsoleEntry, .enterConsole, .openConsoleLeave, .leaveConsole, .openConsoleFind,
        .findInConsole, .showConsoleUsers, .showConsoleNewUser, .createConsoleUser, .showConsoleUser,
        .changeConsoleUser, .showConsoleSession, .changeConsoleSession, .showConsoleLogins, .showConsoleLogin,
        .changeConsoleLogin, .showConsoleNow, .showConsoleSettings, .changeConsoleSettings, .showConsoleClients,
        .showConsoleClient, .changeConsoleClient, .showConsoleNewClient, .createConsoleClient, .showConsoleKeys,
        .changeConsoleKeys, .showConsoleDeliveries, .changeConsoleDeliveries, .showConsoleBulk, .endConsoleBulk,
        .exportConsoleEventsAsCSV, .exportConsoleEvents, .showConsoleEvents, .createConsoleLink,
    ]

    /// A page of the console, on the admin listener. It asks for the admin key of the browser itself.
    static func page(
        _ method: Method, _ pattern: String, _ operation: @autoclosure @escaping @Sendable () -> Operation,
        _ handle: @escaping @Sendable (Endpoints, Call) async throws -> Response
    ) -> Route {
        Route(method, pattern, on: .admin, errorFormat: .page, .open(handle), operation())
    }
}

// The way in, users, sessions and logins.
extension Route {
    static let showConsole = page(
        .get, "/console",
        Operation(
            "showConsole", .console, "Find",
            """
            The search of the console. Needs a browser in the console, with an admin key of the scope `read`.
            """,
            parameters: ["done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsole($1) }

    static let showConsoleEntry = page(
        .get, "/console/enter",
        Operation(
            "showConsoleEntry", .console, "The way into the console",
            "Asks for an admin key, or offers to use a link of `sojourn console`.",
            parameters: ["to", "t.entry"], answers: [.page, .page(410, "The link has expired or was used.")],
            without: [403])
    ) { try await $0.showConsoleEntry($1) }

    static let enterConsole = page(
        .post, "/console/enter",
        Operation(
            "enterConsole", .console, "Enter the console",
            """
            Lets a browser in by an admin key, or by a link, which makes an admin key of eight hours. The form \
            needs the page's token and the browser's cookie, and comes from this origin.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the page in `to`, or to `/console`."),
                .page(403, "The form comes from another site, or the admin key may not read."),
                .page(410, "The link has expired or was used."), .page(422, "The admin key is unknown."),
            ],
            without: [409])
    ) { try await $0.enterConsole($1) }

    static let openConsoleLeave = page(
        .get, "/console/leave",
        Operation(
            "openConsoleLeave", .console, "The address of leaving",
            """
            To this address only forms go. A browser comes back to it by its history. Needs a browser in the \
            console, with an admin key of the scope `read`.
            """,
            answers: [.redirect("To `/console`, or to `/console/enter`, which leads there.")])
    ) { try await $0.redirectToConsole($1) }

    static let leaveConsole = page(
        .post, "/console/leave",
        Operation(
            "leaveConsole", .console, "Leave the console",
            """
            Ends the stay of the browser, and deletes the key that a link made for it. Needs a browser in the \
            console, with an admin key of the scope `read`.
            """,
            takes: .form, answers: [.redirect("To `/console/enter`.")], without: [409])
    ) { try await $0.leaveConsole($1) }

    static let openConsoleFind = page(
        .get, "/console/find",
        Operation(
            "openConsoleFind", .console, "The address of the search",
            """
            To this address only forms go. A browser comes back to it by its history. Needs a browser in the \
            console, with an admin key of the scope `read`.
            """,
            answers: [.redirect("To `/console`, or to `/console/enter`, which leads there.")])
    ) { try await $0.redirectToConsole($1) }

    static let findInConsole = page(
        .post, "/console/find",
        Operation(
            "findInConsole", .console, "Look for something",
            """
            Leads to the user, session or login with a name or id, the beginning of a name, or a telephone \
            number, or says what a token is. Needs a browser in the console, with an admin key of the scope \
            `read`.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the page of what was found, or to `/console/enter`."),
                .page(404, "Nothing is found by an index; the page says where else to look."),
            ],
            without: [409])
    ) { try await $0.findInConsole($1) }

    static let showConsoleUsers = page(
        .get, "/console/users",
        Operation(
            "showConsoleUsers", .console, "Users",
            """
            The users, or those with a text in their username, name, address or telephone number. Needs a \
            browser in the console, with an admin key of the scope `read`.
            """,
            parameters: ["q", "cursor.console", "done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleUsers($1) }

    static let showConsoleNewUser = page(
        .get, "/console/new-user",
        Operation(
            "showConsoleNewUser", .console, "A new user",
            """
            A form for a new user. Needs a browser in the console, with an admin key of the scope `owner`.
            """,
            answers: [.page, .toEntry])
    ) { try await $0.showConsoleNewUser($1) }

    static let createConsoleUser = page(
        .post, "/console/new-user",
        Operation(
            "createConsoleUser", .console, "Make a user",
            """
            Makes a user without a password, or shows the commands that do. Needs a browser in the console, with \
            an admin key of the scope `owner`.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To the page of the user, or to `/console/enter`."), .valueRefused,
            ])
    ) { try await $0.createConsoleUser($1) }

    static let showConsoleUser = page(
        .get, "/console/users/{user}",
        Operation(
            "showConsoleUser", .console, "A user",
            """
            The user with sessions, passkeys, identities and events. Needs a browser in the console, with an \
            admin key of the scope `read`.
            """,
            parameters: ["user.console", "cursor.sessions", "done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleUser($1) }

    static let changeConsoleUser = page(
        .post, "/console/users/{user}",
        Operation(
            "changeConsoleUser", .console, "Act on a user",
            """
            Disables or enables logins, removes a lock, ends all sessions, makes a link for a new password, or \
            removes a passkey. Needs a browser in the console, with an admin key of the scope `support`.
            """,
            takes: .form, parameters: ["user.console"],
            answers: [
                .page, .redirect("To the page of the user, which says what was done, or to `/console/enter`."),
                .valueRefused, .page(429, "Too many reset tokens for this user."),
            ])
    ) { try await $0.changeConsoleUser($1) }

    static let showConsoleSession = page(
        .get, "/console/sessions/{session_id}",
        Operation(
            "showConsoleSession", .console, "A session",
            """
            The session with its tokens, its lifetimes and its events. Needs a browser in the console, with an \
            admin key of the scope `read`.
            """,
            parameters: ["session_id.console", "done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleSession($1) }

    static let changeConsoleSession = page(
        .post, "/console/sessions/{session_id}",
        Operation(
            "changeConsoleSession", .console, "End a session",
            """
            Ends the session. Needs a browser in the console, with an admin key of the scope `support`.
            """,
            takes: .form, parameters: ["session_id.console"],
            answers: [.page, .redirect("To the page of the session, or to `/console/enter`.")])
    ) { try await $0.changeConsoleSession($1) }

    static let showConsoleLogins = page(
        .get, "/console/logins",
        Operation(
            "showConsoleLogins", .console, "Logins with a phone",
            """
            The newest first, 50 at most. Needs a browser in the console, with an admin key of the scope `read`.
            """,
            parameters: ["user.console-logins", "state.console-logins", "cursor.console", "done", "t"],
            answers: [.page, .toEntry, .page(404, "There is no such thing.")])
    ) { try await $0.showConsoleLogins($1) }

    static let showConsoleLogin = page(
        .get, "/console/logins/{login_id}",
        Operation(
            "showConsoleLogin", .console, "A login with a phone",
            """
            The login with both devices, its session and its events. Needs a browser in the console, with an \
            admin key of the scope `read`.
            """,
            parameters: ["login_id.console", "done", "t"], answers: [.page, .toEntry])
    ) { try await $0.showConsoleLogin($1) }

    static let changeConsoleLogin = page(
        .post, "/console/logins/{login_id}",
        Operation(
            "changeConsoleLogin", .console, "End a login with a phone",
            """
            Ends the login, and the session that came of it. Needs a browser in the console, with an admin key \
            of the scope `support`.
            """,
            takes: .form, parameters: ["login_id.console"],
            answers: [.page, .redirect("To the page of the login, or to `/console/enter`.")])
    ) { try await $0.changeConsoleLogin($1) }

    static let createConsoleLink = Route(
        .post, "/admin/v1/console-links", on: .admin, .admin(.owner) { try await $0.createConsoleLink($1) },
        Operation(
            "create_console_link", .console, "Make a link to the console",
            """
            Only through the admin socket beside the database, as `sojourn console` does. The link lets one \
            browser in within 60 seconds, and makes an admin key of eight hours for it.
            """,
            takes: .json("NewConsoleLink", isOptional: true),
            answers: [.json("ConsoleLink", "The link.", status: 201)], errors: [.localOnly]))
}
