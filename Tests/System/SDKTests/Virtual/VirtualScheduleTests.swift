import Foundation
import Repository
import SojournClient
import SojournTestKit
import Testing

/// Random histories of two processes of one phone, in virtual time.
@Suite("Schedules in virtual time", .serialized, .timeLimit(.minutes(60)))
struct VirtualScheduleTests {
    /// How many schedules run: `SOJOURN_SDK_VIRTUAL`, if it is set.
    private static let count =
        ProcessInfo.processInfo.environment["SOJOURN_SDK_VIRTUAL"].flatMap { Int($0) }
        ?? Lane.rounds(push: 400, full: 50_000)

    /// The first seed: `SOJOURN_SDK_SEED`, to run one schedule again.
    private static let first =
        ProcessInfo.processInfo.environment["SOJOURN_SDK_SEED"].flatMap { UInt64($0) } ?? 0

    /// Seeds of schedules that once signed the user out. Each stays here with what it showed, so that it runs in every lane.
    private static let failed: [UInt64] = [
        // A process that stood still between looking at the clock and the write stores the child long after its answer. It
        // rotates at once, while the other process's request with the parent is under way.
        19_469
    ]

    /// Runs the schedules with the seeds of a range, one after the other.
    private static func run(
        _ seeds: Range<UInt64>, _ renewal: SojournConfiguration.Renewal, _ mutation: VirtualSchedule.Mutation? = nil
    ) async throws -> VirtualSchedule.Figures {
        _ = OneThread.shared
        var total = VirtualSchedule.Figures()
        for seed in seeds {
            var schedule = VirtualSchedule(seed: seed, renewal: renewal, mutation: mutation)
            let figures = try await schedule.run()
            total.requests += figures.requests
            total.faults += figures.faults
            total.kills += figures.kills
        }
        return total
    }

    @Test(
        "no history signs the user out, and both processes hold one token at the end",
        arguments: [SojournConfiguration.Renewal.refreshToken, .boundRefreshToken])
    func nothingSignsOut(renewal: SojournConfiguration.Renewal) async throws {
        let figures = try await Self.run(Self.first..<Self.first + UInt64(Self.count), renewal)
        #expect(figures.faults >= Self.count)
        print(
            "virtual schedules: \(Self.count) \(renewal), \(figures.requests) requests, \(figures.faults) faults, "
                + "\(figures.kills) kills")
    }

    @Test(
        "no history that once signed the user out does so again",
        arguments: [SojournConfiguration.Renewal.refreshToken, .boundRefreshToken])
    func nothingFailsAgain(renewal: SojournConfiguration.Renewal) async throws {
        for seed in Self.failed { _ = try await Self.run(seed..<seed + 1, renewal) }
    }

    @Test("a request that was overtaken must not be decided")
    func overtakenRequests() async {
        await #expect(throws: VirtualSchedule.Failure.self) {
            try await Self.run(19_469..<19_470, .refreshToken, .decidesOvertaken)
        }
    }

    @Test("a broken rule is noticed", arguments: [VirtualSchedule.Mutation.swapsBlindly, .decidesSleepers])
    func brokenRules(mutation: VirtualSchedule.Mutation) async {
        await #expect(throws: VirtualSchedule.Failure.self) { try await Self.run(0..<20_000, .refreshToken, mutation) }
    }
}
