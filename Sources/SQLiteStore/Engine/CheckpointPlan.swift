/// Decides when and how the writer copies the log into the database, so that changes are not delayed noticeably.
///
/// In a small file two thousand changes share some hundred adjacent pages. There the log is copied as a whole, and seldom,
/// because every such copy waits for the disk three times. In a file of ten million sessions each change has a page of its own,
/// and two thousand of them take a disk fifty milliseconds. There the log is copied in pieces: the writer copies up to a state
/// that `DatabaseSync` holds, and `DatabaseSync` waits for the disk meanwhile. Each piece is what was written during the one
/// before it, so the pieces get smaller. When only a few pages are left, the writer copies them, waits for the disk, and
/// restarts the log.
struct CheckpointPlan {
    /// The longest intended duration of a copy of the whole log. It is not noticeable beside the signatures and the network.
    static let brief: Duration = .milliseconds(10)
    /// On a slow disk, a copy may take as long as that number of commits.
    static let commitsToWait = 8
    /// The number of pieces after which the remaining pages are copied at once, because a disk that is slower than the changes
    /// never reaches the last few pages.
    static let piecesMax = 16

    /// The next action of the writer.
    enum Step: Hashable {
        case nothing
        /// Copies the whole log and waits for the disk. The log restarts.
        case copyAll
        /// Holds the state of the last commit.
        case hold
        /// Copies up to the held state, and lets `DatabaseSync` wait for the disk.
        case copyHeld
    }

    private enum Piece {
        case none
        /// A state with that number of pages to copy is held.
        case held(Int)
        /// That number of pages was copied in that time, and the disk is writing them.
        case copied(Int, Duration)
    }

    private let pagesMax: Int
    /// The number of pages that are copied at once, with a wait for the disk.
    private let few: Int
    private let learns: Bool
    private(set) var isInPieces: Bool
    /// The number of pages in the log that are not copied.
    private var waiting = 0
    /// The number of pages to be written before the next attempt.
    private var pause = 0
    private var piece = Piece.none
    /// The number of pieces that were copied since the log restarted.
    private var pieces = 0
    /// A moving average of the commit duration, in which each commit has half the weight of the next one.
    private var commit: Duration = .zero
    /// Whether copied pages may still be lost without an error, because SQLite does not wait for the disk when a reader has
    /// kept a copy from being complete.
    private(set) var isCopiedInPart = false

    /// A plan for an empty log, of which up to `pagesMax` pages may wait. `inPieces` fixes whether to copy in pieces; nil
    /// learns it from the durations. Learning begins with pieces, because they are the least noticeable, if the log is long
    /// enough to have any.
    init(pagesMax: Int, inPieces: Bool? = nil) {
        self.pagesMax = pagesMax
        few = pagesMax / 32
        learns = inPieces == nil && few > 0
        isInPieces = inPieces ?? (few > 0)
    }

    /// Records a commit that wrote that number of pages in that duration.
    mutating func committed(pages: Int, in duration: Duration) {
        waiting += pages
        pause = max(0, pause - pages)
        commit = (commit + duration) / 2
    }

    /// The next action.
    var next: Step {
        switch piece {
        // Without a remainder, SQLite would treat the copy as a complete one, and wait for the disk itself.
        case .held(let pages): return waiting > pages ? .copyHeld : .nothing
        case .copied: return .nothing
        case .none: break
        }
        if pause > 0 { return .nothing }
        if pieces > 0 { return waiting <= few || pieces >= Self.piecesMax ? .copyAll : .hold }
        if isInPieces { return waiting >= max(1, pagesMax / 2) ? .hold : .nothing }
        return waiting >= pagesMax ? .copyAll : .nothing
    }

    /// Records that the state of all waiting pages is held.
    mutating func held() { piece = .held(waiting) }

    /// Records that the held pages are copied except for `left`, and that the wait for the disk has begun. Returns the number
    /// of held pages.
    mutating func copiedHeld(left: Int, in duration: Duration) -> Int {
        guard case .held(let pages) = piece else { return 0 }
        // More pages are left than were written meanwhile, because another reader holds an older state.
        if left > waiting - pages { pause = max(1, pagesMax / 4) }
        piece = .copied(pages, duration)
        pieces += 1
        waiting = left
        isCopiedInPart = true
        return pages
    }

    /// Records that the copied pages are durable, after a wait of that duration.
    mutating func synced(in duration: Duration) {
        guard case .copied(let pages, let copying) = piece else { return }
        piece = .none
        isCopiedInPart = false
        // A piece of twice the size would still have been brief enough.
        if learns, pages >= pagesMax / 2, copying + duration < longest / 2 { isInPieces = false }
    }

    /// Records that the log was copied and synced, except for `left` pages that a reader held back. They are tried again later.
    mutating func copiedAll(left: Int, in duration: Duration) {
        if learns, waiting >= pagesMax / 2, duration > longest { isInPieces = true }
        begin(waiting: left)
        isCopiedInPart = left > 0
        if left > 0 { pause = max(1, pagesMax / 4) }
    }

    /// Records that the copy failed. It is tried again later.
    mutating func failed() {
        begin(waiting: waiting)
        pause = max(1, pagesMax / 4)
    }

    /// Records that the whole log is copied and truncated.
    mutating func allCopied() {
        begin(waiting: 0)
        pause = 0
        isCopiedInPart = false
    }

    private mutating func begin(waiting left: Int) {
        waiting = left
        pieces = 0
        piece = .none
    }

    private var longest: Duration { max(Self.brief, commit * Self.commitsToWait) }
}
