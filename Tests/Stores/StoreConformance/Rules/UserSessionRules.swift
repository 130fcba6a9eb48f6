import Locks
import Sessions
import Testing

extension Store {
    /// Adds so many sessions of a user, each on a device of its own, from then on; returns them.
    fileprivate func given(
        _ count: Int, sessionsOf user: User, from at: Instant, ending reason: EndReason? = nil
    ) async throws -> [Session] {
        let epoch = try await settings().epoch
        let sessions = (0..<count).map { number in
            var session = Session(
                id: Fixture.sessionID(), userID: user.id, clientID: Client.mobileID,
                device: Device(id: "\(Fixture.sessionID())"), startedAt: at + .seconds(number), epoch: epoch)
            if let reason { session.end(reason, at: session.startedAt) }
            return session
        }
        #expect(try await importSessions(sessions).allSatisfy { $0 == .written })
        return sessions
    }

    fileprivate func end(_ session: Session) async throws {
        try await updateSession(session.id) { $0.session.end(.loggedOut, at: session.startedAt + .seconds(1)) }
    }
}

/// The sessions of one user, however many.
let userSessionRules: [StoreRule] = [
    StoreRule("the sessions on a device are found, one of each client, and no others") { store in
        let user = try await store.given(Fixture.fullUser())
        let other = try await store.given(Fixture.user("bert"))
        var expected: Set<Session> = []
        // Clients in an order that their names have not, with other devices before and after; one has none on the device.
        for client in ["web", "mobile", "Ähre", "zz", "a"] {
            for device in ["a", "phone", "tablet"] where client != "zz" || device != "phone" {
                let session = try await store.given(Fixture.session(of: user.id, client: client, device: device))
                if device == "phone" { expected.insert(session) }
            }
        }
        try await store.end(try await store.given(Fixture.session(of: user.id, client: "b")))
        _ = try await store.given(Fixture.session(of: other.id))
        try await store.updateClient("web") { $0.client = Fixture.client() }
        let found = try await store.sessions(of: user.id, onDevice: "phone")
        #expect(Set(found.map(\.session)) == expected && found.count == expected.count)
        #expect(found.allSatisfy { $0.user == user && $0.settings == Settings(epoch: 2) })
        #expect(found.first { $0.session.clientID == "web" }?.client == Fixture.client())
        for (id, device) in [(user.id, "phon"), (user.id, ""), (Fixture.userID(), "phone")] {
            #expect(try await store.sessions(of: id, onDevice: device).isEmpty)
        }
    },
    StoreRule("the sessions refreshed last come first, without those that have ended") { store in
        let user = try await store.given(Fixture.fullUser())
        var sessions = try await store.given(6, sessionsOf: user, from: Fixture.start)
        _ = try await store.given(3, sessionsOf: user, from: Fixture.start + .seconds(50), ending: .loggedOut)
        _ = try await store.given(Fixture.session(of: try await store.given(Fixture.user("bert")).id))
        let first = sessions.removeFirst()
        let refreshed = try await store.updateSession(first.id) { change -> Session in
            change.session.renewedAt = Fixture.start + .seconds(99)
            return change.session
        }
        let expected = [try #require(refreshed)] + sessions.reversed()
        let all = try await store.latestSessions(of: user.id, limit: 9, lookMax: 99)
        #expect(all == expected.map { SessionRecord(session: $0, user: user, client: nil, settings: Settings()) })
        let some = try await store.latestSessions(of: user.id, limit: 2, lookMax: 99).map(\.session)
        #expect(some == Array(expected.prefix(2)))
        // Whichever it looks at.
        let seen = try await store.latestSessions(of: user.id, limit: 9, lookMax: 4).map(\.session)
        #expect(seen == expected.filter { seen.contains($0) } && seen.count == 4)
        #expect(try await store.latestSessions(of: Fixture.userID(), limit: 9, lookMax: 99).isEmpty)
    },
    StoreRule("an earlier session on a device is known, living or a tombstone, as far as it looks") {
        store in
        let user = try await store.given(Fixture.user())
        let other = try await store.given(Fixture.user("bert"))
        let at = Fixture.start
        for (device, client) in [("phone", "web"), ("tablet", "web"), ("tablet", "mobile")] {
            let session = try await store.given(Fixture.session(of: user.id, client: client, device: device))
            if device == "tablet" { try await store.end(session) }
        }
        _ = try await store.given(Fixture.session(of: other.id, device: "watch"))
        func has(_ device: String, before instant: Instant, lookMax: Int = 99) async throws -> Bool {
            try await store.hasSession(of: user.id, onDevice: device, before: instant, lookMax: lookMax)
        }
        for device in ["phone", "tablet"] {
            #expect(try await has(device, before: at + .seconds(1)), "\(device)")
            #expect(try await !has(device, before: at), "\(device)")
        }
        #expect(try await !has("watch", before: at + .seconds(9)))
        // What lives is found without a look at tombstones.
        #expect(try await has("phone", before: at + .seconds(9), lookMax: 0))
        #expect(try await !has("tablet", before: at + .seconds(9), lookMax: 0))
        // The tombstones of a deleted user stay.
        _ = try await store.updateUser(.id(user.id)) { $0.deletes = true }
        #expect(try await has("phone", before: at + .seconds(9)))
    },
    StoreRule("a phone keeps its exemption from the delays of the name, however many sessions came later") { store in
        let now = Locked(0)
        let domain = try await DomainFixture(store, WallClock { Fixture.start + .seconds(now.withLock { $0 }) })
        _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
        let user = try await domain.admin.createUser(
            username: "anna", password: DomainFixture.password, profile: User.Profile(), offlineSessionMax: nil,
            by: Fixture.admin)
        let phone = try await domain.session(of: "anna")
        _ = try await store.given(400, sessionsOf: user, from: Fixture.start + .seconds(1))
        now.withLock { $0 = 1000 }
        func logIn(_ password: String, on device: String) async -> ServiceError? {
            do throws(ServiceError) {
                let request = SessionRequest(clientID: Client.mobileID, device: Device(id: device))
                _ = try await domain.services.login.logIn(
                    request, username: "anna", password: password, from: Fixture.admin)
                return nil
            } catch { return error }
        }
        for _ in 0..<10 { #expect(await logIn("wrong", on: "elsewhere") == .invalidCredentials) }
        #expect(await logIn(DomainFixture.password, on: "elsewhere") == .tooManyRequests(retryAfter: .seconds(1)))
        #expect(await logIn(DomainFixture.password, on: phone.session.device.id) == nil)
    },
    StoreRule("a device is renamed however many sessions came later, and the list has no more than it says") { store in
        let domain = try await DomainFixture(store, WallClock { Fixture.start + .seconds(5000) })
        _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
        let user = try await store.given(Fixture.user())
        let phone = try #require(try await store.given(1, sessionsOf: user, from: Fixture.start).first)
        let later = try await store.given(1100, sessionsOf: user, from: Fixture.start + .seconds(1))
        let listed = try await domain.accounts.livingSessions(of: user.id).map(\.session.id)
        let areTheLatest = listed == Array(later.map(\.id).reversed().prefix(AccountService.listedSessionsMax))
        #expect(areTheLatest && listed.count == 1000)
        let record = try await domain.accounts.renameDevice(
            phone.device.id, to: "Mine", by: phone)
        #expect(record.session.id == phone.id)
        #expect(try await store.stored(phone.id).device.name == "Mine")
    },
]
