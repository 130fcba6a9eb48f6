import Cryptography
import Locks
import Sessions
import Testing

@testable import SQLiteStore

/// The log is copied beside the changes: nothing is lost, and it begins anew again and again.
@Suite struct CheckpointPassTests {
    @Test func changesGoOnBesidePasses() async throws {
        try await TemporaryFolder.with { folder in
            let checkpoints = Locked(0)
            let longestLog = Locked(0)
            let open = {
                try folder.open {
                    $0.checkpointFrames = 40
                    $0.briefCheckpointFrames = 4
                    $0.observer = Observer(checkpointEnded: { _ in checkpoints.withLock { $0 += 1 } })
                }
            }
            let store = try open()
            let user = Example.user()
            #expect(try await store.insertUser(user, events: []))
            // Each on pages of its own, or nearly.
            let sessions = (0..<2000).map { index in
                Session(
                    id: Identifier(random: .system), userID: user.id, clientID: "mobile",
                    device: Device(id: "device-\(index)"),
                    startedAt: Example.start, epoch: 1)
            }
            _ = try await store.importSessions(sessions)
            let rounds = 12
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for round in 1...rounds {
                            for index in stride(from: task, to: sessions.count, by: 8 * 7) {
                                try await store.updateSession(sessions[index].id) {
                                    $0.session.parent = $0.session.child
                                    $0.session.child = UInt64(1 + round)
                                }
                            }
                            let size = DatabaseFile.size(folder.database + "-wal")
                            longestLog.withLock { $0 = max($0, Int(size)) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(checkpoints.withLock { $0 } > 3)
            // About 3000 changes of a page each were written, and the log never held nearly so much.
            #expect(longestLog.withLock { $0 } < 40 * CheckpointPlan.patience * 2 * 4120)
            #expect(try await store.diagnostics().problems.isEmpty)
            await store.close()
            #expect(DatabaseFile.size(folder.database + "-wal") == 0)

            let reopened = try open()
            for task in 0..<8 {
                for index in stride(from: task, to: sessions.count, by: 8 * 7) {
                    #expect(try await reopened.session(sessions[index].id)?.session.child == UInt64(1 + rounds))
                }
            }
            await reopened.close()
        }
    }

    @Test func aPassBeginsOnlyWhenSomethingWasWrittenSinceTheLastOneEnded() {
        var plan = CheckpointPlan(due: 100, few: 10)
        #expect(plan.next() == .nothing)
        plan.wrote(pages: 99)
        #expect(plan.next() == .nothing)
        plan.wrote(pages: 1)
        #expect(plan.next() == .pass)
        // Written while it runs: it may have found these pages too.
        plan.wrote(pages: 50)
        plan.passEnded(isComplete: true, pagesInLog: 150)
        #expect(plan.next() == .nothing)
        plan.wrote(pages: 0)
        #expect(plan.next() == .nothing)
        plan.wrote(pages: 1)
        #expect(plan.next() == .pass)
        plan.wrote(pages: 5)
        plan.passEnded(isComplete: true, pagesInLog: 156)
        plan.wrote(pages: 1)
        #expect(plan.next() == .pause)
        plan.pauseEnded(isComplete: true)
        #expect(plan.next() == .nothing)
        plan.wrote(pages: 99)
        #expect(plan.next() == .nothing)
    }

    @Test func aLogThatGrowsFasterThanItIsCopiedIsCopiedWhileAllWait() {
        var plan = CheckpointPlan(due: 100, few: 10)
        plan.wrote(pages: 100)
        var (log, passes) = (100, 0)
        while plan.next() == .pass, passes < 1000 {
            passes += 1
            log += 200
            plan.wrote(pages: 200)
            plan.passEnded(isComplete: true, pagesInLog: log)
            plan.wrote(pages: 1)
        }
        #expect(plan.next() == .pause)
        #expect(log <= 100 * CheckpointPlan.patience + 200)
    }

    @Test func whatAReaderKeepsBackIsTriedAgainAQuarterLater() {
        var plan = CheckpointPlan(due: 100, few: 10)
        plan.wrote(pages: 100)
        #expect(plan.next() == .pass)
        plan.passEnded(isComplete: false, pagesInLog: 5000)
        plan.wrote(pages: 24)
        #expect(plan.next() == .nothing)
        plan.wrote(pages: 1)
        #expect(plan.next() == .pass)
    }
}
