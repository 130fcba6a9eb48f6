internal import AdminActs
internal import HTTP
public import Pages
public import Sessions

extension ConsoleView {
    /// The rows of a page of a list.
    public static let rowsMax = 50

    /// The search field, and where else to look for what was not found.
    public func find(lookedFor text: String? = nil, _ users: [User] = []) -> ConsolePage {
        var blocks: [ConsoleBlock] = [searchField(text ?? "", isFocused: text == nil)]
        if let text, !users.isEmpty {
            blocks.append(table(users))
            blocks.append(.section("Look further", [.list(furtherPlaces(text))]))
            let count = users.count == Self.rowsMax ? "\(users.count) or more users" : "\(users.count) users"
            return page(.find, "Find", notice: (.plain, "\(sentence: count) are like \(name: text)."), blocks)
        }
        if let text {
            if !text.isEmpty { blocks.append(.section("Look further", [.list(furtherPlaces(text))])) }
        } else {
            blocks.append(
                .text(
                    """
                    Paste what you have: a username or its beginning, an e-mail address, a telephone number, the id of a user, \
                    a session, a login, a client or a key, the id of a request or a device from a log, or a token: the console \
                    says what it is.
                    """))
        }
        return page(
            .find, "Find", notice: text.map { (.plain, $0.isEmpty ? Self.unreadable : Self.nothing(named: $0)) }, blocks
        )
    }

    private static let unreadable: ConsoleText = "This is too long for a name, and no token that can be read."

    private static func nothing(named text: String) -> ConsoleText {
        "No user, session, login, client or key has the name or id \(name: text)."
    }

    private func searchField(_ text: String, isFocused: Bool = false) -> ConsoleBlock {
        .form(
            ConsoleForm(
                .consoleFind,
                fields: [
                    .text("q", label: "Username, e-mail, telephone, id, or a token", value: text, isFocused: isFocused)
                ], button: "Find",
                isLine: true))
    }

    /// The searches that read many rows, so that they are asked for.
    private func furtherPlaces(_ text: String) -> [ConsoleText] {
        [
            "\(link: PagePath("/console/users", ["q": text]), "Users with this in their name, address or number")",
            "\(link: PagePath("/console/events", ["request": text]), "Events of a request with this id")",
            "\(link: PagePath("/console/events", ["device": text]), "Events of a device with this id")",
        ]
    }

    /// A list of users, with a cursor for a URL.
    public func users(_ users: Page<User>, matching text: String, isFirst: Bool) -> ConsolePage {
        let new: [ConsoleBlock] =
            admin.may(CreateUser.scope)
            ? [.text("\(link: .consoleNewUser, "New user")")] : []
        let first = PagePath("/console/users", ["q": text])
        return page(
            .users, "Users",
            new + [
                .form(
                    ConsoleForm(
                        .consoleUsers, isQuery: true,
                        fields: [
                            .text("q", label: "Part of a username, name, address or telephone number", value: text)
                        ],
                        button: "Search",
                        isLine: true)),
                table(users.items),
                .pages(
                    newer: isFirst ? nil : first,
                    older: users.nextCursor.map {
                        PagePath("/console/users", ["q": text, "cursor": $0])
                    }),
            ])
    }

    private func table(_ users: [User]) -> ConsoleBlock {
        let rows = users.map { user -> [ConsoleText] in
            [
                Self.link(user.id, user.username), "\(user.profile.displayName ?? "")", "\(user.profile.email ?? "")",
                "\(user.profile.phoneNumber ?? "")", time(user.createdAt),
                user.loginRefusal == nil ? "" : "\(badge: "logins disabled", .bad)",
            ]
        }
        return .table(
            ConsoleTable(
                "Users", columns: ["Username", "Name", "E-mail", "Telephone", "Created", "State"], rows: rows,
                empty: "No user has this in the name, address or number."))
    }

    // MARK: A pasted token

    /// What a token is: its user, whether it is alive, and what a refresh with it would answer.
    public func explanation(of token: InspectedToken, idToken: IDTokenHint?) -> ConsolePage {
        let (title, sentences, record) = sentences(about: token, idToken: idToken)
        var blocks: [ConsoleBlock] = [.explanation(sentences)]
        if let record {
            blocks.append(
                .facts([
                    ("Session", "\(link: Self.path(ofSession: record.session.id), record.session.id.description)"),
                    ("State", state(record)),
                    ("User", Self.link(record.session.userID, record.user?.username)),
                    ("Device", "\(device(record.session.device))"), ("App", "\(record.session.clientID)"),
                ]))
        }
        blocks.append(searchField(""))
        return page(.find, title, blocks)
    }

    private func sentences(
        about token: InspectedToken, idToken: IDTokenHint?
    ) -> (title: String, [ConsoleText], SessionRecord?) {
        switch token {
        case .refreshToken(let serial, let record, let decision):
            return ("A refresh token", refreshToken(serial, record, decision), record)
        case .accessToken(let clientID, let issuedAt, let expiresAt, let record):
            return ("An access token", accessToken(clientID, issuedAt, expiresAt, record), record)
        case .clientToken(let clientID, let issuedAt, let expiresAt, let isAccepted):
            return ("A client's own token", clientToken(clientID, issuedAt, expiresAt, isAccepted), nil)
        case .code(let login):
            let state: ConsoleText =
                login.codeUsedAt.map { "It was exchanged \(time($0))." }
                ?? (login.codeHash == nil
                    ? "It was cancelled." : now < login.codeExpiresAt ? "It can be exchanged." : "It has expired.")
            return (
                "An authorization code",
                [
                    """
                    A code of the login \(code: login.id.description) for the app \(name: login.clientID), completed \
                    \(time(login.startedAt)) by \(link: Self.path(ofUser: login.userID), "this user"). \(state)
                    """
                ], nil
            )
        case .clientSecret(let client):
            return ("A client's secret", ["The secret of the client \(name: client.id), as it is valid now."], nil)
        case .adminKey(let key): return ("An admin key", [adminKey(key)], nil)
        case .resetToken(let user, let isUsable):
            return (
                "A reset token",
                [
                    """
                    With it, \(Self.link(user.id, user.username)) sets a new password. \
                    \(isUsable ? "It can be used." : "It was used, has expired, or was replaced by a newer one.")
                    """
                ], nil
            )
        case .browserCookie(let record):
            return ("The cookie of a browser", ["It belongs to the session of a browser."], record)
        case .unknown(let kind):
            if let idToken { return ("An ID token", [self.idToken(idToken)], nil) }
            return (
                "Not of this server",
                [
                    """
                    It looks like a token of the kind \(name: kind), but this server has not made it, or does not know it any \
                    more: it is of another server, of another root key, altered, or was deleted.
                    """
                ], nil
            )
        }
    }

    private func idToken(_ token: IDTokenHint) -> ConsoleText {
        let session: ConsoleText =
            token.sessionID.map { " Its session is \(link: Self.path(ofSession: $0), $0)." } ?? ""
        return """
            An ID token of this server for the app \(name: token.audience), about \
            \(link: Self.path(ofUser: token.subject), "this user").\(session) It opens nothing.
            """
    }

    private func adminKey(_ key: AdminKey) -> ConsoleText {
        let end: ConsoleText =
            key.expiresAt.map { now < $0 ? "It ends \(time($0))." : "It ended \(time($0))." } ?? "It has no end."
        let use: ConsoleText = key.lastUsedAt.map { "It was last used \(time($0))." } ?? "It was never used."
        return """
            The admin key \(name: key.name) (\(code: key.id)) with the scope \(code: key.scope.rawValue). \(end) \(use) If it was \
            found where it should not be, delete it.
            """
    }

    private func accessToken(
        _ clientID: String, _ issuedAt: Instant, _ expiresAt: Instant, _ record: SessionRecord?
    ) -> [ConsoleText] {
        let life: ConsoleText = now < expiresAt ? "It expires \(time(expiresAt))" : "It expired \(time(expiresAt))"
        var sentences: [ConsoleText] = [
            "Signed by this server for the app \(name: clientID) \(time(issuedAt)). \(life)."
        ]
        guard let record else {
            sentences.append("Its session is not known: it was never stored, or is forgotten.")
            return sentences
        }
        if let ending = policy.ending(of: record, at: now) {
            sentences.append(
                """
                Its session has ended \(time(ending.at)): \(sentence: ending.reason.explanation.meaning) This server refuses it; an API \
                that verifies tokens by itself does so when it reads the feed of revocations, or at the expiry.
                """)
        } else if record.user?.rejectsAccessTokens == true {
            sentences.append("Its session waits, because the logins of the user are disabled: the token is refused.")
        } else if now < expiresAt {
            sentences.append("Its session is active, so that the token is accepted.")
        } else {
            sentences.append("Its session is active: the app gets a new one by its refresh token.")
        }
        return sentences
    }

    private func clientToken(
        _ clientID: String, _ issuedAt: Instant, _ expiresAt: Instant, _ isAccepted: Bool
    ) -> [ConsoleText] {
        let state: ConsoleText =
            if isAccepted {
                "It is accepted until \(time(expiresAt))."
            } else if now < expiresAt {
                """
                It has ended: the client has revoked it, was deleted, or no longer has the secret, the key or the grant of then, \
                or everything was revoked. This server refuses it; an API that verifies tokens by itself does so when it reads the \
                feed of revocations, or at the expiry \(time(expiresAt)).
                """
            } else {
                "It expired \(time(expiresAt))."
            }
        return ["The client \(name: clientID) got it for itself \(time(issuedAt)).", state]
    }

    private func refreshToken(
        _ serial: UInt64, _ record: SessionRecord?, _ decision: RefreshDecision?
    ) -> [ConsoleText] {
        guard let record, let decision else {
            return [
                "A refresh token of this server. Its session was never stored, or is forgotten 30 days after its end."
            ]
        }
        let session = record.session
        let place: ConsoleText =
            if serial == session.child {
                "the newest refresh token of its session"
            } else if serial == session.parent {
                "the parent of the newest refresh token of its session"
            } else if serial < session.child {
                "a refresh token that was replaced long ago"
            } else {
                "newer than the session in the database, which was restored from a backup"
            }
        return [
            "Number \(Int(serial)), \(place).",
            "If the app sends it now, the answer is: \(answer(decision, serial: serial, record))",
        ]
    }
}
