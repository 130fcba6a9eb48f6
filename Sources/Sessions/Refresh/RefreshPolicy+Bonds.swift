// Sessions that depend on the session of a phone: how they end with it.

/// The phone on which a session depends, as it stands.
public indirect enum BondedPhone: Hashable, Sendable {
    /// There is no session with that id any more.
    case forgotten
    /// The session of the phone with its client, and the login in which the phone let the other device in; nil: that row is
    /// gone, or was not imported.
    case known(Session, client: Client?, login: PhoneLogin?)
}

extension PhoneLogin {
    /// From when the phone counts as gone, by its answers and its renewals; nil: the bond does not depend on answers.
    func silentUntil(_ phone: Session, _ settings: Settings) -> Instant? {
        bond.interval.map { settings.restores.idleStart(max(answeredAt ?? startedAt, phone.renewedAt), $0) + $0 }
    }
}

extension RefreshPolicy {
    /// How the phone ends the session of `record` at `now`; nil: it does not, or was not read. The phone has the same user.
    func bondEnding(of record: SessionRecord, at now: Instant) -> Session.Ending? {
        guard record.session.phoneID != nil, let state = record.phone else { return nil }
        guard case .known(let phone, let client, let login) = state else {
            return Session.Ending(reason: .parentEnded, at: now)
        }
        let phoneRecord = SessionRecord(session: phone, user: record.user, client: client, settings: record.settings)
        if let ending = ending(of: phoneRecord, at: now) {
            return Session.Ending(reason: .parentEnded, at: max(ending.at, record.session.startedAt))
        }
        guard let silent = login?.silentUntil(phone, record.settings), now >= silent else { return nil }
        return Session.Ending(reason: .presenceLost, at: silent)
    }

    /// When the session of `record` ends with its phone, if the phone does nothing more; nil: it depends on none.
    func bondEnd(of record: SessionRecord) -> Instant? {
        guard case .known(let phone, let client, let login)? = record.phone else { return nil }
        let lifetimes = lifetimes(settings: record.settings, client: client, user: record.user)
        return [
            lifetimes.idleEnd(of: phone), lifetimes.finalEnd(of: phone), login?.silentUntil(phone, record.settings),
        ]
        .compactMap(\.self).min()
    }

    /// Ends the session of `change` if its phone ends it; nil: it goes on, or has ended before.
    func endByBond(
        _ change: inout SessionChange, from origin: Origin, at time: ClockGuard.Reading
    ) -> RefreshAttempt.Verdict? {
        let recorded = recordedEnding(
            of: change.session, user: change.user, client: change.client, settings: change.settings, now: time.now)
        guard recorded == nil, let ending = bondEnding(of: change.record, at: time.now) else { return nil }
        guard bondEnding(of: change.record, at: time.earliest) != nil else { return .failed(.store(.clockInDoubt)) }
        var session = change.session
        session.end(ending.reason, at: ending.at)
        change.keep(session, endedBy: origin, at: time.now)
        return .refused(.refused(.ended(ending.reason)), session.userID)
    }
}
