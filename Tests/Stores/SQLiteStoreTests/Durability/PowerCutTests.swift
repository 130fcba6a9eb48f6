import FoundationEssentials
import Repository
import Sessions
import StoreConformance
import Testing

@testable import SQLiteStore

/// The power goes at random moments: while changes are committed, while the log is copied back, while the database is
/// made, while a start recovers from the cut before. What was never synced is gone, or half of it. Everything that was
/// acknowledged must be there. With less waiting for the disk it is not: the disk of the test can tell.
@Suite(.timeLimit(.minutes(5))) struct PowerCutTests {
    /// What a row of power cuts came to.
    struct Outcome {
        var cuts = 0
        /// Cuts in the middle of opening the database.
        var cutsWhileOpening = 0
        var acknowledgements = 0
        var losses: [String] = []
        /// The database could not be opened any more, or was found damaged.
        var isDamaged = false
    }

    /// Whether the log is copied as a whole or in pieces.
    @Test(arguments: SeededGenerator.seeds(Lane.isFull ? 8 : 3), [false, true])
    func withFullSynchronisationNothingAcknowledgedIsLost(seed: UInt64, inPieces: Bool) async throws {
        let outcome = try await Self.play(seed: seed, cuts: 40, .full, inPieces: inPieces)
        #expect(outcome.losses == [], "seed \(seed), cut \(outcome.cuts)")
        #expect(!outcome.isDamaged, "seed \(seed), cut \(outcome.cuts)")
        #expect(outcome.cuts == 40)
        #expect(outcome.acknowledgements > 400)
    }

    @Test func cutsHitTheOpeningToo() async throws {
        let outcome = try await Self.play(seed: 99, cuts: 40, .full, stepsMax: 30)
        #expect(outcome.losses == [])
        #expect(!outcome.isDamaged)
        #expect(outcome.cutsWhileOpening > 5)
    }

    @Test func withNormalSynchronisationAcknowledgedChangesAreLost() async throws {
        let outcome = try await Self.play(seed: 1, cuts: 100, .normal)
        #expect(!outcome.losses.isEmpty)
        // What NORMAL promises: an older state, but a whole one.
        #expect(!outcome.isDamaged)
    }

    @Test func withoutSynchronisationAcknowledgedChangesAreLost() async throws {
        let outcome = try await Self.play(seed: 1, cuts: 100, .off)
        #expect(!outcome.losses.isEmpty || outcome.isDamaged)
    }

    /// Lets the power of one database fail `cuts` times, or until something is lost.
    static func play(
        seed: UInt64, cuts: Int, _ synchronous: SQLiteStore.Synchronous, stepsMax: Int = 300,
        inPieces: Bool = false
    ) async throws -> Outcome {
        FaultyDisk.install()
        var outcome = Outcome()
        try await TemporaryFolder.with { folder in
            var random = SeededGenerator(seed: seed)
            var workers = (0..<6).map(PowerCutWorker.init)
            while outcome.cuts < cuts, outcome.losses.isEmpty, !outcome.isDamaged {
                let steps = Int.random(in: 1...stepsMax, using: &random)
                let disk = VolatileDisk(database: folder.database, powerFailsAfter: steps)
                FaultyDisk.insert(disk)
                defer { FaultyDisk.remove(disk) }
                do {
                    let store = try folder.open { options in
                        options.synchronous = synchronous
                        options.checkpointFrames = 20
                        options.checkpointsInPieces = inPieces
                    }
                    workers = try await Self.run(workers, on: store, &outcome, using: &random)
                    await store.close()
                } catch let error as OpenError {
                    // Power that is there opens every database.
                    if disk.isOff { outcome.cutsWhileOpening += 1 } else { outcome.note(error) }
                }
                let survival = VolatileDisk.Survival.allCases.randomElement(using: &random) ?? .nothing
                try disk.restart(survival, using: &random)
                outcome.cuts += 1
            }
            outcome.acknowledgements = workers.map(\.acknowledgements).reduce(0, +)
        }
        return outcome
    }

    /// Checks what the workers know, and lets them work until the power goes.
    private static func run(
        _ workers: [PowerCutWorker], on store: SQLiteStore, _ outcome: inout Outcome,
        using random: inout SeededGenerator
    ) async throws -> [PowerCutWorker] {
        var workers = workers
        do throws(StoreError) {
            for index in workers.indices { outcome.losses += try await workers[index].losses(store) }
            outcome.isDamaged = try await !store.diagnostics().problems.isEmpty
        } catch {
            guard case .corrupted = error else { throw error }
            outcome.isDamaged = true
        }
        guard outcome.losses.isEmpty, !outcome.isDamaged else { return workers }
        return await withTaskGroup(of: PowerCutWorker.self) { group in
            for worker in workers {
                let seed = random.next()
                group.addTask {
                    var (worker, random) = (worker, SeededGenerator(seed: seed))
                    await worker.work(store, count: 100, using: &random)
                    return worker
                }
            }
            return await group.reduce(into: workers) { $0[$1.number] = $1 }
        }
    }
}

extension PowerCutTests.Outcome {
    fileprivate mutating func note(_ error: OpenError) {
        isDamaged = true
        losses.append(error.description)
    }
}
