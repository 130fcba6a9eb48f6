internal import AdminActs
internal import HTTP
public import Pages
public import Sessions

extension ConsoleView {
    /// The page of a session.
    public func session(_ facts: SessionOverview) -> ConsolePage {
        let record = facts.record
        let session = record.session
        let lifetimes = policy.lifetimes(settings: record.settings, client: record.client, user: record.user)
        let ending = policy.ending(of: record, at: now)
        let path = Self.path(ofSession: session.id)
        var blocks: [ConsoleBlock] = [.explanation(explanation(record, ending, lifetimes, facts.history))]
        let pin = ending == nil ? facts.pin : nil
        if ending == nil {
            blocks.append(.acts([end(record, path), pin.flatMap { _ in removePIN(record, path) }].compactMap(\.self)))
        }
        blocks.append(
            .section(
                "Lifetime",
                [
                    .lifetime(
                        LifetimeDrawing(
                            start: session.startedAt.secondsSinceEpoch, refreshed: session.renewedAt.secondsSinceEpoch,
                            now: now.secondsSinceEpoch, idleEnd: lifetimes.idleEnd(of: session).secondsSinceEpoch,
                            finalEnd: lifetimes.finalEnd(of: session).secondsSinceEpoch,
                            ended: ending?.at.secondsSinceEpoch)),
                    .list([
                        idleSource(record, lifetimes, isOver: ending != nil),
                        maximumSource(record, lifetimes, isOver: ending != nil),
                    ]),
                ]))
        blocks.append(rotation(facts, ending))
        blocks.append(
            .section("Session", [.facts(self.facts(record, facts.check) + self.facts(pin) + relatives(facts))]))
        blocks.append(
            .section(
                "Events",
                [events(facts.events, names: names(record), empty: "The audit trail has nothing about it any more.")]))
        return page(
            .users, device(session.device),
            heading: """
                Session of \(Self.named(session.userID, record.user?.username)) on \(name: device(session.device))
                """,
            blocks)
    }

    private func names(_ record: SessionRecord) -> Usernames {
        record.user.map { [$0.id: $0.username] } ?? [:]
    }

    /// Whether the device is logged out, why, and what to do.
    private func explanation(
        _ record: SessionRecord, _ ending: Session.Ending?, _ lifetimes: Lifetimes, _ history: [RecordedEvent]
    ) -> [ConsoleText] {
        let session = record.session
        let user: ConsoleText =
            record.user.map { Self.link($0.id, $0.username) }
            ?? "\(link: Self.path(ofUser: session.userID), "A deleted user")"
        var sentences: [ConsoleText] = [
            """
            \(user) logged in to \(name: record.client?.name ?? session.clientID) on \(name: device(session.device)) \
            \(time(session.startedAt)). The last refresh was \(time(session.renewedAt)).
            """
        ]
        guard let ending else {
            sentences.append(
                """
                The session is active. Without a refresh it ends \(time(lifetimes.idleEnd(of: session))), and in any case \
                \(time(lifetimes.finalEnd(of: session))). If the app says it is logged out, it has lost its token, or took an \
                error for a logout: only an answer with \(code: "reauthenticate: true") means one.
                """)
            if let refusal = record.user?.loginRefusal {
                sentences.append(
                    "But refreshes are refused now, so that the session waits: \(sentence: refusal.sentence)")
            }
            return sentences
        }
        let (meaning, advice) = ending.reason.explanation
        sentences.append(
            "It ended \(time(ending.at)): \(name: Self.plain(ending.reason.rawValue)). \(sentence: meaning)")
        if ending.reason == .revokedByAdmin, let event = cause(of: ending, in: history) {
            sentences.append("It was \(actor(event.actor)).")
        }
        sentences.append("\(sentence: advice)\(remedy(ending.reason, record))")
        return sentences
    }

    /// The act that ended the session together with others.
    private func cause(of ending: Session.Ending, in history: [RecordedEvent]) -> AuditEvent? {
        history.first {
            [.sessionsEnded, .sessionEnded].contains($0.event.kind) && $0.event.at == ending.at
                && $0.event.actor.hasPrefix("admin:")
        }?.event
    }

    /// Where the setting is that has ended the session.
    private func remedy(_ reason: EndReason, _ record: SessionRecord) -> ConsoleText {
        switch reason {
        case .idleExpired, .maxLifetimeReached: " \(link: PagePath("/console/settings"), "Change it for everyone")"
        case .refreshTokenReused: " \(link: Self.path(ofUser: record.session.userID), "To the user")"
        case .parentEnded, .presenceLost:
            record.session.phoneID.map { " \(link: Self.path(ofSession: $0), "Why the phone")" } ?? ""
        default: ""
        }
    }

    private func end(_ record: SessionRecord, _ path: PagePath) -> ActForm? {
        let (name, id) = (device(record.session.device), record.session.id)
        return form(
            EndSession.self, on: ActSubject(id.description), path, label: "End this session",
            question: """
                Log \(Self.named(record.session.userID, record.user?.username)) out on \(name: name)? The session cannot be \
                brought back.
                """,
            button: "End the session on \(name)", isDestructive: true)
    }

    private func removePIN(_ record: SessionRecord, _ path: PagePath) -> ActForm? {
        let (name, id) = (device(record.session.device), record.session.id)
        return form(
            RemovePIN.self, on: ActSubject(id.description), path, label: "Remove the PIN",
            question: "The session on \(name: name) goes on, and approves logins by other factors.",
            button: "Remove the PIN on \(name)", isDestructive: true)
    }

    private func facts(_ pin: PIN?) -> [(name: String, value: ConsoleText)] {
        guard let pin else { return [] }
        let left = Self.counted("\(pin.attemptsLeft)", "wrong one")
        return [("PIN", "set \(time(pin.changedAt)), \(pin.isLocked ? "locked" : "\(left) left")")]
    }

    private func relatives(_ family: SessionOverview) -> [(name: String, value: ConsoleText)] {
        [
            (
                "Let in by a phone",
                family.login.map { "\(link: Self.path(ofLogin: $0.id), "the login") \(time($0.startedAt))" } ?? ""
            ),
            (
                "Ends with the session of the phone",
                family.phone.map(relative) ?? ""
            ),
            (
                "Sessions that end with it",
                .joined(family.children.map(relative))
            ),
        ]
    }

    /// The device and the app of a session.
    private func relative(_ session: Session) -> ConsoleText {
        "\(link: Self.path(ofSession: session.id), device(session.device)) (\(session.clientID))"
    }

    // MARK: Lifetimes

    private func idleSource(_ record: SessionRecord, _ lifetimes: Lifetimes, isOver: Bool) -> ConsoleText {
        let source = record.client?.offlineSessionIdle.map { $0 > .zero } == true ? "the client" : "the settings"
        let idle = Self.span(lifetimes.idle)
        return isOver
            ? "It was to end when it was not refreshed for \(name: idle): by \(source), as they are today."
            : "Ends if it is not refreshed for \(name: idle): by \(source)."
    }

    /// What cuts the longest life: the shortest of four limits.
    private func maximumSource(_ record: SessionRecord, _ lifetimes: Lifetimes, isOver: Bool) -> ConsoleText {
        let settings = record.settings
        var source = "sessions.absolute_max_lifetime in the configuration file"
        if settings.sessions.offlineSessionMaxLimited, settings.sessions.offlineSessionMax == lifetimes.maximum {
            source = "the settings (offline_session_max)"
        }
        if record.client?.offlineSessionMax == lifetimes.maximum { source = "the client's own maximum" }
        if record.user?.offlineSessionMax == lifetimes.maximum { source = "the user's own maximum" }
        if record.client?.staysLoggedIn == false { source = "the client, whose users do not stay logged in" }
        let maximum = Self.span(lifetimes.maximum)
        return isOver
            ? "It was to end in any case after \(name: maximum): by \(source), as it is today."
            : "Ends in any case after \(name: maximum): by \(source)."
    }

    // MARK: Rotation

    private func rotation(_ facts: SessionOverview, _ ending: Session.Ending?) -> ConsoleBlock {
        let (record, session) = (facts.record, facts.record.session)
        let interval = record.settings.sessions.rotationInterval
        let due = session.childAnsweredAt + interval
        var blocks: [ConsoleBlock] = [
            .rotation(
                RotationDrawing(
                    parent: session.parent, child: session.child, answered: session.childAnsweredAt.secondsSinceEpoch,
                    rotationDue: due.secondsSinceEpoch, isLiving: ending == nil))
        ]
        var sentences: [ConsoleText] = [
            "The newest refresh token, number \(Int(session.child)), was last given out \(time(session.childAnsweredAt))."
        ]
        if ending == nil {
            sentences.append(
                "It rotates when it comes back \(now < due ? "after" : "from now on, since") \(time(due)).")
        }
        if let confirmed = session.childConfirmedAt {
            sentences.append("It has arrived: the app has used it \(time(confirmed)).")
        }
        if ending != nil {
            sentences.append("If the app refreshes with any of them: \(next(facts, session.child))")
        } else if record.client?.staysLoggedIn != false {
            sentences.append("If the app refreshes with the newest one: \(next(facts, session.child))")
            if session.parent > 0 {
                sentences.append("If it sends the one before: \(next(facts, session.parent))")
            }
            if session.parent > 1 {
                sentences.append("If somebody sends an older one: \(next(facts, session.parent - 1))")
            }
        } else {
            sentences.append("The client has no refresh tokens: its session ends with its one access token.")
        }
        if ending == nil, session.keyThumbprint != nil {
            sentences.append(
                "Each refresh needs a proof of the key of the device (DPoP), so that a stolen token opens nothing.")
        }
        blocks.append(.list(sentences))
        return .section("Refresh tokens", blocks)
    }

    private func next(_ facts: SessionOverview, _ serial: UInt64) -> ConsoleText {
        facts.decisions[serial].map { answer($0, serial: serial, facts.record) } ?? ""
    }

    /// What a refresh answers, in a sentence.
    func answer(_ decision: RefreshDecision, serial: UInt64, _ record: SessionRecord) -> ConsoleText {
        let child = record.session.child
        return switch decision {
        case .repeated: "the same refresh token again, number \(Int(child)), with a new access token."
        case .rotated: "a new refresh token, number \(Int(serial + 1)), with a new access token."
        case .converged: "the newest refresh token again, number \(Int(child)): a lost answer logs nobody out."
        case .reissued:
            "a new refresh token, number \(Int(child + 1)), because number \(Int(child)) never arrived and is dead from then on."
        case .caughtUp: "the newest refresh token, because the key of the device proves that it is the right one."
        case .restored: "a new refresh token: the session goes on as before the backup."
        case .resumed: "the newest refresh token, by the key of the device."
        case .stale: "an error that means: send the request again."
        case .undecided: "an error that means: try again, because the clock of the server is in doubt."
        case .unconfirmed:
            "an error that means: try again, because the identity provider has not confirmed the user yet."
        case .refused(.insufficientUserAuthentication):
            "a demand that the user proves to be present first. The session is kept."
        case .refused(.ended(.refreshTokenReused)) where policy.ending(of: record, at: now) == nil:
            "a refusal that ends the session: it is taken for a stolen copy."
        case .refused(let reason): "a refusal. \(sentence: reason.sentence)"
        }
    }

    // MARK: Facts

    /// What the device asks of its user before it uses the token.
    private static func guarding(_ mode: AuthenticationMode) -> ConsoleText {
        switch mode {
        case .no: "nothing is asked"
        case .biometric: "the device asks for face or finger"
        case .password: "the app asks for the password"
        }
    }

    private func facts(_ record: SessionRecord, _ check: ProviderCheck?) -> [(name: String, value: ConsoleText)] {
        let session = record.session
        var facts: [(name: String, value: ConsoleText)] = [
            ("Id", "\(code: session.id.description)"), ("App", "\(code: session.clientID)"),
            ("Device id", "\(code: session.device.id)"), ("Platform", "\(session.device.platform ?? "")"),
            ("Version of the app", "\(session.device.appVersion ?? "")"),
            ("Before the app opens", Self.guarding(session.authenticationMode)),
            ("Authenticated by", "\(session.shownMethods.joined(separator: ", "))"),
            ("Scope", "\(session.scope.description)"),
            ("Bound to a key", session.keyThumbprint.map { "\(code: $0)" } ?? "no"),
            (
                "Without its tokens",
                session.deviceKey == nil ? "the user logs in again" : "the device's key gets new ones"
            ),
            ("Attestation", "\(session.attestation ?? "")"),
        ]
        if let confirmation = session.confirmation {
            facts.append(("Identity provider", "\(confirmation.provider)"))
            facts.append(("Confirmed by it", time(confirmation.at)))
        }
        if let failing = check?.failingSince { facts.append(("It fails to confirm since", time(failing))) }
        return facts
    }
}
