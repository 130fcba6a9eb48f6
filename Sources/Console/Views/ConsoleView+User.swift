internal import Cryptography
internal import HTTP
internal import JSON
public import Pages
public import Sessions

extension ConsoleView {
    /// The page of a user.
    public func user(_ facts: UserOverview, _ notice: ConsoleNotice?) -> ConsolePage {
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
        return page(.users, name, heading: "User \(Self.named(facts.id, facts.user?.username))", notice: notice, blocks)
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
                    "\(code: JSONValue.object($0.values).compactText ?? "")"
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

    // MARK: Sessions

    private func sessions(_ facts: UserOverview, _ path: PagePath) -> [ConsoleBlock] {
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
                            ], rows: livingRows(living, facts),
                            empty: "No session on this page is active."))
                ]),
            .section(
                "Ended",
                [
                    .table(
                        ConsoleTable(
                            "Sessions that have ended",
                            columns: ["Device", "App", "Place", "Signed in", "Last refresh", "Ended", "Why"],
                            rows: endedRows(ended, facts),
                            empty: "No session on this page has ended. Ended ones are kept for 30 days.")),
                    .pages(newer: facts.isFirstPage ? nil : path, older: older),
                ]),
        ]
    }

    /// The rows of living sessions, as the user's own page has them: the sessions of one app in one browser are one row, below the
    /// browser or the phone from which they came.
    private func livingRows(_ living: [SessionRecord], _ facts: UserOverview) -> [[ConsoleText]] {
        let families = DeviceRow.families(of: DeviceRow.list(living))
        let roots = Set((families[nil] ?? []).map(\.id))
        return DeviceRow.sorted(families).map { row(of: $0, isBelow: !roots.contains($0.id), facts) }
    }

    /// Ended sessions in their order, with those that a phone has let in below the phone.
    private func endedRows(_ ended: [SessionRecord], _ facts: UserOverview) -> [[ConsoleText]] {
        let phones = Set(ended.map(\.session.id))
        return DeviceRow.sorted(DeviceRow.families(of: ended.map { DeviceRow($0) })).map { row in
            let (record, ending) = (row.record, policy.ending(of: row.record, at: now))
            let isBelow = record.session.phoneID.map(phones.contains) ?? false
            return beginning(of: row, isBelow: isBelow, facts) + [
                ending.map { time($0.at) } ?? "", state(record),
            ]
        }
    }

    private func row(of row: DeviceRow, isBelow: Bool, _ facts: UserOverview) -> [ConsoleText] {
        let record = row.record
        let lifetimes = policy.lifetimes(settings: record.settings, client: record.client, user: record.user)
        let sessions = row.records.map(\.session)
        let (idleEnd, finalEnd) = (sessions.map(lifetimes.idleEnd).max(), sessions.map(lifetimes.finalEnd).max())
        return beginning(of: row, isBelow: isBelow, facts) + [
            idleEnd.map { time($0) } ?? "", finalEnd.map { time($0) } ?? "", state(record),
        ]
    }

    private func beginning(of row: DeviceRow, isBelow: Bool, _ facts: UserOverview) -> [ConsoleText] {
        let sessions = row.records.map(\.session)
        let address = facts.addresses[row.id]
        let place: ConsoleText =
            address.map { address in setting.placeName(address).map { "\($0)" } ?? "\(address: address)" } ?? ""
        let link: ConsoleText = "\(link: Self.path(ofSession: row.id), device(row.record.session.device))"
        let others = sessions.dropFirst().map { session -> ConsoleText in
            "\(link: Self.path(ofSession: session.id), "one more session")"
        }
        let app: ConsoleText = "\(row.record.client?.name ?? row.record.session.clientID)"
        return [
            isBelow ? "↳ \(link)" : link, .joined([app] + others), place,
            sessions.map(\.startedAt).min().map { time($0) } ?? "",
            sessions.map(\.renewedAt).max().map { time($0) } ?? "",
        ]
    }

    // MARK: Passkeys and identities

    private func credentials(of user: User, _ facts: UserOverview, _ path: PagePath) -> [ConsoleBlock] {
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
                        .acts(facts.passkeys.compactMap { removal(of: $0, user, path) }),
                    ]))
        }
        blocks.append(secondFactors(of: user, facts, path))
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
}
