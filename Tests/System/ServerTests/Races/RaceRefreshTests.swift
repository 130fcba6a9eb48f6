import Repository
import Sessions
import Testing

/// Fifty processes refresh one token at the same moment.
@Suite("Races of refreshes", .timeLimit(.minutes(10)))
struct RaceRefreshTests {
    static let width = 50

    /// One token, presented by `width` tasks at once.
    static func refreshAtOnce(
        _ stage: RaceFixture, _ token: String, idempotencyKey: String? = nil
    ) async -> [Result<TokenGrant, ServiceError>] {
        await withTaskGroup(of: Result<TokenGrant, ServiceError>.self) { group in
            for _ in 0..<width { group.addTask { await stage.refresh(token, idempotencyKey: idempotencyKey) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("fifty parallel refreshes, again and again: each time all get the same new token, and the session lives")
    func converging() async throws {
        try await RaceFixture.with { stage in
            let login = try await stage.logIn(try await stage.makeUser("anna"))
            var token = login.token
            for round in 1...UInt64(Lane.rounds(push: 200, full: 1000)) {
                stage.clock.advance(by: RaceFixture.rotationInterval)
                let answers = await Self.refreshAtOnce(stage, token)
                let children = Set(try answers.map { try $0.get().token })
                try #require(children.count == 1, "round \(round)")
                try #require(!children.contains(token), "round \(round)")
                token = try #require(children.first)
                let session = try await stage.administration.session(login.session.id).session
                try #require(session.ending == nil)
                try #require((session.parent, session.child) == (round, round + 1))
            }
        }
    }

    @Test("with strict rotation each refresh gets its own token, the last one lives, and a dead one is reuse")
    func strict() async throws {
        try await RaceFixture.with { stage in
            try await stage.rotateStrictly()
            let login = try await stage.logIn(try await stage.makeUser("anna"))
            var token = login.token
            var dead: [String] = []
            for round in 1...UInt64(Lane.rounds(push: 10, full: 50)) {
                let children = Set(try await Self.refreshAtOnce(stage, token).map { try $0.get().token })
                #expect(children.count == Self.width)
                let session = try await stage.administration.session(login.session.id).session
                try #require(session.child == round * UInt64(Self.width) + 1)
                var living: [String] = []
                let activities = try await withThrowingTaskGroup(of: (String, Bool).self) { group in
                    for child in children { group.addTask { (child, try await stage.isActive(child)) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                for (child, isActive) in activities {
                    if isActive { living.append(child) } else { dead.append(child) }
                }
                try #require(living.count == 1, "round \(round)")
                token = living[0]
            }
            let reuse = await stage.refresh(try #require(dead.last))
            #expect(reuse.failure == .refused(.ended(.refreshTokenReused)))
            #expect(await stage.refresh(token).failure == .refused(.ended(.refreshTokenReused)))
        }
    }

    @Test("with strict rotation and one Idempotency-Key, all refreshes get the same token")
    func strictWithKey() async throws {
        try await RaceFixture.with { stage in
            try await stage.rotateStrictly()
            let login = try await stage.logIn(try await stage.makeUser("anna"))
            var token = login.token
            let rounds = Lane.rounds(push: 20, full: 100)
            for round in 1...rounds {
                let answers = await Self.refreshAtOnce(stage, token, idempotencyKey: "request-\(round)")
                let children = Set(try answers.map { try $0.get().token })
                try #require(children.count == 1, "round \(round)")
                token = try #require(children.first)
            }
            #expect(try await stage.administration.session(login.session.id).session.child == UInt64(rounds) + 1)
        }
    }

    @Test("fifty logins on one device at once leave one session, and the others ended as replaced")
    func logins() async throws {
        try await RaceFixture.with { stage in
            let user = try await stage.makeUser("anna")
            for _ in 1...Lane.rounds(push: 5, full: 20) {
                let grants = try await withThrowingTaskGroup(of: TokenGrant.self) { group in
                    for _ in 0..<Self.width { group.addTask { try await stage.logIn(user) } }
                    return try await group.reduce(into: [TokenGrant]()) { $0.append($1) }
                }
                let living = try await stage.accounts.livingSessions(of: user.id).map(\.session.id)
                try #require(living.count == 1)
                for grant in grants {
                    let outcome = await stage.refresh(grant.token)
                    if grant.session.id == living[0] {
                        #expect(throws: Never.self) { try outcome.get() }
                    } else {
                        #expect(outcome.failure == .refused(.ended(.replaced)))
                    }
                }
            }
        }
    }
}

extension Result {
    /// The error; nil for a success.
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
