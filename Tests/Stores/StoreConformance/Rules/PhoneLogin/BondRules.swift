import Sessions
import Testing

extension Store {
    /// A phone with two sessions that it has let in, which depend on it, and one that does not.
    fileprivate func givenPhone(
        _ name: String = "anna"
    ) async throws -> (phone: Session, bonded: [Session], free: Session) {
        let user = try await given(Fixture.user(name))
        let phone = try await given(Fixture.session(of: user.id))
        var sessions: [Session] = []
        for (number, bond) in [PhoneLogin.Bond.session, .ping(.seconds(300)), .none].enumerated() {
            sessions.append(try await letIn(by: phone, bond: bond, device: "tv-\(number)"))
        }
        return (phone, Array(sessions.prefix(2)), sessions[2])
    }

    /// The session of a device that the phone lets in.
    fileprivate func letIn(by phone: Session, bond: PhoneLogin.Bond = .session, device: String) async throws -> Session
    {
        var request = PhoneLogin.Request()
        let secret = Fixture.sessionID().bytes
        (request.pollHash, request.factorRule, request.knownUsers) = (secret, .notRequired, [phone.userID])
        let login = PhoneLogin(
            id: Fixture.sessionID(), kind: .device, clientID: Client.mobileID, bond: bond, request: request,
            startedAt: Fixture.start,
            inputUntil: Fixture.start + .seconds(180))
        #expect(try await requestLogin(login))
        for act in [PhoneLogin.Act.claim(.scanned, PhoneLogin.Wishes()), .confirm(number: 42)] {
            let answer = try await changeLogin(login.id, phone: phone.id) { change in
                Self.decide(act, &change)
            }
            #expect(answer == .accepted)
        }
        let started = try await collectLogin(poll: secret, deviceID: device, by: Fixture.admin) {
            collection -> Session? in
            guard Self.decide(.collect(browser: nil), &collection.change) == .collected else { return nil }
            var session = Fixture.session(of: phone.userID, device: device, id: login.id)
            if collection.change.login.isLoggedIn { session.phoneID = phone.id }
            session.probationUntil = Fixture.start + .seconds(86_400)
            collection.opening?.session = session
            return session
        }
        let session = try #require(started ?? nil)
        #expect(try await stored(session.id) == session)
        return session
    }

    fileprivate static func decide(_ act: PhoneLogin.Act, _ change: inout PhoneLoginChange) -> PhoneLogin.Reply {
        let call = PhoneLoginAttempt(
            act, phone: change.phone.map { Phone($0.session) },
            claimant: change.claimant.map { Phone($0.session) }, drawnNumber: 42)
        let outcome = PhoneLoginPolicy().decide(call, on: change.login, at: Fixture.start)
        change.login = outcome.login
        return outcome.reply
    }

    fileprivate func reason(_ session: Session) async throws -> EndReason? {
        try await stored(session.id).ending?.reason
    }

    fileprivate func phase(_ session: Session) async throws -> PhoneLogin.Phase? {
        try await phoneLogin(.id(session.id))?.state.phase
    }

    fileprivate func end(_ session: Session, _ reason: EndReason) async throws {
        let done: Void? = try await updateSessionAndCompanions(session.id, by: Fixture.admin) { change in
            change.session.end(reason, at: Fixture.start)
            change.events.append(AuditEvent(.sessionEnded, at: Fixture.start, by: Fixture.admin, session: session))
        }
        #expect(done != nil)
    }
}

/// What ends with the session of a phone, and what moves with it.
let bondRules: [StoreRule] = [
    StoreRule("each recorded end of a phone's session ends what depends on it, and nothing else") { store in
        let reasons: [EndReason] = [.loggedOut, .revokedByUser, .revokedByAdmin, .refreshTokenReused, .notMe]
        for (number, reason) in reasons.enumerated() {
            let (phone, bonded, free) = try await store.givenPhone("user-\(number)")
            #expect(try await store.hasDependents(phone.id))
            try await store.end(phone, reason)
            #expect(try await store.reason(phone) == reason)
            for session in bonded {
                #expect(try await store.reason(session) == .parentEnded)
                #expect(try await store.phase(session) == .signedOut)
            }
            #expect(try await store.reason(free) == nil)
            #expect(try await store.phase(free) == .completed)
            let events = try await store.events(after: 0, limit: 50, userID: nil, sessionID: bonded[0].id)
            #expect(events.map(\.event.kind) == [.sessionEnded])
            #expect(events.map(\.revocation?.kind) == [.sessionEnded])
        }
    },
    StoreRule("the end of what depends on a phone is noted in its login, and the phone goes on") { store in
        let (phone, bonded, free) = try await store.givenPhone()
        try await store.end(bonded[0], .idleExpired)
        try await store.end(free, .loggedOut)
        #expect(try await store.phase(bonded[0]) == .signedOut)
        #expect(try await store.phoneLogin(.id(bonded[0].id))?.cause?.rawValue == "idle_expired")
        #expect(try await store.phase(free) == .completed)
        for session in [phone, bonded[1]] { #expect(try await store.reason(session) == nil) }
    },
    StoreRule("a login that replaces the phone's session takes over what depends on it") { store in
        let (phone, bonded, _) = try await store.givenPhone()
        let next = try await store.given(Fixture.session(of: phone.userID))
        #expect(try await store.reason(phone) == .replaced)
        for session in bonded {
            let moved = try await store.stored(session.id)
            #expect(moved.phoneID == next.id && moved.ending == nil)
            #expect(try await store.phoneLogin(.id(session.id))?.claim?.sessionID == next.id)
        }
        try await store.end(next, .loggedOut)
        for session in bonded { #expect(try await store.reason(session) == .parentEnded) }
    },
    StoreRule("a change of the user that ends the phone's sessions ends what depends on them, asker or not") { store in
        let (phone, bonded, free) = try await store.givenPhone()
        _ = try await store.updateUser(.id(phone.userID)) { change in
            change.ending = .init(.revokedByUser, at: Fixture.start, deviceID: phone.device.id)
        }
        for session in bonded { #expect(try await store.reason(session) == .parentEnded) }
        #expect(try await store.reason(free) == nil)
    },
    StoreRule("where all sessions of a user end, each has the reason of the change, and its login an end") { store in
        let (phone, bonded, free) = try await store.givenPhone()
        _ = try await store.updateUser(.id(phone.userID)) { change in
            change.ending = .init(.passwordChanged, at: Fixture.start, except: phone.id)
        }
        for session in bonded + [free] { #expect(try await store.reason(session) == .passwordChanged) }
        for session in bonded { #expect(try await store.phase(session) == .signedOut) }
        #expect(try await store.reason(phone) == nil)
    },
    StoreRule("the logins of a deleted user are those of a deleted user, and no others") { store in
        let (phone, bonded, free) = try await store.givenPhone()
        let (_, others, _) = try await store.givenPhone("other")
        _ = try await store.updateUser(.id(phone.userID)) { $0.deletes = true }
        for session in bonded + [free] {
            #expect(try await store.phase(session) == .deleted)
            #expect(try await store.reason(session) == .userDeleted)
        }
        for session in others { #expect(try await store.phase(session) == .signedIn) }
    },
    StoreRule("a provider that no longer confirms the phone's session ends what depends on it") { store in
        let (phone, bonded, _) = try await store.givenPhone()
        let done: Void? = try await store.updateProviderCheck(phone.id) { change in
            change.session.end(.revokedByProvider, at: Fixture.start)
        }
        #expect(done != nil)
        for session in bonded { #expect(try await store.reason(session) == .parentEnded) }
    },
    StoreRule("what was let in by what a phone has let in ends with the phone") { store in
        let (phone, bonded, _) = try await store.givenPhone()
        let last = try await store.letIn(by: bonded[0], device: "tv-9")
        try await store.end(phone, .loggedOut)
        #expect(try await store.reason(last) == .parentEnded)
    },
    StoreRule("the state of the phone comes with the session that depends on it, and with no other") { store in
        let (phone, bonded, free) = try await store.givenPhone()
        let record = try #require(try await store.wholeSession(bonded[1].id))
        guard case .known(let found, _, let login)? = record.phone else { throw Unexpected("no phone") }
        #expect(found.id == phone.id && login?.id == bonded[1].id)
        for session in [phone, free] { #expect(try await store.wholeSession(session.id)?.phone == nil) }
    },
    StoreRule("logins are listed by user and by state, the newest first, and counted while they wait") { store in
        let (phone, bonded, free) = try await store.givenPhone()
        let (_, others, _) = try await store.givenPhone("other")
        let all = try await store.phoneLogins(ofUser: phone.userID, in: nil, after: nil, limit: 2)
        let cursor = try #require(all.nextCursor.flatMap { SessionCursor($0) })
        let rest = try await store.phoneLogins(ofUser: phone.userID, in: nil, after: cursor, limit: 2)
        #expect(Set((all.items + rest.items).map(\.id)) == Set((bonded + [free]).map(\.id)))
        #expect(rest.nextCursor == nil)
        let active = try await store.phoneLogins(ofUser: nil, in: .signedIn, after: nil, limit: 50)
        #expect(Set(active.items.map(\.id)) == Set((bonded + others).map(\.id)))
        let waiting = PhoneLogin(
            id: Fixture.sessionID(), kind: .device, clientID: Client.mobileID, startedAt: Fixture.start,
            inputUntil: Fixture.start + .seconds(180))
        #expect(try await store.requestLogin(waiting, atMost: 1))
        #expect(try await store.requestLogin(waiting, atMost: 1) == false)
        #expect(try await store.phoneLogins(dueBy: Fixture.start + .seconds(179), limit: 9).isEmpty)
        let due = try await store.phoneLogins(dueBy: Fixture.start + .seconds(180), limit: 9)
        #expect(due == [waiting.id])
        #expect(try await store.phoneLogins(dueBy: Fixture.start + .seconds(300), limit: 9).count == 3)
    },
    StoreRule("the row of a session that depends on a phone is kept as long as the session lives") { store in
        let (_, bonded, _) = try await store.givenPhone()
        let late = Fixture.start + .seconds(1)
        #expect(try await store.sweepLogins(before: late, limit: 9) == RowSweep(looks: 3, deleted: 1))
        #expect(
            try await store.sweepLogins(before: late, limit: 9).looks == 0, "they are looked at when they may be over")
        try await store.end(bonded[0], .loggedOut)
        // The look at the sessions, less the time for which logins are kept, is before their start.
        let next = late + .seconds(1)
        #expect(try await store.sweepLogins(before: next, limit: 9) == RowSweep(looks: 2, deleted: 1))
        #expect(try await store.phoneLogin(.id(bonded[1].id)) != nil)
    },
]
