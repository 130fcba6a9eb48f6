import Cryptography
import SQLiteStore
import Sessions
import Telemetry
import Testing

@testable import Configuration
@testable import Server

@Suite("Maintenance")
struct StartingMaintenanceTests {
    static let now = Instant(secondsSinceEpoch: 1_800_000_000)
    static let policy = RefreshPolicy(absoluteMaximum: .seconds(31_536_000))
    static let month = RefreshPolicy.tombstoneLifetime

    static func record(_ change: (inout SessionRecord) -> Void) -> SessionRecord {
        let user = User(id: Identifier(random: .system), username: "ada", createdAt: now)
        let client = Client(id: "mobile", createdAt: now, epoch: 2)
        let session = Session(
            id: Identifier(random: .system), userID: user.id, clientID: client.id, device: Device(id: "d"),
            startedAt: now, epoch: 2)
        var record = SessionRecord(session: session, user: user, client: client, settings: Settings(epoch: 2))
        change(&record)
        return record
    }

    /// The record is forgotten exactly 30 days after `end`, not a second sooner.
    static func expectForgotten(_ record: SessionRecord, _ end: Instant, _ location: SourceLocation = #_sourceLocation)
    {
        #expect(!policy.isForgotten(record, at: end + month + .seconds(-1)), sourceLocation: location)
        #expect(policy.isForgotten(record, at: end + month), sourceLocation: location)
    }

    @Test("a session is forgotten 30 days after its end, however it came")
    func forgetting() {
        let (now, idle) = (Self.now, SessionSettings.defaults.offlineSessionIdle)
        let ended = now + .seconds(500)
        Self.expectForgotten(Self.record { $0.session.end(.loggedOut, at: ended) }, ended)
        Self.expectForgotten(Self.record { _ in }, now + idle)
        Self.expectForgotten(
            Self.record { $0.settings.revokedBefore = Settings.RevokedBefore(epoch: 3, at: ended) }, ended)
        Self.expectForgotten(Self.record { $0.user = nil }, now + idle)
        Self.expectForgotten(Self.record { $0.client = nil }, now + idle)
        // A recorded end is final: neither the clock nor a later cut moves it.
        let late = now + idle + .seconds(999)
        Self.expectForgotten(
            Self.record {
                $0.session.end(.revokedByAdmin, at: late)
                $0.settings.revokedBefore = Settings.RevokedBefore(epoch: 3, at: ended)
            }, late)
    }

    @Test("a session that lives is not forgotten, nor one that a cut spares")
    func living() {
        let record = Self.record { $0.settings.revokedBefore = Settings.RevokedBefore(epoch: 2, at: Self.now) }
        #expect(!Self.policy.isForgotten(record, at: Self.now))
        #expect(!Self.policy.isForgotten(record, at: Self.now + .seconds(1_209_599)))
    }

    @Test("clean-up finds the sessions that are due in steps, and deletes the forgotten ones alone")
    func sweep() async throws {
        let (folder, clock) = (StartingFolder(), StartingClock())
        let application = try await Application.open(folder.configuration, clock.environment())
        let administration = Administration(application.context)
        let user = try await administration.createUser(
            username: "ada", password: nil, profile: User.Profile(), offlineSessionMax: nil, by: .system)
        let services = Services(application.context)
        let count = ServerConfiguration.CleanUp().stepSize + 10
        var last: Identifier<Session>?
        for number in 0..<count {
            last = try await services.login.mintSession(
                SessionRequest(clientID: Client.mobileID, device: Device(id: "d\(number)")), for: .id(user.id),
                from: .system
            ).session.id
        }
        clock.advance(.seconds(1000))
        let ending = try #require(last)
        try await administration.endSession(ending, by: .system)
        let maintenance = Maintenance(context: application.context, logger: .silent)
        clock.advance(RefreshPolicy.tombstoneLifetime - .seconds(1))
        #expect(await maintenance.sweep(pause: .zero) == 0)
        clock.advance(.seconds(1))
        #expect(await maintenance.sweep(pause: .zero) == 1)
        #expect(try await application.context.store.session(ending) == nil)
        // The others ended by idling after 14 days.
        clock.advance(SessionSettings.defaults.offlineSessionIdle)
        #expect(await maintenance.sweep(pause: .zero) == count - 1)
        await application.close()
    }

    @Test("a node that has lost its lease between two steps stops, and another one goes on")
    func lostLease() async throws {
        let (folder, clock) = (StartingFolder(), StartingClock())
        let application = try await Application.open(folder.configuration, clock.environment())
        let context = application.context
        let (one, other) = (
            CleanUpLease(context, node: "one", logger: .silent), CleanUpLease(context, node: "other", logger: .silent)
        )
        #expect(await one.take())
        #expect(await !other.take())
        clock.advance(CleanUpLease.duration / 2 + .seconds(1))
        #expect(await one.take())
        clock.advance(CleanUpLease.duration / 2)
        #expect(await !other.take(), "the lease was renewed")
        var steps = 0
        let maintenance = Maintenance(context: context, logger: .silent, lease: one)
        let deleted = await maintenance.sweep("rows", .zero) { () async throws(StoreError) in
            steps += 1
            if steps == 2 {
                // The node stands still for longer than its lease.
                clock.advance(CleanUpLease.duration)
                #expect(await other.take())
            }
            return 1
        }
        #expect(steps == 2 && deleted == 2)
        #expect(await !one.take())
        await other.leave()
        clock.advance(CleanUpLease.look)
        #expect(await one.take())
        clock.jump(.seconds(-7200))
        #expect(await one.take())
        #expect(await !other.take(), "a clock that was set back prolongs no lease")
        await application.close()
    }

    @Test("a node with a doubtful clock leaves the lease, and takes it again if no other node does")
    func leaseInDoubt() async throws {
        let (folder, clock) = (StartingFolder(), StartingClock())
        let application = try await Application.open(folder.configuration, clock.environment())
        let (one, other) = (
            CleanUpLease(application.context, node: "one", logger: .silent),
            CleanUpLease(application.context, node: "other", logger: .silent)
        )
        #expect(await one.take())
        #expect(await !one.take(inDoubt: true))
        #expect(await other.take(), "the lease is free at once")
        clock.advance(CleanUpLease.look * 2)
        #expect(await other.take())
        #expect(await !one.take(inDoubt: true))
        await other.leave()
        clock.advance(CleanUpLease.look)
        #expect(await one.take(inDoubt: true), "no other node has it")
        #expect(await one.take(inDoubt: true), "a doubt takes the lease away once")
        #expect(await one.take())
        #expect(await !one.take(inDoubt: true), "the next doubt begins")
        clock.advance(CleanUpLease.look * 2 - .seconds(1))
        #expect(await !one.take(inDoubt: true))
        clock.advance(.seconds(1))
        #expect(await one.take(inDoubt: true))
        await application.close()
    }

    @Test(
        "anonymous users beyond one round are reached by the next ones, of any node, and a deletion shortens no round")
    func anonymousUsers() async throws {
        let (folder, clock) = (StartingFolder(), StartingClock())
        let application = try await Application.open(folder.configuration, clock.environment())
        let administration = Administration(application.context)
        _ = try await administration.changeClient(Client.mobileID, by: .system) { client in
            client.anonymousUsers = true
            return nil
        }
        for number in 0..<12 {
            let request = SessionRequest(clientID: Client.mobileID, device: Device(id: "d-\(number)"))
            _ = try await Services(application.context).anonymousUsers.logIn(request, from: .system)
        }
        var maintenance = Maintenance(context: application.context, logger: .silent)
        maintenance.cleanUp.stepSize = 2
        #expect(await maintenance.sweepAnonymousUsers(pause: .zero) == 0)
        clock.advance(SessionSettings.defaults.offlineSessionIdle)
        var other = Maintenance(context: application.context, logger: .silent)
        other.cleanUp.stepSize = 2
        #expect(await other.sweepAnonymousUsers(pause: .zero) == 4, "eight were read before")
        #expect(await maintenance.sweepAnonymousUsers(pause: .zero) == 8)
        await application.close()
    }

    @Test("signing keys rotate when they are due")
    func keys() async throws {
        let (folder, clock) = (StartingFolder(), StartingClock())
        let application = try await Application.open(folder.configuration, clock.environment())
        let maintenance = Maintenance(context: application.context, logger: .silent)
        await maintenance.maintainKeys()
        #expect(application.context.signingKeys.all.count == 2)
        clock.advance(.seconds(29 * 86400))
        await maintenance.maintainKeys()
        #expect(application.context.signingKeys.all.count == 4)
        await application.close()
    }
}

@Suite("Maintenance of foreign tokens")
struct ForeignTokenUpkeepTests {
    @Test("a foreign token is forgotten 30 days after its exchange, or its last chance of one")
    func forgetting() {
        let (now, policy) = (StartingMaintenanceTests.now, StartingMaintenanceTests.policy)
        func expectForgotten(
            expires: Instant?, exchanged: Instant?, _ end: Instant, _ location: SourceLocation = #_sourceLocation
        ) {
            let token = ForeignToken(
                digest: [], userID: Identifier(random: .system), clientID: "mobile", device: Device(id: "d"),
                startedAt: now, expiresAt: expires, epoch: 1,
                exchange: exchanged.map { ForeignToken.Exchange(sessionID: Identifier(random: .system), at: $0) })
            let month = StartingMaintenanceTests.month
            #expect(!policy.isForgotten(token, at: end + month + .seconds(-1)), sourceLocation: location)
            #expect(policy.isForgotten(token, at: end + month), sourceLocation: location)
        }
        expectForgotten(expires: nil, exchanged: nil, now + .seconds(31_536_000))
        expectForgotten(expires: now + .seconds(9), exchanged: nil, now + .seconds(9))
        expectForgotten(expires: now + .seconds(99_999_999), exchanged: nil, now + .seconds(31_536_000))
        expectForgotten(expires: now + .seconds(9), exchanged: now + .seconds(5), now + .seconds(5))
    }

    @Test("clean-up deletes the forgotten ones alone, in steps")
    func sweep() async throws {
        let (folder, clock) = (StartingFolder(), StartingClock())
        let store = try SQLiteStore(path: folder.file("db"), options: SQLiteStore.Options(clock: clock.wall))
        let rootKeys = try #require(RootKeys([.random()]))
        let stage = try await TransferFixture(store, clock, rootKeys)
        let user = try await stage.createUser("ada")
        let tokens = (0..<600).map { number in
            ForeignToken(
                digest: sha256([UInt8(number & 255), UInt8(number >> 8)]), userID: user.id, clientID: "mobile",
                device: Device(id: "d"), startedAt: clock.wall.now,
                expiresAt: number.isMultiple(of: 3) ? clock.wall.now : nil, epoch: 1)
        }
        _ = try await store.importForeignTokens(tokens)
        let maintenance = Maintenance(context: stage.context, logger: .silent)
        #expect(await maintenance.sweepForeignTokens(pause: .zero) == 0)
        clock.advance(StartingMaintenanceTests.month)
        #expect(await maintenance.sweepForeignTokens(pause: .zero) == 200)
        #expect(try await store.foreignTokens(after: nil, limit: 1000).count == 400)
        await store.close()
    }
}

@Suite("Maintenance of anonymous users")
struct AnonymousUserUpkeepTests {
    @Test("clean-up deletes anonymous users without a living session, in steps, and no other user")
    func sweep() async throws {
        let (folder, clock) = (StartingFolder(), StartingClock())
        let store = try SQLiteStore(path: folder.file("db"), options: SQLiteStore.Options(clock: clock.wall))
        let stage = try await TransferFixture(store, clock, try #require(RootKeys([.random()])))
        _ = try await stage.administration.changeClient(Client.mobileID, by: .system) { client in
            client.anonymousUsers = true
            return nil
        }
        let ada = try await stage.createUser("ada")
        var maintenance = Maintenance(context: stage.context, logger: .silent)
        maintenance.cleanUp.stepSize = 4
        var tokens: [String] = []
        for number in 0..<10 {
            let request = SessionRequest(clientID: Client.mobileID, device: Device(id: "d-\(number)"))
            let grant = try await stage.services.anonymousUsers.logIn(request, from: .system)
            tokens.append(try #require(grant.refreshToken))
        }
        for token in tokens.prefix(3) { try await stage.services.logout.logOut(token, from: .system) }
        #expect(await maintenance.sweepAnonymousUsers(pause: .zero) == 3)
        clock.advance(.seconds(13 * 86_400))
        #expect(await maintenance.sweepAnonymousUsers(pause: .zero) == 0)
        _ = try await stage.refresh(tokens[9]).get()
        clock.advance(.seconds(86_400))
        #expect(await maintenance.sweepAnonymousUsers(pause: .zero) == 6)
        #expect(try await store.user(.id(ada.id)) != nil)
        _ = try await stage.refresh(tokens[9]).get()
        await store.close()
    }
}

@Suite("Maintenance of tokens that are taken once")
struct UsedTokenUpkeepTests {
    @Test("a used token is forgotten when every node's clock says that it is too old, in steps")
    func sweep() async throws {
        let (folder, clock) = (StartingFolder(), StartingClock())
        let application = try await Application.open(folder.configuration, clock.environment())
        let (store, now) = (application.context.store, clock.wall.now)
        func token(_ number: Int, at now: Instant) -> OneTimeToken {
            OneTimeToken(.clientAssertion, of: "a", id: "\(number)", goodUntil: now + .seconds(60), at: now)
        }
        let count = ServerConfiguration.CleanUp().stepSize + 10
        for number in 0..<count { #expect(try await store.use(token(number, at: now))) }
        let maintenance = Maintenance(context: application.context, logger: .silent)
        clock.advance(.seconds(59) + Maintenance.period)
        #expect(await maintenance.sweepUsedTokens(pause: .zero) == 0)
        #expect(try await store.use(token(count, at: clock.wall.now)))
        clock.advance(.seconds(1))
        #expect(await maintenance.sweepUsedTokens(pause: .zero) == count)
        #expect(try await !store.use(token(count, at: clock.wall.now)))
        await application.close()
    }
}

@Suite("Maintenance of wrong passwords that all nodes count")
struct GuessUpkeepTests {
    @Test("wrong passwords are forgotten when the next one begins a new row by every node's clock")
    func sweep() async throws {
        let (folder, clock) = (StartingFolder(), StartingClock())
        let application = try await Application.open(folder.configuration, clock.environment())
        let (store, now) = (application.context.store, clock.wall.now)
        let target = LockoutTarget.device("phone", of: Identifier(random: .system))
        try await store.updateFailedAttempts(at: target) { $0.failedAttempts = FailedAttempts(count: 20, lastAt: now) }
        let maintenance = Maintenance(context: application.context, logger: .silent)
        clock.advance(LockoutPolicy.memory + Maintenance.period)
        #expect(await maintenance.sweepFailedAttempts(pause: .zero) == 0)
        clock.advance(.seconds(1))
        #expect(await maintenance.sweepFailedAttempts(pause: .zero) == 1)
        #expect(try await store.failedAttempts(at: target) == nil)
        await application.close()
    }
}
