/// When and how the writer copies the log into the database, so that nobody who waits for the writer notices.
///
/// In a small file two thousand changes share some hundred pages that lie side by side: the log is copied as a whole, and seldom,
/// because every such copy waits for the disk three times. In a file of ten million sessions each change has a page of its own, and
/// two thousand of them take a disk fifty milliseconds. There the log is copied in pieces: the writer copies up to a state that
/// `DatabaseSync` holds, and `DatabaseSync` waits for the disk meanwhile. Each piece is what was written during the one before it, so
/// they get smaller; once only a few pages are left, these are copied and waited for at once, and the log begins anew.
struct CheckpointPlan {
    /// The longest that a copy of the whole log should take: not noticed beside the signatures and the network.
    static let brief: Duration = .milliseconds(10)
    /// On a slow disk it takes no longer than so many commits.
    static let commitsToWait = 8
    /// A disk that is slower than the changes come never gets to the last few pages: they are copied after so many pieces.
    static let piecesMax = 16

    /// What the writer does next.
    enum Step: Hashable {
        case nothing
        /// Copies the whole log and waits for the disk: the log begins anew.
        case copyAll
        /// Has the state of the last commit held.
        case hold
        /// Copies up to the state that is held, and lets `DatabaseSync` wait for the disk.
        case copyHeld
    }

    private enum Piece {
        case none
        /// So many pages are held.
        case held(Int)
        /// So many pages were copied in that time, and are on their way to the disk.
        case copied(Int, Duration)
    }

    private let pagesMax: Int
    /// Pages that are copied and waited for at once.
    private let few: Int
    private let learns: Bool
    private(set) var isInPieces: Bool
    /// Pages in the log that are not copied.
    private var waiting = 0
    /// Pages to be written before anything is tried again.
    private var pause = 0
    private var piece = Piece.none
    /// How many pieces were copied since the log began.
    private var pieces = 0
    /// A slow guess at the time of a commit: what the last ones took, each half as much as the one after it.
    private var commit: Duration = .zero
    /// Whether pages were copied that the disk may yet lose without anybody having been told: SQLite does not wait for the disk
    /// when a reader has kept a copy from being whole.
    private(set) var isCopiedInPart = false

    /// A plan for a log that is empty, and of which `pagesMax` pages may wait. Finds out whether to copy in pieces, unless it is
    /// told: begins with them, because they are noticed least, if the log is long enough to have any.
    init(pagesMax: Int, inPieces: Bool? = nil) {
        self.pagesMax = pagesMax
        few = pagesMax / 32
        learns = inPieces == nil && few > 0
        isInPieces = inPieces ?? (few > 0)
    }

    /// A commit took that long, and wrote so many pages.
    mutating func committed(pages: Int, in duration: Duration) {
        waiting += pages
        pause = max(0, pause - pages)
        commit = (commit + duration) / 2
    }

    /// What is to be done now.
    var next: Step {
        switch piece {
        // SQLite would take a copy without anything left for a whole one, and wait for the disk itself.
        case .held(let pages): return waiting > pages ? .copyHeld : .nothing
        case .copied: return .nothing
        case .none: break
        }
        if pause > 0 { return .nothing }
        if pieces > 0 { return waiting <= few || pieces >= Self.piecesMax ? .copyAll : .hold }
        if isInPieces { return waiting >= max(1, pagesMax / 2) ? .hold : .nothing }
        return waiting >= pagesMax ? .copyAll : .nothing
    }

    /// All that waits is held.
    mutating func held() { piece = .held(waiting) }

    /// What was held is copied, and `left` pages are not; the disk is being waited for. Returns how many pages were held.
    mutating func copiedHeld(left: Int, in duration: Duration) -> Int {
        guard case .held(let pages) = piece else { return 0 }
        // More than what has come meanwhile: another reader holds an older state.
        if left > waiting - pages { pause = max(1, pagesMax / 4) }
        piece = .copied(pages, duration)
        pieces += 1
        waiting = left
        isCopiedInPart = true
        return pages
    }

    /// The disk has what was copied, after it was waited for that long.
    mutating func synced(in duration: Duration) {
        guard case .copied(let pages, let copying) = piece else { return }
        piece = .none
        isCopiedInPart = false
        // Twice as much at once would have been brief.
        if learns, pages >= pagesMax / 2, copying + duration < longest / 2 { isInPieces = false }
    }

    /// The log was copied and the disk waited for, but for `left` pages that a reader kept back, which are tried later.
    mutating func copiedAll(left: Int, in duration: Duration) {
        if learns, waiting >= pagesMax / 2, duration > longest { isInPieces = true }
        begin(waiting: left)
        isCopiedInPart = left > 0
        if left > 0 { pause = max(1, pagesMax / 4) }
    }

    /// It could not be copied, and is tried again later.
    mutating func failed() {
        begin(waiting: waiting)
        pause = max(1, pagesMax / 4)
    }

    /// All is copied, and the log is cut to nothing.
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
