import Sessions
import Testing

extension Fixture {
    /// A foreign token with only what it must have; `number` makes its digest.
    static func foreignToken(_ number: UInt8, of user: Identifier<User>, device: String = "phone") -> ForeignToken {
        ForeignToken(
            digest: [UInt8](repeating: number, count: ForeignToken.digestCount), userID: user,
            clientID: Client.mobileID, device: Device(id: device), startedAt: start - .seconds(1000), epoch: 1)
    }

    /// A foreign token with every member set but the exchange.
    static func fullForeignToken(_ number: UInt8, of user: Identifier<User>) -> ForeignToken {
        ForeignToken(
            digest: [UInt8](repeating: number, count: ForeignToken.digestCount), userID: user,
            clientID: Client.mobileID,
            device: Device(id: "tablet", name: "Zoës Tablet", platform: "android", appVersion: "3"),
            scope: Scope("openid profile"), startedAt: start - .seconds(1000), expiresAt: start + .seconds(1000),
            epoch: 7)
    }
}

extension Instant {
    static func - (instant: Instant, duration: Duration) -> Instant { instant + (.zero - duration) }
}

extension Store {
    /// Exchanges a waiting token for a session as the domain does, and gives that back; nil: no such token.
    fileprivate func exchange(_ digest: [UInt8]) async throws -> Session? {
        try await updateForeignToken(digest) { change -> Session? in
            guard let token = change.token, token.exchange == nil, change.living == nil else { return nil }
            let session = Session(
                id: Fixture.sessionID(), userID: token.userID, clientID: token.clientID, device: token.device,
                startedAt: token.startedAt, epoch: token.epoch, childAnsweredAt: Fixture.start)
            change.session = session
            change.token?.exchange = ForeignToken.Exchange(sessionID: session.id, at: Fixture.start)
            change.events = [AuditEvent(.sessionStarted, at: Fixture.start, by: Fixture.admin, session: session)]
            return session
        } ?? nil
    }

    fileprivate func waiting() async throws -> [ForeignToken] {
        try await foreignTokens(after: nil, limit: 100).filter { $0.exchange == nil }
    }
}

/// Refresh tokens of other systems.
let foreignTokenRules: [StoreRule] = [
    StoreRule("foreign tokens come back with every member, in the order of their digests, part by part") { store in
        let user = try await store.given(Fixture.user())
        let tokens =
            [Fixture.fullForeignToken(200, of: user.id)] + [9, 3, 77].map { Fixture.foreignToken($0, of: user.id) }
        let expected = tokens.sorted { $0.digest[0] < $1.digest[0] }
        #expect(try await store.importForeignTokens(tokens) == [.written, .written, .written, .written])
        let first = try await store.foreignTokens(after: nil, limit: 3)
        #expect(first == Array(expected.prefix(3)))
        #expect(try await store.foreignTokens(after: first.last?.digest, limit: 3) == Array(expected.suffix(1)))
    },
    StoreRule("a foreign token of an unknown user is left out, and the others are not") { store in
        let user = try await store.given(Fixture.user())
        let outcomes = try await store.importForeignTokens([
            Fixture.foreignToken(1, of: Fixture.userID()), Fixture.foreignToken(2, of: user.id),
        ])
        #expect(outcomes == [.unknownUser, .written])
        #expect(try await store.foreignTokens(after: nil, limit: 9) == [Fixture.foreignToken(2, of: user.id)])
    },
    StoreRule("the change of an unknown foreign token is nil, and is not run") { store in
        let digest = [UInt8](repeating: 4, count: ForeignToken.digestCount)
        let outcome: Bool? = try await store.updateForeignToken(digest) { _ in true }
        #expect(outcome == nil)
    },
    StoreRule("a change sees the token, user, client, settings and the living session of its moment") { store in
        let user = try await store.given(Fixture.fullUser())
        try await store.updateClient(Client.mobileID) { $0.client = Fixture.client(Client.mobileID) }
        let token = Fixture.foreignToken(1, of: user.id)
        _ = try await store.importForeignTokens([token])
        let seen = try await store.updateForeignToken(token.digest) { $0 }
        #expect(seen?.token == token)
        #expect(seen?.user == user)
        #expect(seen?.client == Fixture.client(Client.mobileID))
        #expect(seen?.settings == Settings(epoch: 2))
        #expect(seen?.living == nil)
        _ = try await store.given(Fixture.session(of: user.id, device: "tablet"))
        let living = try await store.given(Fixture.session(of: user.id))
        #expect(try await store.updateForeignToken(token.digest) { $0.living } == living)
    },
    StoreRule("an exchange starts the session, marks the token and tells the trail, all or nothing") { store in
        let user = try await store.given(Fixture.user())
        let token = Fixture.fullForeignToken(1, of: user.id)
        _ = try await store.importForeignTokens([token])
        let session = try #require(try await store.exchange(token.digest))
        #expect(try await store.stored(session.id) == session)
        var spent = token
        spent.exchange = ForeignToken.Exchange(sessionID: session.id, at: Fixture.start)
        #expect(try await store.foreignTokens(after: nil, limit: 9) == [spent])
        #expect(try await store.events(after: 0, limit: 9, userID: nil, sessionID: session.id).count == 1)
        // Brought once more, it stays spent.
        #expect(try await store.importForeignTokens([token]) == [.kept])
        #expect(try await store.foreignTokens(after: nil, limit: 9) == [spent])
    },
    StoreRule("a change that exchanges nothing still records its events") { store in
        let user = try await store.given(Fixture.user())
        let token = Fixture.foreignToken(1, of: user.id)
        _ = try await store.importForeignTokens([token])
        try await store.updateForeignToken(token.digest) { change in
            change.events = [AuditEvent(.loginRefused, at: Fixture.start, by: Fixture.admin, userID: user.id)]
        }
        #expect(try await store.foreignTokens(after: nil, limit: 9) == [token])
        #expect(try await store.events(after: 0, limit: 9, userID: user.id, sessionID: nil).count == 1)
    },
    StoreRule("fifty exchanges of one foreign token at once make one session") { store in
        let user = try await store.given(Fixture.user())
        let token = Fixture.foreignToken(1, of: user.id)
        _ = try await store.importForeignTokens([token])
        let sessions = try await withThrowingTaskGroup(of: Session?.self) { group in
            for _ in 0..<50 { group.addTask { try await store.exchange(token.digest) } }
            return try await group.reduce(into: [Session]()) { sessions, session in
                if let session { sessions.append(session) }
            }
        }
        #expect(sessions.count == 1)
        #expect(try await store.sessions(of: user.id, after: nil, limit: 99).items.map(\.session) == sessions)
    },
    StoreRule("a deleted foreign token is gone") { store in
        let user = try await store.given(Fixture.user())
        let token = Fixture.foreignToken(1, of: user.id)
        _ = try await store.importForeignTokens([token])
        try await store.updateForeignToken(token.digest) { $0.token = nil }
        #expect(try await store.foreignTokens(after: nil, limit: 9).isEmpty)
        let outcome: Bool? = try await store.updateForeignToken(token.digest) { _ in true }
        #expect(outcome == nil)
    },
    StoreRule("when a user's sessions are ended, the foreign tokens that wait go along, as far as they agree") {
        store in
        let user = try await store.given(Fixture.user())
        let other = try await store.given(Fixture.user("bert"))
        let tokens = [
            Fixture.foreignToken(1, of: user.id), Fixture.foreignToken(2, of: user.id, device: "tablet"),
            Fixture.foreignToken(3, of: user.id, device: "spent"), Fixture.foreignToken(4, of: other.id),
        ]
        _ = try await store.importForeignTokens(tokens)
        _ = try await store.exchange(tokens[2].digest)
        func end(client: String?, device: String?) async throws -> [UInt8] {
            _ = try await store.updateUser(.id(user.id)) { change in
                change.ending = UserChange.EndingSessions(
                    .revokedByUser, at: Fixture.start, clientID: client, deviceID: device)
            }
            return try await store.waiting().map { $0.digest[0] }
        }
        #expect(try await end(client: "other", device: nil) == [1, 2, 4])
        #expect(try await end(client: nil, device: "watch") == [1, 2, 4])
        #expect(try await end(client: Client.mobileID, device: "tablet") == [1, 4])
        #expect(try await end(client: nil, device: nil) == [4])
        #expect(try await store.foreignTokens(after: nil, limit: 9).count == 2)
        _ = try await store.updateUser(.id(other.id)) { $0.deletes = true }
        #expect(try await store.waiting().isEmpty)
    },
]
