/// When the writer copies the log into the database, for which everybody waits: as seldom as possible, because every copy
/// has to wait for the disk three times and writes a page once that was changed often, and as often as needed for no
/// copy to be a wait that anybody notices. In a small file two thousand changes share some hundred pages, which lie side by
/// side; in one of ten million sessions each has a page of its own, and two thousand of them take a disk fifty milliseconds.
/// So the plan looks at how long the last copy took.
struct CheckpointPlan {
    /// The longest that a copy should take: not noticed beside the signatures and the network.
    static let brief: Duration = .milliseconds(10)
    /// On a slow disk a copy takes no longer than so many commits.
    static let commitsToWait = 8

    /// The log is copied after so many pages: at least the least, at most the most.
    private(set) var due: Int
    private let dueMin: Int
    private let dueMax: Int
    /// Pages written since all was copied.
    private var waiting = 0
    /// A slow guess at the time of a commit: what the last ones took, each half as much as the one after it.
    private var commit: Duration = .zero
    /// Whether a reader has kept a copy from being whole since the log last was. SQLite does not wait for the disk after such
    /// a one, so what it copied may yet be lost without anybody having been told.
    private(set) var isCopiedInPart = false

    /// A plan for a log that is empty, and is never to grow beyond `dueMax` pages while nobody reads.
    init(dueMax: Int) {
        self.dueMax = dueMax
        dueMin = max(1, dueMax / 16)
        due = max(dueMin, dueMax / 8)
    }

    /// A commit took that long, and wrote so many pages.
    mutating func committed(pages: Int, in duration: Duration) {
        waiting += pages
        commit = (commit + duration) / 2
    }

    /// Whether the log is to be copied now.
    var isDue: Bool { waiting >= due }

    /// The log was copied. What a reader kept back is tried again a quarter of the way later.
    mutating func copied(isComplete: Bool, in duration: Duration) {
        waiting = isComplete ? 0 : due * 3 / 4
        isCopiedInPart = !isComplete
        let longest = max(Self.brief, commit * Self.commitsToWait)
        if duration > longest { due = max(dueMin, due / 2) }
        if duration < longest / 2 { due = min(dueMax, due * 2) }
    }

    /// It could not be copied, and is tried again a quarter of the way later.
    mutating func failed() { waiting = due * 3 / 4 }

    /// All is copied, and the log is cut to nothing.
    mutating func allCopied() {
        waiting = 0
        isCopiedInPart = false
    }
}
