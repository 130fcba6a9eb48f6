import Testing

@testable import SQLiteStore

/// When the log is copied, and how: without a delay for any caller, and no oftener.
@Suite struct CheckpointPlanTests {
    typealias Step = CheckpointPlan.Step

    static func whole(_ pagesMax: Int) -> CheckpointPlan { CheckpointPlan(pagesMax: pagesMax, inPieces: false) }

    @Test func whatAReaderKeepsBackIsTriedAgainAQuarterLater() {
        var plan = Self.whole(100)
        plan.committed(pages: 99, in: .zero)
        #expect(plan.next == .nothing)
        plan.committed(pages: 1, in: .zero)
        #expect(plan.next == .copyAll)
        plan.copiedAll(left: 40, in: .zero)
        #expect(plan.isCopiedInPart)
        plan.committed(pages: 60, in: .zero)
        #expect(plan.next == .copyAll)
        plan.copiedAll(left: 100, in: .zero)
        plan.committed(pages: 24, in: .zero)
        #expect(plan.next == .nothing)
        plan.committed(pages: 1, in: .zero)
        #expect(plan.next == .copyAll)
        plan.copiedAll(left: 0, in: .zero)
        #expect(!plan.isCopiedInPart)
        plan.committed(pages: 99, in: .zero)
        #expect(plan.next == .nothing)
    }

    @Test func piecesGetSmallerUntilAFewPagesAreLeft() {
        var plan = CheckpointPlan(pagesMax: 640)
        plan.committed(pages: 319, in: .zero)
        #expect(plan.next == .nothing)
        plan.committed(pages: 1, in: .zero)
        #expect(plan.next == .hold)
        plan.held()
        // A copy of all that there is would wait for the disk.
        #expect(plan.next == .nothing)
        plan.committed(pages: 5, in: .zero)
        #expect(plan.next == .copyHeld)
        #expect(plan.copiedHeld(left: 5, in: .milliseconds(2)) == 320)
        #expect(plan.isCopiedInPart)
        plan.committed(pages: 16, in: .zero)
        #expect(plan.next == .nothing)
        plan.synced(in: .milliseconds(30))
        #expect(!plan.isCopiedInPart)
        #expect(plan.next == .hold)
        plan.held()
        plan.committed(pages: 20, in: .zero)
        #expect(plan.copiedHeld(left: 20, in: .milliseconds(1)) == 21)
        plan.synced(in: .milliseconds(1))
        #expect(plan.next == .copyAll)
        plan.copiedAll(left: 0, in: .milliseconds(3))
        #expect(plan.next == .nothing && plan.isInPieces)
    }

    /// A disk that is slower than the changes come.
    @Test func piecesThatDoNotGetSmallerComeToAnEnd() {
        var plan = CheckpointPlan(pagesMax: 640)
        plan.committed(pages: 320, in: .zero)
        var pieces = 0
        while plan.next == .hold {
            plan.held()
            plan.committed(pages: 300, in: .zero)
            _ = plan.copiedHeld(left: 300, in: .zero)
            plan.synced(in: .seconds(1))
            pieces += 1
        }
        #expect(pieces == CheckpointPlan.piecesMax && plan.next == .copyAll)
    }

    @Test func whatAReaderKeepsBackOfAPieceIsTriedAgainAQuarterLater() {
        var plan = CheckpointPlan(pagesMax: 640)
        plan.committed(pages: 320, in: .zero)
        plan.held()
        plan.committed(pages: 1, in: .zero)
        _ = plan.copiedHeld(left: 321, in: .zero)
        plan.synced(in: .zero)
        plan.committed(pages: 159, in: .zero)
        #expect(plan.next == .nothing)
        plan.committed(pages: 1, in: .zero)
        #expect(plan.next == .hold)
    }

    /// A disk that takes so long for each page, and for the commit before.
    @Test(
        arguments: [
            (0, 0, false),
            (2, 200, false),  // pages side by side: four milliseconds for all
            (25, 200, true),  // random pages
            (25, 10_000, false),  // fifty milliseconds are five commits
        ])
    func aLogThatIsCopiedUnnoticedIsCopiedWhole(page: Int, commit: Int, inPieces: Bool) {
        var plan = CheckpointPlan(pagesMax: 2000)
        #expect(plan.isInPieces)
        var waiting = 0
        func write(_ pages: Int) {
            plan.committed(pages: pages, in: .microseconds(commit))
            waiting += pages
        }
        for _ in 0..<10_000 {
            switch plan.next {
            case .nothing: write(1)
            case .hold: plan.held()
            case .copyHeld:
                _ = plan.copiedHeld(left: 1, in: .zero)
                plan.synced(in: .microseconds(page * waiting))
                waiting = 1
            case .copyAll:
                plan.copiedAll(left: 0, in: .microseconds(page * waiting))
                waiting = 0
            }
            if plan.next == .hold { for _ in 0..<8 { plan.committed(pages: 0, in: .microseconds(commit)) } }
        }
        #expect(plan.isInPieces == inPieces)
    }

    @Test func aCopyThatTakesLongIsMadeInPiecesFromThenOn() {
        var plan = CheckpointPlan(pagesMax: 2000)
        plan.committed(pages: 1000, in: .zero)
        plan.held()
        plan.committed(pages: 1, in: .zero)
        _ = plan.copiedHeld(left: 1, in: .zero)
        plan.synced(in: .milliseconds(4))
        #expect(!plan.isInPieces)
        plan.copiedAll(left: 0, in: .milliseconds(4))
        plan.committed(pages: 2000, in: .zero)
        plan.copiedAll(left: 0, in: .milliseconds(11))
        #expect(plan.isInPieces)
    }

    @Test func aPlanForOnePageCopiesEveryPage() {
        var plan = CheckpointPlan(pagesMax: 1)
        #expect(plan.next == .nothing)
        for duration in [Duration.zero, .seconds(9)] {
            plan.committed(pages: 1, in: .zero)
            #expect(plan.next == .copyAll)
            plan.copiedAll(left: 0, in: duration)
            #expect(plan.next == .nothing && !plan.isInPieces)
        }
    }
}
