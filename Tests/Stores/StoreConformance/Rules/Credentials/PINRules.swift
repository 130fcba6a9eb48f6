public import Sessions
import Testing

extension Fixture {
    /// A PIN with every member set.
    fileprivate static func pin(of session: Session, at: Instant = start, _ byte: UInt8 = 7) -> PIN {
        PIN(
            sessionID: session.id, userID: session.userID, macHash: [UInt8](repeating: byte, count: 32),
            replacing: [UInt8](repeating: byte + 1, count: 32), wrongCount: 2, createdAt: at,
            changedAt: at + .seconds(5))
    }

    /// What a device sends for a PIN.
    fileprivate static func mac(_ byte: UInt8) throws -> PIN.MAC {
        try #require(PIN.MAC([UInt8](repeating: byte, count: PIN.MAC.byteCount)))
    }
}

extension Store {
    fileprivate func given(_ pin: PIN) async throws -> PIN {
        let isFound = try await updatePIN(of: pin.sessionID) { change in
            change.pin = pin
            return true
        }
        guard isFound == true else { throw Unexpected("no such session") }
        return pin
    }

    /// A session of a new user on each of those devices, with its PIN.
    fileprivate func givenPINs(_ devices: [String]) async throws -> (user: User, pins: [PIN]) {
        let user = try await given(Fixture.user())
        var pins: [PIN] = []
        for device in devices {
            pins.append(
                try await given(Fixture.pin(of: try await given(Fixture.session(of: user.id, device: device)))))
        }
        return (user, pins)
    }

    fileprivate func stored(_ pins: [PIN]) async throws -> [PIN] {
        var found: [PIN?] = []
        for pin in pins { found.append(try await self.pin(of: pin.sessionID)) }
        return found.compactMap(\.self)
    }
}

extension Store {
    /// Rotates a session, changes its device, and ends it, as refreshes do. True if all of it happened.
    public func refreshToTheEnd(_ id: Identifier<Session>) async throws -> Bool {
        let isRotated = try await updateSession(id) { change in
            change.session.child += 1
            return true
        }
        let isReported = try await updateSession(id) { change in
            change.session.device.appVersion = "2"
            return true
        }
        let isEnded = try await updateSession(id) { change in
            change.session.end(.refreshTokenReused, at: change.session.startedAt)
            return change.session.ending != nil
        }
        return isRotated == true && isReported == true && isEnded == true
    }
}

/// PINs of apps, and wrong ones at logins.
let pinRules: [StoreRule] = [
    StoreRule("a PIN comes back with every member, by its session and part by part, and is replaced and deleted") {
        store in
        let (_, pins) = try await store.givenPINs(["a", "b", "c"])
        #expect(try await store.stored(pins) == pins)
        let ordered = pins.sorted { $0.sessionID.words < $1.sessionID.words }
        #expect(try await store.pins(after: nil, limit: 2) == Array(ordered.prefix(2)))
        #expect(try await store.pins(after: ordered[1].sessionID, limit: 2) == [ordered[2]])
        #expect(try await store.pins(after: nil, limit: 0).isEmpty)
        var other = pins[0]
        (other.macHash, other.replacedMACHash, other.wrongCount, other.changedAt) = (
            [UInt8](repeating: 9, count: 32), nil, 0, .init(secondsSinceEpoch: 9)
        )
        #expect(try await store.given(other) == other)
        #expect(try await store.pin(of: other.sessionID) == other)
        let events = try await store.events(after: 0, limit: 99, userID: nil, sessionID: nil).count
        let removed = try await store.updatePIN(of: other.sessionID) { change in
            change.pin = nil
            change.events.append(
                AuditEvent(.pinRemoved, at: Fixture.start, by: Fixture.admin, session: change.record.session))
            return change.record.user?.id
        }
        #expect(removed == pins[0].userID)
        #expect(try await store.pin(of: other.sessionID) == nil)
        #expect(try await store.events(after: 0, limit: 99, userID: nil, sessionID: nil).count == events + 1)
        #expect(try await store.updatePIN(of: Fixture.sessionID()) { _ in true } == nil)
    },
    StoreRule("a PIN ends with its session at each kind of end, with its user, and with a session that is forgotten") {
        store in
        let domain = try await DomainFixture(store, WallClock { Fixture.start })
        _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
        let (user, pins) = try await store.givenPINs(["a", "b", "c", "d"])
        // The statement that ends one session is that of refreshes, which leave PINs alone.
        try await domain.admin.endSession(pins[0].sessionID, by: Fixture.admin)
        try await store.forgetEnded()
        #expect(try await store.stored(pins) == Array(pins.dropFirst()))
        _ = try await domain.accounts.endSessions(of: user.id, onDevice: "b", from: Fixture.admin)
        #expect(try await store.stored(pins) == Array(pins.dropFirst(2)))
        _ = try await store.updateSession(pins[2].sessionID) { $0.session.end(.loggedOut, at: Fixture.start) }
        try await store.forgetEnded()
        #expect(try await store.stored(pins) == [pins[3]])
        let again = try await store.given(Fixture.session(of: user.id, device: "d"))
        #expect(try await store.stored(pins).isEmpty, "a new login on the device has ended the session")
        let last = try await store.given(Fixture.pin(of: again))
        _ = try await domain.admin.deleteUser(.id(user.id), by: Fixture.admin)
        #expect(try await store.stored([last]).isEmpty)
        #expect(try await store.pins(after: nil, limit: 9).isEmpty)
    },
    StoreRule("an imported PIN is written with its living session, unless a newer one is stored or it was removed") {
        store in
        let (_, pins) = try await store.givenPINs(["a", "b", "c"])
        let (kept, older, gone) = (pins[0], pins[1], pins[2])
        var newer = older
        newer.changedAt = older.changedAt + .seconds(1)
        var stale = kept
        (stale.wrongCount, stale.changedAt) = (0, kept.changedAt)
        _ = try await store.updatePIN(of: gone.sessionID) { change in
            change.pin = nil
            change.events.append(
                AuditEvent(
                    .pinRemoved, at: gone.changedAt, by: Fixture.admin, session: change.record.session))
        }
        let unknown = PIN(
            sessionID: Fixture.sessionID(), userID: gone.userID, macHash: gone.macHash, createdAt: Fixture.start,
            changedAt: Fixture.start)
        let foreign = PIN(
            sessionID: gone.sessionID, userID: Fixture.userID(), macHash: gone.macHash, createdAt: Fixture.start,
            changedAt: Fixture.start)
        let outcomes = try await store.importPINs([stale, newer, gone, unknown, foreign], .keeping(ImportLedger()))
        #expect(outcomes == [.kept, .written, .differs, .kept, .unknownUser])
        #expect(try await store.stored(pins) == [kept, newer], "a wrong PIN more is not forgotten")
        var tried = kept
        tried.wrongCount += 1
        #expect(try await store.importPINs([tried, kept], .keeping(ImportLedger())) == [.written, .kept])
        #expect(try await store.stored([tried]) == [tried], "a wrong PIN more comes along with a later export")
        #expect(try await store.importPINs([gone], .replacing) == [.written])
        #expect(try await store.stored([gone]) == [gone])
    },
    StoreRule("wrong PINs at two logins at once, from two nodes, are counted one by one, and the third one locks") {
        store in
        let first = try await DomainFixture(store, WallClock { Fixture.start })
        let nodes = [first, first.anotherNode()]
        for id in [Client.mobileID, "tv"] {
            _ = try await first.admin.createClient(id: id, by: Fixture.admin) {
                $0.grantTypes.append(.deviceCode); return nil
            }
        }
        _ = try await first.admin.createUser(
            username: "anna", password: DomainFixture.password, profile: User.Profile(), offlineSessionMax: nil,
            by: Fixture.admin)
        let phone = try await first.session(of: "anna")
        let evidence = PresenceEvidence(password: DomainFixture.password)
        let right = try Fixture.mac(1)
        _ = try await first.accounts.setPIN(right, by: .evidence(evidence), in: phone, from: Fixture.admin)
        var logins: [Identifier<Session>] = []
        for _ in 0..<2 {
            let login = try await first.services.phoneLogins.openInApp(
                clientID: "tv", by: phone, key: nil, from: Fixture.admin)
            logins.append(login.id)
        }
        let wrong = try Fixture.mac(2)
        let words = try await gather(16) { [logins] number -> String in
            do throws(ServiceError) {
                _ = try await nodes[number % 2].services.phoneLogins.proveFactor(
                    wrong, number: nil, on: logins[number / 2 % 2], by: phone, key: nil, from: Fixture.admin)
                return "accepted"
            } catch {
                guard case .login(let refusal) = error else { return "\(error)" }
                if case .wrongPIN(let left) = refusal { return "\(refusal.word) \(left)" }
                return refusal.word
            }
        }
        #expect(words.sorted() == [String](repeating: "pin_locked", count: 14) + ["wrong_pin 1", "wrong_pin 2"])
        #expect(try await store.pin(of: phone.session.id)?.wrongCount == PIN.wrongMax)
        let kinds = try await store.events(after: 0, limit: 99, userID: phone.user.id, sessionID: nil).map(\.event)
        #expect(kinds.count { $0.kind == .loginFailed && $0.reason == "wrong_pin" } == 3)
        #expect(kinds.count { $0.kind == .pinLocked } == 1)
        await #expect(throws: ServiceError.login(.pinLocked)) {
            _ = try await first.services.phoneLogins.proveFactor(
                right, number: nil, on: logins[0], by: phone, key: nil, from: Fixture.admin)
        }
        let approved = try await first.services.phoneLogins.proveFactor(
            evidence, number: nil, on: logins[0], by: phone, key: nil, from: Fixture.admin)
        #expect(approved.state == .approved, "a locked PIN ends no login")
        #expect(try await store.pin(of: phone.session.id)?.wrongCount == 0)
        let again = try await first.services.phoneLogins.proveFactor(
            right, number: nil, on: logins[1], by: phone, key: nil, from: Fixture.admin)
        #expect(again.state == .approved)
    },
]
