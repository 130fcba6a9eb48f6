import Cryptography
import JOSE
import Sessions
import StoreConformance
import Synchronization
import Testing

@testable import SQLiteStore

/// The life of signing keys: made, published before they sign, replaced, kept as long as their tokens live.
struct SigningKeyTests {
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    private static let day: Int64 = 86400

    private struct Fixture {
        let store: SQLiteStore
        let keys: SigningKeys
        let clock: MovableClock
        let services: Services
        let admin: Administration
    }

    /// A server's domain on `folder`, with keys that rotate every 30 days.
    private func stage(
        _ folder: TemporaryFolder, rootKeys: RootKeys, clock: MovableClock, algorithm: SignatureAlgorithm = .es256
    ) throws -> Fixture {
        let store = try folder.open()
        let maximum = Duration.seconds(365 * Self.day)
        let keys = SigningKeys(
            store: store, rootKeys: rootKeys, algorithm: algorithm, rotation: .seconds(30 * Self.day),
            absoluteMaximum: maximum, generate: TestSigningKeys.generator())
        let context = ServiceContext(
            store: store, policy: RefreshPolicy(absoluteMaximum: maximum), rootKeys: rootKeys, signingKeys: keys,
            passwords: PasswordHasher(), clock: clock.wallClock, issuer: "http://issuer.example",
            audience: "http://api.example")
        return Fixture(
            store: store, keys: keys, clock: clock, services: Services(context), admin: Administration(context))
    }

    private func withFixture(
        _ algorithm: SignatureAlgorithm = .es256, _ body: (Fixture) async throws -> Void
    ) async throws {
        let rootKeys = try #require(RootKeys([.random()]))
        try await TemporaryFolder.with { folder in
            let stage = try stage(folder, rootKeys: rootKeys, clock: MovableClock(Self.start), algorithm: algorithm)
            try await stage.keys.maintain(at: stage.clock.now)
            try await body(stage)
            await stage.store.close()
        }
    }

    private func login(_ stage: Fixture) async throws -> TokenGrant {
        let origin = Origin(actor: "test")
        if try await stage.store.client("app") == nil {
            _ = try await stage.admin.createClient(id: "app", by: origin) { _ in nil }
        }
        let user = try await stage.admin.createUser(
            username: "user-\(Identifier<User>(random: .system))", password: nil, profile: .init(),
            offlineSessionMax: nil, by: origin)
        return try await stage.services.login.mintSession(
            SessionRequest(clientID: "app", device: Device(id: "phone")), for: .id(user.id), from: origin)
    }

    private func keyID(of token: String) throws -> String { try #require(try JWT.parse(token).header.kid) }

    @Test(arguments: [SignatureAlgorithm.es256, .eddsa]) func firstKey_signsAtOnce(
        algorithm: SignatureAlgorithm
    ) async throws {
        try await withFixture(algorithm) { stage in
            let grant = try await login(stage)
            #expect(stage.keys.ordinary.count == 1)
            #expect(try keyID(of: grant.accessToken) == stage.keys.ordinary.first?.id)
            let parsed = try JWT.parse(grant.accessToken)
            #expect(parsed.header.alg == algorithm.verification)
            _ = try parsed.verify(using: { stage.keys.publicKeys.verificationKey(kid: $0) }, type: .accessToken)
        }
    }

    @Test func nextKey_isPublishedADayBeforeItSigns_andTheOldOneStaysUntilItsTokensHaveEnded() async throws {
        try await withFixture { stage in
            let origin = Origin(actor: "test")
            let grant = try await login(stage)
            let first = try keyID(of: grant.accessToken)
            var refreshToken = try #require(grant.refreshToken)
            func refresh() async throws -> String {
                let grant = try await stage.services.refresh.refresh(
                    RefreshAttempt(token: refreshToken, clientID: "app"), from: origin)
                refreshToken = try #require(grant.refreshToken)
                return grant.accessToken
            }
            func passTo(day: Int64, second: Int64 = 0) async throws {
                let target = Self.start + .seconds(day * Self.day + second)
                while stage.clock.now < target {
                    stage.clock.advance(by: min(.seconds(10 * Self.day), target - stage.clock.now))
                    try await stage.keys.maintain(at: stage.clock.now)
                    _ = try await refresh()
                }
            }
            try await passTo(day: 29, second: -1)
            #expect(stage.keys.ordinary.map(\.id) == [first])
            try await passTo(day: 29)
            #expect(stage.keys.ordinary.count == 2)
            #expect(stage.keys.publicKeys.keys.count == 4)
            try await passTo(day: 30, second: -1)
            let last = try await refresh()
            #expect(try keyID(of: last) == first)
            try await passTo(day: 30)
            let next = try await refresh()
            #expect(try keyID(of: next) != first)
            // What the first key signed in its last second lives for two weeks more, and is still accepted.
            try await passTo(day: 44, second: -2)
            #expect(stage.keys.all.contains { $0.id == first })
            _ = try await stage.services.accessTokens.authenticate(last, from: origin)
            try await passTo(day: 45)
            #expect(!stage.keys.all.contains { $0.id == first })
        }
    }

    @Test func rotation_byHand_waitsADay_unlessToldOtherwise() async throws {
        try await withFixture { stage in
            let first = try #require(stage.keys.ordinary.first?.id)
            let grant = try await login(stage)
            let second = try await stage.keys.rotate(
                at: stage.clock.now, immediately: false, by: Origin(actor: "test"))
            #expect(stage.keys.publicKeys.keys.count == 4)
            let calm = try await stage.services.refresh.refresh(
                RefreshAttempt(token: try #require(grant.refreshToken), clientID: "app"), from: Origin(actor: "test"))
            #expect(try keyID(of: calm.accessToken) == first)
            let third = try await stage.keys.rotate(at: stage.clock.now, immediately: true, by: Origin(actor: "test"))
            let hasty = try await stage.services.refresh.refresh(
                RefreshAttempt(token: try #require(calm.refreshToken), clientID: "app"), from: Origin(actor: "test"))
            #expect(try keyID(of: hasty.accessToken) == third)
            #expect(Set([first, second, third]).count == 3)
        }
    }

    @Test func withdrawnKey_isWorthNothing_andNoSessionEnds() async throws {
        try await withFixture { stage in
            let origin = Origin(actor: "test")
            let grant = try await login(stage)
            let leaked = try keyID(of: grant.accessToken)
            #expect(try await stage.keys.withdraw(leaked, at: stage.clock.now, by: origin))
            #expect(!stage.keys.publicKeys.keys.contains { $0.kid == leaked })
            await #expect(throws: ServiceError.invalidToken(nil)) {
                try await stage.services.accessTokens.authenticate(grant.accessToken, from: origin)
            }
            let renewed = try await stage.services.refresh.refresh(
                RefreshAttempt(token: try #require(grant.refreshToken), clientID: "app"), from: origin)
            #expect(try keyID(of: renewed.accessToken) == stage.keys.ordinary.first?.id)
            _ = try await stage.services.accessTokens.authenticate(renewed.accessToken, from: origin)
            #expect(try await !stage.keys.withdraw(leaked, at: stage.clock.now, by: origin))
        }
    }

    @Test func anotherRootKey_isRefused_andTheRightOneReadsTheKeysAgain() async throws {
        let (right, wrong) = (try #require(RootKeys([.random()])), try #require(RootKeys([.random()])))
        try await TemporaryFolder.with { folder in
            let clock = MovableClock(Self.start)
            let first = try stage(folder, rootKeys: right, clock: clock)
            try await first.keys.maintain(at: clock.now)
            let grant = try await login(first)
            await first.store.close()

            let stranger = try stage(folder, rootKeys: wrong, clock: clock)
            await #expect(throws: SigningKeys.Problem.self) { try await stranger.keys.maintain(at: clock.now) }
            await #expect(throws: ServiceError.refused(.malformed)) {
                try await stranger.services.refresh.refresh(
                    RefreshAttempt(token: try #require(grant.refreshToken), clientID: "app"), from: .system)
            }
            await stranger.store.close()

            let again = try stage(folder, rootKeys: right, clock: clock)
            try await again.keys.maintain(at: clock.now)
            #expect(again.keys.all == first.keys.all)
            _ = try await again.services.accessTokens.authenticate(grant.accessToken, from: .system)
            await again.store.close()
        }
    }

    @Test func clockSetBackAfterTheFirstStart_stopsNoToken() async throws {
        try await withFixture { stage in
            let origin = Origin(actor: "test")
            let grant = try await login(stage)
            stage.clock.advance(by: .seconds(-2 * 3600))
            let again = try await stage.services.refresh.refresh(
                RefreshAttempt(token: try #require(grant.refreshToken), clientID: "app"), from: origin)
            _ = try await stage.services.accessTokens.authenticate(again.accessToken, from: origin)
        }
    }

    /// Several nodes start at once: one has looked at its clock, and then another one makes the first key, a second later or by a
    /// clock that is ahead.
    @Test(arguments: [1, 3600, day]) func keyOfANodeWithAClockAhead_isTheFirstOneOfAll(seconds: Int64) async throws {
        try await withFixture { stage in
            let first = stage.keys.ordinary.map(\.id)
            try await stage.keys.maintain(at: stage.clock.now + .seconds(-seconds))
            #expect(first.count == 1 && stage.keys.ordinary.map(\.id) == first)
            #expect(stage.keys.overdueSince(at: stage.clock.now + .seconds(-seconds)) == nil)
        }
    }

    @Test func clockThatWasYearsAhead_doesNotStopTheRotation() async throws {
        try await withFixture { stage in
            stage.clock.advance(by: .seconds(-1000 * Self.day))
            var signers: Set<String> = []
            for _ in 0..<10 {
                try await stage.keys.maintain(at: stage.clock.now)
                signers.insert(try keyID(of: try await login(stage).accessToken))
                stage.clock.advance(by: .seconds(10 * Self.day))
            }
            #expect(signers.count == 4)
            #expect(stage.keys.ordinary.count <= 4)
        }
    }

    @Test func tokenOfAClientThatKeepsOneString_refreshesAsLongAsItsSessionIdles() async throws {
        try await withFixture { stage in
            let origin = Origin(actor: "test")
            _ = try await stage.admin.createClient(id: "app", by: origin) { client in
                client.tokenStyle = .single
                client.offlineSessionIdle = .seconds(60 * Self.day)
                client.accessTokenLifetime = .seconds(2 * 3600)
                return nil
            }
            let grant = try await login(stage)
            for _ in 0..<59 {
                stage.clock.advance(by: .seconds(Self.day))
                try await stage.keys.maintain(at: stage.clock.now)
            }
            _ = try await stage.services.refresh.refresh(
                RefreshAttempt(token: grant.accessToken, clientID: "app"), from: origin)
        }
    }

    @Test func longerIdleTime_keepsAKeyThatWasAboutToGo() async throws {
        try await withFixture { stage in
            let origin = Origin(actor: "test")
            let first = try #require(stage.keys.ordinary.first?.id)
            _ = try await stage.keys.rotate(at: stage.clock.now + .seconds(1), immediately: true, by: origin)
            stage.clock.advance(by: .seconds(2))
            try await stage.keys.maintain(at: stage.clock.now)
            stage.clock.advance(by: .seconds(13 * Self.day))
            try await stage.keys.maintain(at: stage.clock.now)
            _ = try await stage.admin.changeSettings(by: origin) { $0.offlineSessionIdle = .seconds(20 * Self.day) }
            try await stage.keys.maintain(at: stage.clock.now)
            stage.clock.advance(by: .seconds(6 * Self.day))
            try await stage.keys.maintain(at: stage.clock.now)
            #expect(stage.keys.all.contains { $0.id == first })
            stage.clock.advance(by: .seconds(30 * Self.day))
            try await stage.keys.maintain(at: stage.clock.now)
            #expect(!stage.keys.all.contains { $0.id == first })
        }
    }

    @Test func newRootKey_takesOverTheSigningKeys_soThatTheOldOneCanGo() async throws {
        let (old, new) = (SecretKey.random(), SecretKey.random())
        try await TemporaryFolder.with { folder in
            let clock = MovableClock(Self.start)
            for secrets in [[old], [new, old], [new]] {
                let stage = try stage(folder, rootKeys: try #require(RootKeys(secrets)), clock: clock)
                try await stage.keys.maintain(at: clock.now)
                #expect(stage.keys.ordinary.count == 1)
                await stage.store.close()
            }
        }
    }

    @Test("an RSA key exists from the first start, rotates with the others, and signs no access token")
    func rsaKeyRotates() async throws {
        try await withFixture { stage in
            func rsa() -> [String] { stage.keys.all.filter { $0.algorithm == "RS256" }.map(\.id) }
            let first = rsa()
            #expect(first.count == 1)
            #expect(stage.keys.publicKeys.keys.count == 2)
            stage.clock.advance(by: .seconds(29 * Self.day))
            try await stage.keys.maintain(at: stage.clock.now)
            #expect(rsa().count == 2 && rsa().last == first.first)
            for _ in 0..<3 {
                #expect(try keyID(of: try await login(stage).accessToken) == stage.keys.ordinary.last?.id)
                try await stage.keys.maintain(at: stage.clock.now)
            }
            #expect(rsa().count == 2)
            _ = try await stage.keys.rotate(at: stage.clock.now, immediately: true, by: Origin(actor: "test"))
            #expect(rsa().count == 3)
            try await stage.keys.maintain(at: stage.clock.now)
            stage.clock.advance(by: .seconds(20 * Self.day))
            try await stage.keys.maintain(at: stage.clock.now)
            #expect(!rsa().contains(first[0]))
        }
    }
}

extension SigningKeys {
    /// The keys that sign access tokens.
    fileprivate var ordinary: [StoredSigningKey] { all.filter { $0.algorithm != "RS256" } }
}
