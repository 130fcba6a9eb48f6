internal import Cryptography
internal import HTTP
internal import Pages
internal import Sessions

extension ConsoleView {
    /// What the page of a user shows.
    struct UserFacts: Sendable {
        let id: Identifier<User>
        /// Nil: the user was deleted.
        let user: User?
        /// Where the names, the address and the password come from.
        let sources: UserSources?
        let sessions: Page<SessionRecord>
        let isFirstPage: Bool
        let addresses: [Identifier<Session>: String]
        let passkeys: [Passkey]
        let identities: [Identity]
        let events: [RecordedEvent]
    }

    /// The page of a user.
    func user(_ facts: UserFacts, _ notice: (look: ConsoleLook, text: ConsoleText)?) -> ConsolePage {
        let path = Self.path(ofUser: facts.id)
        var blocks: [ConsoleBlock] = []
        if let user = facts.user {
            blocks += disabling(of: user, facts.events)
            blocks.append(.facts(profile(user, facts.sources)))
            blocks.append(.acts(acts(on: user, path)))
        } else {
            blocks.append(
                .explanation(["The user was deleted. What is left is what the audit trail and ended sessions say."]))
        }
        blocks += sessions(facts, path)
        if let user = facts.user { blocks += credentials(of: user, facts, path) }
        let all = PagePath("/console/events", ["user": facts.id.description])
        let logins = PagePath("/console/logins", ["user": facts.id.description])
        blocks.append(
            .section(
                "Events",
                [
                    events(facts.events, names: facts.user.map { [$0.id: $0.username] } ?? [:]),
                    .text("\(link: all, "All events of this user") · \(link: logins, "Logins with a phone")"),
                ]))
        let name = facts.user?.username ?? "a deleted user"
        return page(.find, name, heading: "User \(Self.named(facts.id, facts.user?.username))", notice: notice, blocks)
    }

    /// The sentence that shows the link for a new password.
    static func resetLink(_ link: String, _ end: Instant) -> (look: ConsoleLook, text: ConsoleText) {
        (
            .good,
            """
            With this link the user sets a new password. It is shown this once, and can be used once, until \
            \(time: end.secondsSinceEpoch): \(code: link)
            """
        )
    }

    private func profile(_ user: User, _ sources: UserSources?) -> [(name: String, value: ConsoleText)] {
        let profile = user.profile
        let address: ConsoleText =
            profile.email.map {
                profile.isEmailVerified ? "\($0) \(badge: "verified", .good)" : "\($0) \(badge: "not verified", .plain)"
            } ?? ""
        return [
            ("Id", "\(code: user.id.description)"), ("Username", "\(user.username)"),
            ("Name", "\(profile.displayName ?? "")"), ("Given name", "\(profile.givenName ?? "")"),
            ("Family name", "\(profile.familyName ?? "")"), ("E-mail", address),
            ("Telephone", "\(profile.phoneNumber ?? "")"),
            ("Country", "\(profile.country ?? "")"), ("Created", time(user.createdAt)),
            ("Password", user.passwordHash == nil ? "none" : "set"),
            ("Sources", sources.map { "\(Self.words(of: $0))" } ?? ""),
            ("Own longest session", user.offlineSessionMax.map { "\(Self.span($0))" } ?? ""),
            (
                "Locked by wrong passwords until",
                user.wrongPasswords?.lockEnd.flatMap { now < $0 ? time($0) : nil } ?? ""
            ),
            ("Anonymous", user.isAnonymous ? "yes: no login finds this user" : ""),
            (
                "Claims",
                user.claims.map {
                    "\(code: String(decoding: (try? JSONAnswer.encode($0.values)) ?? [], as: UTF8.self))"
                }
                    ?? ""
            ),
        ]
    }

    /// `username: admin, e-mail: proof, password: user, access: user`
    private static func words(of sources: UserSources) -> String {
        let parts = [
            ("username", sources.username), ("e-mail", sources.email), ("password", sources.password),
            ("access", sources.access),
        ]
        return parts.compactMap { name, source in source.map { "\(name): \($0.rawValue)" } }.joined(separator: ", ")
    }

    /// By what the logins were disabled, when, and why.
    private func disabling(of user: User, _ events: [RecordedEvent]) -> [ConsoleBlock] {
        var sentences: [ConsoleText] = []
        if let disabling = user.disabledByAdmin {
            let event = events.first { $0.event.kind == .loginsDisabled && $0.event.actor != Origin.userActor }
            let who: ConsoleText = event.map { "by \(actor($0.event.actor))" } ?? "by an admin"
            let note: ConsoleText = disabling.note.map { "The note says: “\(name: $0)”." } ?? "There is no note."
            sentences.append(
                "Logins are disabled since \(time(disabling.since)), \(who). \(note) \(effect(of: disabling))")
        }
        if let disabling = user.disabledByUser {
            sentences.append(
                """
                The user has switched the own logins off \(time(disabling.since)), and can switch them on with the password or \
                at an identity provider. \(effect(of: disabling))
                """)
        }
        return sentences.isEmpty ? [] : [.explanation(sentences)]
    }

    private func effect(of disabling: User.LoginDisabling) -> ConsoleText {
        disabling.effective == .immediate
            ? "Access tokens are refused at once; sessions are kept and wait."
            : "Access tokens work until they expire; sessions are kept and wait."
    }

    /// A user in a command: the username where it needs no quoting, else the id.
    private func reference(_ user: User) -> String {
        Self.quoted(user.username) == user.username && Identifier<User>(user.username) == nil
            && !user.username.hasPrefix("-")
            ? user.username : user.id.description
    }

    private func acts(on user: User, _ path: PagePath) -> [ConsoleAct] {
        guard stay.may(.support) else { return [] }
        var acts: [ConsoleAct] = []
        if user.disabledByAdmin == nil { acts.append(disable(user, path)) }
        if user.loginRefusal != nil { acts.append(enable(user, path)) }
        if user.wrongPasswords != nil {
            acts.append(
                ConsoleAct(
                    path, "unlock", label: "Unlock",
                    question: "Accept the passwords of \(Self.named(user)) again, however many were wrong?",
                    button: "Unlock", curl: curl(.post, "/users/\(user.id)/unlock"),
                    command: "sojourn user unlock \(reference(user))"))
        }
        acts.append(
            ConsoleAct(
                path, "revoke", label: "End all sessions",
                question: "End every session of \(Self.named(user))? Each device has to log in again.",
                button: "End all sessions of \(user.username)", isDestructive: true,
                curl: curl(.post, "/users/\(user.id)/revoke"), command: "sojourn user revoke \(reference(user))"))
        if stay.may(.owner) {
            acts.append(edit(user, path, reference(user)))
            acts.append(
                ConsoleAct(
                    path, "reset", label: "Link for a new password",
                    question: """
                        Make a link by which \(Self.named(user)) sets a new password? It replaces an earlier one. The new \
                        password ends all sessions.
                        """,
                    button: "Make the link", curl: curl(.post, "/users/\(user.id)/password-reset"),
                    command: "sojourn user reset-password \(reference(user))"))
        }
        return acts
    }

    private func disable(_ user: User, _ path: PagePath) -> ConsoleAct {
        ConsoleAct(
            path, "disable", label: "Disable logins",
            question:
                "Refuse every login and refresh of \(Self.named(user))? Sessions are kept, unless you end them too.",
            fields: [
                .text("reason", label: "Note for other admins"),
                .choice(
                    "effective", label: "Access tokens",
                    [
                        (value: "immediate", label: "are refused at once"),
                        (value: "on_expiry", label: "work until they expire"),
                    ], chosen: "immediate"),
                .check("revoke_sessions", label: "End all sessions as well"),
            ],
            button: "Disable logins of \(user.username)", isDestructive: true,
            curl: curl(.post, "/users/\(user.id)/disable", #"{"effective":"immediate","reason":"…"}"#),
            command: "sojourn user disable \(reference(user)) --reason '…'")
    }

    private func enable(_ user: User, _ path: PagePath) -> ConsoleAct {
        let isOwn = user.disabledByUser != nil
        return ConsoleAct(
            path, "enable", label: "Enable logins",
            question: "Let \(Self.named(user)) log in and refresh again?",
            fields: isOwn ? [.check("include_own_switch", label: "Reset the user's own switch as well")] : [],
            button: "Enable logins",
            curl: curl(.post, "/users/\(user.id)/enable", isOwn ? #"{"include_own_switch":false}"# : nil),
            command: "sojourn user enable \(reference(user))")
    }

    // MARK: Sessions

    private func sessions(_ facts: UserFacts, _ path: PagePath) -> [ConsoleBlock] {
        let (ended, living) = (
            facts.sessions.items.filter { policy.ending(of: $0, at: now) != nil },
            facts.sessions.items.filter { policy.ending(of: $0, at: now) == nil }
        )
        let older = facts.sessions.nextCursor.map { cursor in
            PagePath(checking: "\(path.text)?cursor=\(PercentEncoding.encode(cursor))") ?? path
        }
        return [
            .section(
                "Devices that are signed in",
                [
                    .table(
                        ConsoleTable(
                            "Sessions that are active",
                            columns: [
                                "Device", "App", "Place", "Signed in", "Last refresh", "Ends unless refreshed",
                                "Ends in any case", "State",
                            ], rows: Self.byPhone(living).map { row($0, facts) },
                            empty: "No session on this page is active."))
                ]),
            .section(
                "Ended",
                [
                    .table(
                        ConsoleTable(
                            "Sessions that have ended",
                            columns: ["Device", "App", "Place", "Signed in", "Last refresh", "Ended", "Why"],
                            rows: Self.byPhone(ended).map { endedRow($0, facts) },
                            empty: "No session on this page has ended. Ended ones are kept for 30 days.")),
                    .pages(newer: facts.isFirstPage ? nil : path, older: older),
                ]),
        ]
    }

    /// The sessions in their order, with those that a phone has let in below the phone.
    private static func byPhone(_ records: [SessionRecord]) -> [SessionRecord] {
        let phones = Set(records.map(\.session.id))
        var below = Dictionary(grouping: records) { $0.session.phoneID.flatMap { phones.contains($0) ? $0 : nil } }
        func sorted(below id: Identifier<Session>?) -> [SessionRecord] {
            (below.removeValue(forKey: id) ?? []).flatMap { [$0] + sorted(below: $0.session.id) }
        }
        return sorted(below: nil)
    }

    private func row(_ record: SessionRecord, _ facts: UserFacts) -> [ConsoleText] {
        let session = record.session
        let lifetimes = policy.lifetimes(settings: record.settings, client: record.client, user: record.user)
        return beginning(of: record, facts) + [
            time(lifetimes.idleEnd(of: session)), time(lifetimes.finalEnd(of: session)), state(record),
        ]
    }

    private func endedRow(_ record: SessionRecord, _ facts: UserFacts) -> [ConsoleText] {
        let ending = policy.ending(of: record, at: now)
        return beginning(of: record, facts) + [ending.map { time($0.at) } ?? "", state(record)]
    }

    private func beginning(of record: SessionRecord, _ facts: UserFacts) -> [ConsoleText] {
        let session = record.session
        let address = facts.addresses[session.id]
        let place: ConsoleText =
            address.map { address in endpoints.placeName(address).map { "\($0)" } ?? "\(address: address)" } ?? ""
        let link: ConsoleText = "\(link: Self.path(ofSession: session.id), device(session.device))"
        return [
            session.phoneID == nil ? link : "↳ \(link)",
            "\(record.client?.name ?? session.clientID)", place, time(session.startedAt), time(session.renewedAt),
        ]
    }

    // MARK: Passkeys and identities

    private func credentials(of user: User, _ facts: UserFacts, _ path: PagePath) -> [ConsoleBlock] {
        var blocks: [ConsoleBlock] = []
        if !facts.passkeys.isEmpty {
            blocks.append(
                .section(
                    "Passkeys",
                    [
                        .table(
                            ConsoleTable(
                                "Passkeys", columns: ["Name", "Made", "Last used", "Synchronized"],
                                rows: facts.passkeys.map { passkey in
                                    [
                                        "\(passkey.name)", time(passkey.createdAt),
                                        passkey.lastUsedAt.map { time($0) } ?? "never",
                                        passkey.isBackedUp ? "yes" : "no",
                                    ]
                                }, empty: "")),
                        .acts(stay.may(.owner) ? facts.passkeys.map { removal(of: $0, user, path) } : []),
                    ]))
        }
        if !facts.identities.isEmpty {
            blocks.append(
                .section(
                    "Identities at identity providers",
                    [
                        .table(
                            ConsoleTable(
                                "Identities", columns: ["Provider", "Subject", "Linked"],
                                rows: facts.identities.map {
                                    ["\($0.key.provider)", "\(code: $0.key.subject)", time($0.linkedAt)]
                                }, empty: ""))
                    ]))
        }
        return blocks
    }

    private func removal(of passkey: Passkey, _ user: User, _ path: PagePath) -> ConsoleAct {
        let id = Base64URL.encode(passkey.id)
        return ConsoleAct(
            path, "remove-passkey", label: "Remove \(passkey.name)",
            question: "Remove the passkey \(name: passkey.name) of \(Self.named(user))? Sessions go on.",
            fields: [.hidden("passkey", id)], button: "Remove \(passkey.name)", isDestructive: true,
            curl: curl(.delete, "/users/\(user.id)/passkeys?id=\(id)"),
            command: "sojourn passkey delete \(Self.operands(reference(user), id))")
    }
}
