internal import AdminActs
internal import HTTP
public import Pages
public import Sessions

extension ConsoleView {
    /// Which logins a list has.
    public struct LoginFilter: Sendable {
        let user: User?
        /// What was looked for as a user.
        let name: String
        let phase: PhoneLogin.Phase?
        /// Whether no user has the name.
        let isUnknown: Bool
        let isFirstPage: Bool

        /// The logins of a user, or of all, in a phase or in any.
        ///
        /// - Parameters:
        ///   - name: what was looked for as a user.
        ///   - isUnknown: whether no user has the name.
        public init(
            user: User? = nil, name: String, phase: PhoneLogin.Phase?, isUnknown: Bool = false, isFirstPage: Bool = true
        ) {
            (self.user, self.name, self.phase) = (user, name, phase)
            (self.isUnknown, self.isFirstPage) = (isUnknown, isFirstPage)
        }
    }

    /// The page of a login.
    public static func path(ofLogin id: some CustomStringConvertible) -> PagePath {
        PagePath.consoleLogins.appending("\(id)")
    }

    /// The logins of a user, or of all.
    public func logins(_ filter: LoginFilter, _ logins: Page<PhoneLogin>?) -> ConsolePage {
        var blocks: [ConsoleBlock] = [.form(Self.form(of: filter))]
        if let user = filter.user {
            blocks.append(
                .text(
                    """
                    Logins that phones of \(Self.link(user.id, user.username)) have claimed, and invitations of \
                    the user.
                    """))
        }
        if let logins {
            blocks.append(
                .table(
                    ConsoleTable(
                        "Logins with a phone",
                        columns: ["Login", "When", "App", "State", "Cause", "From", "Phone"],
                        rows: logins.items.map(row), empty: "No login here matches.")))
            blocks.append(
                .pages(
                    newer: filter.isFirstPage ? nil : Self.path(of: filter, after: nil),
                    older: logins.nextCursor.map { Self.path(of: filter, after: $0) }))
        }
        return page(
            .logins, "Logins", lead: "Logins on other devices that a phone lets in.",
            notice: filter.isUnknown ? (.bad, "No user has the name or id \(name: filter.name).") : nil, blocks)
    }

    private static func path(of filter: LoginFilter, after cursor: String?) -> PagePath {
        let pairs = [
            ("user", filter.user.map(\.id.description)), ("phase", filter.phase?.rawValue), ("cursor", cursor),
        ]
        let query = pairs.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode($0))" } }
        let text = PagePath.consoleLogins.text + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        return PagePath(checking: text) ?? .consoleLogins
    }

    private static func form(of filter: LoginFilter) -> ConsoleForm {
        ConsoleForm(
            .consoleLogins, isQuery: true,
            fields: [
                .text("user", label: "User: username, e-mail or id", value: filter.user?.username ?? filter.name),
                .choice(
                    "phase", label: "State",
                    [(value: "", label: "any")]
                        + PhoneLogin.Phase.allCases.map { (value: $0.rawValue, label: word(for: $0)) },
                    chosen: filter.phase?.rawValue ?? ""),
            ], button: "Show", isLine: true)
    }

    private func row(_ login: PhoneLogin) -> [ConsoleText] {
        [
            "\(link: Self.path(ofLogin: login.id), Self.beginning(login.kind))", time(login.startedAt),
            "\(login.clientID)",
            state(login), cause(login), from(login.request.remoteAddress),
            login.claim.map { "\(link: Self.path(ofSession: $0.sessionID), $0.deviceID)" } ?? "none yet",
        ]
    }

    /// The page of a login with a phone.
    public func login(_ facts: PhoneLoginOverview) -> ConsolePage {
        let login = facts.login
        let path = Self.path(ofLogin: login.id)
        var blocks: [ConsoleBlock] = [.explanation(explanation(facts))]
        let isLiving = facts.session.map { policy.ending(of: $0, at: now) == nil } ?? !login.state.isFinal
        if isLiving { blocks.append(.acts([end(facts, path)].compactMap(\.self))) }
        blocks += [
            .section("The device that wants in", [.facts(device(facts))]),
            .section("The phone", phone(facts)),
            .section("The login", [.facts(self.facts(facts))]),
            .section(
                "Events",
                [events(facts.events, names: facts.names, empty: "The audit trail has nothing about it any more.")]),
        ]
        let app = facts.client?.name ?? login.clientID
        return page(.logins, "Login to \(app)", heading: "Login to \(name: app)", blocks)
    }

    // MARK: Sentences

    private func explanation(_ facts: PhoneLoginOverview) -> [ConsoleText] {
        let login = facts.login
        var sentences: [ConsoleText] = [
            """
            \(sentence: Self.beginning(login.kind)) asked for a login to \(name: facts.client?.name ?? login.clientID) \
            \(time(login.startedAt)).
            """
        ]
        if let claim = login.claim {
            let phone = facts.phone.map { device($0.session.device) } ?? claim.deviceID
            sentences.append(
                """
                \(link: Self.path(ofUser: claim.userID), facts.names[claim.userID] ?? "A deleted user") has claimed it on the phone \
                \(link: Self.path(ofSession: claim.sessionID), phone), \(sentence: Self.way(claim.arrival)).
                """)
        }
        sentences.append("\(sentence: Self.meaning(of: login))")
        if let session = facts.session {
            let link: ConsoleText = "\(link: Self.path(ofSession: session.session.id), device(session.session.device))"
            sentences.append(
                policy.ending(of: session, at: now).map {
                    "The session on \(link) ended \(time($0.at)): \(name: Self.plain($0.reason.rawValue))."
                } ?? "The session on \(link) is active.")
        }
        return sentences
    }

    private static func beginning(_ kind: PhoneLogin.Kind) -> String {
        switch kind {
        case .authorize: "A browser on the login page"
        case .device: "A device"
        case .backchannel: "A backend"
        case .app: "The app of the phone itself"
        case .enrolment: "An invitation"
        }
    }

    private static func way(_ arrival: PhoneLogin.Arrival) -> String {
        switch arrival {
        case .scanned: "which scanned the picture"
        case .linked: "by a link on the phone itself"
        case .pushed: "to which it was pushed"
        case .typed: "where the code of the device was typed"
        case .inApp: "where it began"
        }
    }

    /// What stands, or what came of the login.
    private static func meaning(of login: PhoneLogin) -> String {
        switch login.state {
        case .requested: "No phone has claimed it yet."
        case .claimed: "The app of the phone holds it until the user can act."
        case .confirming: "The user has to confirm on the phone."
        case .proving: "The user has to prove presence, by biometry or the password."
        case .approved: "The user has approved. The device has not come for its session yet."
        case .signedIn: "The device is logged in."
        case .ended(let ending): "It is over" + (ending.cause.map { ": \(meaning(of: $0))" } ?? ".")
        }
    }

    private static func meaning(of cause: PhoneLogin.Cause) -> String {
        switch cause {
        case .denied: "the user refused on the phone."
        case .canceled: "the device, or an admin, gave it up."
        case .timedOut: "nothing was done in time."
        case .notCollected: "it was approved, but the device did not come for its session in time."
        case .wrongNumber: "another number was entered than the device showed. It may be a stranger's login."
        case .contested: "a second phone presented the code. Another person may have seen the picture."
        case .secondFactorFailed: "the second factor was wrong too often."
        case .fault: "of an error of the server, which the log explains."
        case .parentEnded: "the session of the phone ended, on which it depends."
        case .presenceLost: "the phone did not answer in time, which the bond demands."
        case .ended(let reason): "the session ended. \(reason.explanation.meaning)"
        }
    }

    // MARK: Facts

    private func state(_ login: PhoneLogin) -> ConsoleText {
        let phase = login.state.phase
        let look: ConsoleLook =
            switch phase {
            case .approved, .signedIn: .good
            case .failed: .bad
            case .requested, .claimed, .confirming, .proving, .completed, .aborted, .signedOut, .deleted: .plain
            }
        return "\(badge: Self.word(for: phase), look)"
    }

    /// Why it ended, in a few words; empty before the end, and for a login of one act that succeeded.
    private func cause(_ login: PhoneLogin) -> ConsoleText { "\(login.cause.map(Self.word) ?? "")" }

    /// The word for the state of a login.
    public static func word(for phase: PhoneLogin.Phase) -> String {
        switch phase {
        case .requested: "waits for a phone"
        case .claimed: "claimed by a phone"
        case .confirming: "waits for a confirmation"
        case .proving: "waits for the second factor"
        case .approved: "approved"
        case .signedIn: "logged in"
        case .completed: "logged in for once"
        case .aborted: "given up"
        case .signedOut: "logged out"
        case .failed: "failed"
        case .deleted: "user deleted"
        }
    }

    private static func word(for cause: PhoneLogin.Cause) -> String {
        switch cause {
        case .denied: "refused"
        case .canceled: "given up"
        case .timedOut: "timed out"
        case .notCollected: "approved, but not collected"
        case .wrongNumber: "wrong number"
        case .contested: "two phones"
        case .secondFactorFailed: "second factor failed"
        case .fault: "fault of the server"
        case .parentEnded: "ended with the phone"
        case .presenceLost: "the phone fell silent"
        case .ended(let reason): "ended: \(plain(reason.rawValue))"
        }
    }

    private func device(_ facts: PhoneLoginOverview) -> [(name: String, value: ConsoleText)] {
        let login = facts.login
        return [
            ("Place and address", from(login.request.remoteAddress)),
            ("Browser or system", "\(login.request.userAgent ?? "")"),
            ("Known to the user", login.claim.map { login.isKnown(to: $0.userID) ? "yes" : "no" } ?? ""),
            ("Session", facts.session.map(session) ?? "none"),
        ]
    }

    private func session(_ record: SessionRecord) -> ConsoleText {
        "\(link: Self.path(ofSession: record.session.id), device(record.session.device)) \(state(record))"
    }

    private func phone(_ facts: PhoneLoginOverview) -> [ConsoleBlock] {
        guard let claim = facts.login.claim else { return [.text("No phone has claimed the login.")] }
        // The last act of the user on the phone says where the phone was.
        let act = facts.events.first { recorded in
            [.loginApproved, .loginClaimed, .loginAborted].contains(recorded.event.kind)
                && recorded.event.actor == Origin.userActor
        }
        return [
            .facts([
                ("Place and address", from(act?.event.remoteAddress)),
                ("Session", facts.phone.map(session) ?? "\(code: claim.sessionID.description), which is forgotten"),
                ("User", user(claim.userID, facts)),
                ("Device id", "\(code: claim.deviceID)"), ("App", "\(claim.clientID)"),
                ("Way of the claim", "\(Self.plain(claim.arrival.rawValue))"),
            ])
        ]
    }

    private func facts(_ facts: PhoneLoginOverview) -> [(name: String, value: ConsoleText)] {
        let login = facts.login
        let bond: ConsoleText =
            switch login.bond {
            case .none: "none: the session goes on without the phone"
            case .session: "the session ends with that of the phone"
            case .ping(let interval): "the session ends when the phone is silent for \(Self.span(interval))"
            }
        return [
            ("Id", "\(code: login.id.description)"), ("Kind", "\(login.kind.rawValue)"), ("State", state(login)),
            ("Cause", "\(login.cause?.rawValue ?? "")"),
            ("App", "\(link: PagePath.consoleClients.appending(login.clientID), login.clientID)"),
            ("Account", login.userID.map { user($0, facts) } ?? "not chosen"),
            ("Bond", bond), ("Requested", time(login.startedAt)),
            ("Awaits the user until", login.state.awaitsInput ? time(login.inputUntil) : ""),
            ("Approved", login.approvedAt.map { time($0) } ?? ""),
            ("Last answer of the phone", login.answeredAt.map { time($0) } ?? ""),
            ("Wrong second factors", login.wrongFactors == 0 ? "" : "\(login.wrongFactors)"),
            ("Ended", login.endedAt.map { time($0) } ?? ""),
        ]
    }

    private func user(_ id: Identifier<User>, _ facts: PhoneLoginOverview) -> ConsoleText {
        Self.link(id, facts.names[id])
    }

    private func end(_ facts: PhoneLoginOverview, _ path: PagePath) -> ActForm? {
        let id = facts.login.id
        var question: ConsoleText = "End the login before a session comes of it? The device is told that it is over."
        if let session = facts.session {
            let owner = Self.named(session.session.userID, facts.names[session.session.userID])
            question = """
                Log \(name: device(session.session.device)) of \(owner) out? The session cannot be brought back.
                """
        }
        return form(
            PhoneLoginEnding.self, on: ActSubject(id.description), path, label: "End this login", question: question,
            button: "End this login", isDestructive: true)
    }
}
