import Sessions
import Testing

private let policy = RefreshPolicy(absoluteMaximum: .seconds(31_536_000))
private let day = Duration.seconds(86_400)

extension Store {
    /// Adds an anonymous user with a session, and the client of that session.
    fileprivate func givenAnonymous(
        device: String = "phone", id: Identifier<User> = Fixture.userID()
    ) async throws -> Session {
        try await updateClient(Client.mobileID) { $0.client = Fixture.client(Client.mobileID, epoch: 1) }
        let user = User(anonymous: id, createdAt: Fixture.start)
        guard try await insertUser(user, from: .user, events: []) else { throw Unexpected("the username is taken") }
        return try await given(Fixture.session(of: user.id, device: device))
    }

    /// Deletes abandoned users. Returns their number.
    fileprivate func swept(at now: Instant = Fixture.start, limit: Int = 100) async throws -> Int {
        try await sweepAnonymousUsers(after: nil, limit: limit, by: policy, at: now).deleted
    }
}

let anonymousUserRules: [StoreRule] = [
    StoreRule("clean-up sees every anonymous user once, in steps, and deletes those without an active session") {
        store in
        var sessions: [Session] = []
        for number in 0..<10 { sessions.append(try await store.givenAnonymous(device: "d\(number)")) }
        let named = try await store.given(Fixture.session(of: try await store.given(Fixture.user()).id))
        for session in sessions.prefix(4) + [named] {
            _ = try await store.updateSession(session.id) {
                $0.session.ending = Session.Ending(reason: .loggedOut, at: Fixture.start)
            }
        }
        var cursor: Identifier<User>?
        var (deleted, steps) = (0, 0)
        repeat {
            let step = try await store.sweepAnonymousUsers(after: cursor, limit: 3, by: policy, at: Fixture.start)
            (deleted, cursor, steps) = (deleted + step.deleted, step.cursor, steps + 1)
        } while cursor != nil && steps < 20
        #expect(deleted == 4 && steps == 4)
        for (index, session) in sessions.enumerated() {
            #expect((try await store.user(.id(session.userID)) == nil) == (index < 4))
            #expect(try await store.session(session.id)?.session.ending?.reason == (index < 4 ? .loggedOut : nil))
        }
        #expect(try await store.user(.id(named.userID)) != nil)
        #expect(try await store.swept() == 0)
        let empty = try await store.sweepAnonymousUsers(after: cursor, limit: 100, by: policy, at: Fixture.start)
        #expect(empty == UserSweepStep(cursor: nil, deleted: 0))
    },
    StoreRule("a session that the clock has ended keeps its reason when clean-up deletes the user") { store in
        let session = try await store.givenAnonymous()
        #expect(try await store.swept(at: Fixture.start + day * 14 - .seconds(1)) == 0)
        #expect(try await store.swept(at: Fixture.start + day * 15) == 1)
        let record = try await store.session(session.id)
        #expect(
            record?.session.ending == Session.Ending(reason: .idleExpired, at: Fixture.start + day * 14)
                && record?.user == nil)
        let kinds = try await store.events(after: 0, limit: 10, userID: session.userID, sessionID: nil)
            .map(\.event.kind)
        #expect(kinds == [.sessionEnded, .userDeleted])
    },
    StoreRule("a user that is named, or gets a session, while clean-up decides is kept") { store in
        var ended: [Session] = []
        for number in 0..<3 {
            let session = try await store.givenAnonymous(device: "d\(number)")
            _ = try await store.updateSession(session.id) {
                $0.session.ending = Session.Ending(reason: .loggedOut, at: Fixture.start)
            }
            ended.append(session)
        }
        let (named, renewed, abandoned) = (ended[0].userID, ended[1].userID, ended[2].userID)
        let busy = ObservedStore(store) { call async throws(StoreError) in
            if call != .write { return }
            _ = try await store.updateUser(.id(named)) { $0.user.isAnonymous = false }
            let session = Fixture.session(of: renewed, device: "new")
            _ = try await store.openSession(userID: renewed, clientID: session.clientID, deviceID: "new") {
                $0.session = session
            }
        }
        #expect(try await busy.swept() == 1)
        #expect(try await store.user(.id(named)) != nil)
        #expect(try await store.user(.id(renewed)) != nil)
        #expect(try await store.user(.id(abandoned)) == nil)
    },
    StoreRule("what may still lead back to an anonymous user keeps it") { store in
        // An import adds users before their sessions.
        let waiting = try await store.given(User(anonymous: Fixture.userID(), createdAt: Fixture.start))
        // A token of another system will become a session.
        let ended = try await store.givenAnonymous()
        _ = try await store.updateSession(ended.id) {
            $0.session.ending = Session.Ending(reason: .loggedOut, at: Fixture.start)
        }
        let token = Fixture.foreignToken(1, of: ended.userID)
        _ = try await store.importForeignTokens([token])
        #expect(try await store.swept() == 0)
        #expect(try await store.user(.id(waiting.id)) != nil)
        _ = try await store.updateForeignToken(token.digest) { $0.token = nil }
        #expect(try await store.swept() == 1)
        #expect(try await store.user(.id(ended.userID)) == nil)
        #expect(try await store.user(.id(waiting.id)) != nil)
    },
    StoreRule("a user that gets an identity is anonymous no more") { store in
        let session = try await store.givenAnonymous()
        guard let key = Identity.Key(provider: "acme", subject: "1") else { throw Unexpected("no key") }
        let insertion = IdentityInsertion(
            Identity(key, userID: session.userID, linkedAt: Fixture.start), events: [])
        _ = try await store.insertIdentity(insertion)
        #expect(try await store.user(.id(session.userID))?.isAnonymous == false)
        _ = try await store.updateSession(session.id) {
            $0.session.ending = Session.Ending(reason: .loggedOut, at: Fixture.start)
        }
        #expect(try await store.swept() == 0)
    },
    StoreRule("an anonymous login makes its user once, and never one that was deleted") { store in
        let user = User(anonymous: Fixture.userID(), createdAt: Fixture.start)
        let session = Fixture.session(of: user.id)
        let arrivals = try await withThrowingTaskGroup(of: SessionOpening.Arrival?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await store.openSession(
                        ofAnonymous: user, clientID: session.clientID, deviceID: session.device.id
                    ) { opening in
                        if opening.arrival == .new { opening.session = session }
                        return opening.arrival
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(arrivals.count { $0 == .new } == 1 && arrivals.count { $0 == .known } == 7)
        _ = try await store.updateUser(.id(user.id)) { $0.deletes = true }
        let later: Void? = try await store.openSession(
            ofAnonymous: user, clientID: session.clientID, deviceID: session.device.id
        ) { _ in }
        #expect(later == nil)
    },
    StoreRule("an anonymous login that is refused makes no user") { store in
        let user = User(anonymous: Fixture.userID(), createdAt: Fixture.start)
        let refused: Void? = try await store.openSession(
            ofAnonymous: user, clientID: Client.mobileID, deviceID: "phone"
        ) { _ in }
        #expect(refused != nil)
        #expect(try await store.user(.id(user.id)) == nil)
    },
    StoreRule("naming by an identity writes all of it, or nothing") { store in
        let session = try await store.givenAnonymous()
        guard let key = Identity.Key(provider: "acme", subject: "1") else { throw Unexpected("no key") }
        let token = OneTimeToken(
            .identityToken, of: "", id: "t", goodUntil: Fixture.start + .seconds(9), at: Fixture.start)
        let login = IdentityLogin(key, token: token, newUsers: [Fixture.user("berta")], at: Fixture.start)
        func name(_ names: Bool) async throws -> IdentityNaming? {
            try await store.nameUser(session.userID, by: login, asking: session.id) { naming in
                if names {
                    naming.change.user.username = naming.newUser?.username ?? ""
                    naming.change.user.isAnonymous = false
                }
                return naming
            }
        }
        let refused = try await name(false)
        #expect(refused?.change.user.isAnonymous == true && refused?.change.asking?.id == session.id)
        #expect(try await store.identity(key) == nil)
        let named = try await name(true)
        #expect(named?.owner == nil && named?.isReplay == false)
        #expect(try await store.identity(key)?.userID == session.userID)
        let stored = try await store.user(.username("BERTA"))
        #expect(stored?.id == session.userID && stored?.isAnonymous == false)
        let again = try await name(true)
        #expect(again?.owner == session.userID && again?.isReplay == true)
        #expect(again?.newUser == nil)
        var sources = UserSources(of: User(anonymous: session.userID, createdAt: Fixture.start), from: .user)
        sources.username = .provider
        #expect(try await store.userSources(of: session.userID) == sources)
        let nobody: Void? = try await store.nameUser(Fixture.userID(), by: login, asking: session.id) { _ in }
        #expect(nobody == nil)
    },
]
