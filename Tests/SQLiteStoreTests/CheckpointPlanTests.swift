import Testing

@testable import SQLiteStore

/// When the log is copied: so that nobody notices, and no oftener.
@Suite struct CheckpointPlanTests {
    @Test func whatAReaderKeepsBackIsTriedAgainAQuarterLater() {
        var plan = CheckpointPlan(dueMax: 800)
        plan.committed(pages: 99, in: .zero)
        #expect(!plan.isDue)
        plan.committed(pages: 1, in: .zero)
        #expect(plan.isDue)
        plan.copied(isComplete: false, in: CheckpointPlan.brief)
        #expect(plan.isCopiedInPart)
        plan.committed(pages: 24, in: .zero)
        #expect(!plan.isDue)
        plan.committed(pages: 1, in: .zero)
        #expect(plan.isDue)
        plan.copied(isComplete: true, in: CheckpointPlan.brief)
        #expect(!plan.isCopiedInPart)
        plan.committed(pages: 99, in: .zero)
        #expect(!plan.isDue)
    }

    /// A disk that takes so long for each page, and for the commit before.
    @Test(
        arguments: [
            (0, 0, 2000),  // no time at all: as seldom as allowed
            (25, 200, 250),  // random pages: six milliseconds
            (2, 200, 2000),  // pages side by side
            (1000, 100, 125),  // never less than the least
            (80, 10_000, 500),  // a slow disk: eight commits
        ])
    func aCopyTakesAsLongAsNobodyNotices(page: Int, commit: Int, due: Int) {
        var plan = CheckpointPlan(dueMax: 2000)
        for _ in 0..<40 {
            while !plan.isDue { plan.committed(pages: 1, in: .microseconds(commit)) }
            plan.copied(isComplete: true, in: .microseconds(page * plan.due))
        }
        #expect(plan.due == due)
    }

    @Test func aPlanForOnePageCopiesEveryPage() {
        var plan = CheckpointPlan(dueMax: 1)
        #expect(!plan.isDue)
        for duration in [Duration.zero, .seconds(9)] {
            plan.committed(pages: 1, in: .zero)
            #expect(plan.isDue)
            plan.copied(isComplete: true, in: duration)
            #expect(!plan.isDue && plan.due == 1)
        }
    }
}
