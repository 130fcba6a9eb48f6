import Cryptography
import Sessions
import Testing

@testable import Server
@testable import Federation

/// Goal: a node that knows less than the others harms no session by what it does not know.
/// Method: as `RecheckTests`; beside the nodes of the fixture there is one with another clock, or other root keys.
@Suite("Rechecks by a node that knows less", .timeLimit(.minutes(2))) struct RecheckNodeTests {
    private let terms = RecheckTerms(
        interval: .seconds(RecheckFixture.interval), outageBudget: .seconds(RecheckFixture.budget))

    /// A node with root keys of its own.
    private func stranger(
        _ stage: RecheckFixture, _ clock: WallClock, _ clockGuard: ClockGuard? = nil
    ) throws -> ProviderCheckService {
        let context = stage.context
        return ProviderCheckService(
            ServiceContext(
                store: stage.store, policy: context.policy, rootKeys: try #require(RootKeys([SecretKey.random()])),
                signingKeys: context.signingKeys, passwords: context.passwords, clock: clock, issuer: context.issuer,
                audience: context.audience, clockGuard: clockGuard))
    }

    @Test("a clock that has jumped makes nothing due", arguments: RecheckDatabase.allCases)
    func jump(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grant = try await stage.logIn()
            let check = try await stage.check(grant)
            let clock = RaceClock()
            let watch = ClockGuard(wall: clock.wall, passed: { 0 }, memory: nil)
            clock.advance(by: 20 * 86_400)
            #expect(try await stranger(stage, clock.wall, watch).claimDue(of: "acme", limit: 5).isEmpty)
            #expect(try await stage.check(grant) == check)
        }
    }

    @Test(
        "a token that this node cannot open is left to those that can, as long as there is time",
        arguments: RecheckDatabase.allCases)
    func rootKey(_ database: RecheckDatabase) async throws {
        try await RecheckFixture.with(database) { stage in
            let grants = [try await stage.logIn(), try await stage.logIn("T2", device: "tablet")]
            let stranger = try stranger(stage, stage.clock.wall)
            stage.clock.advance(by: RecheckFixture.interval)
            for check in try await stranger.claimDue(of: "acme", limit: 2) {
                #expect(try await stranger.recheck(check, terms, by: stage.identities) == .failed)
            }
            #expect(stage.provider.questions.isEmpty)
            for grant in grants { #expect(try await stage.check(grant)?.sealedToken != nil) }
            stage.provider.now { provider, _ in provider.confirm() }
            #expect(await stage.recheck(after: 20) == .answered(2))

            stage.clock.advance(by: RecheckFixture.interval + RecheckFixture.budget)
            let late = try await stranger.claimDue(of: "acme", limit: 1)
            #expect(late.count == 1)
            for check in late { #expect(try await stranger.recheck(check, terms, by: stage.identities) == .lost) }
            let ends = [try await stage.end(grants[0]), try await stage.end(grants[1])]
            #expect(ends.contains(.recheckLost) && ends.contains(nil))
        }
    }
}
