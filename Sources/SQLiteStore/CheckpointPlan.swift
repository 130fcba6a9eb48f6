/// When the writer copies the log into the database, and how: beside the changes, in passes, as long as there is much to
/// copy; between two batches, once there is little. A file of millions of sessions has each change on a page of its own, and
/// two thousand such pages take a disk tens of milliseconds, for which nobody should have to wait.
///
/// The log begins anew only when all of it is copied, which under load only a copy between two batches can bring about. Each
/// pass leaves what was written during it, a fraction of what it copied.
struct CheckpointPlan {
    /// What is to be done after a batch.
    enum Step {
        case nothing
        /// Copying beside the changes, by another connection.
        case pass
        /// Copying before the next batch.
        case pause
    }

    /// A log of so many pages is due.
    let due: Int
    /// So many pages are copied quickly enough for all to wait.
    let few: Int
    /// A log that has grown to so many times what is due is copied while all wait: the disk is slower than the changes.
    static let patience = 16

    /// Pages written since the last pass began, or since all was copied.
    private var waiting = 0
    /// Whether anything was written since the last pass was seen to end. If not, everything may be copied, and the log may
    /// begin anew at any moment: versions of SQLite before 3.51.3 can damage a log that is copied at that very moment.
    private var hasGrown = false
    private var isEnding = false
    private var isOverlong = false

    init(due: Int, few: Int) {
        self.due = due
        self.few = few
    }

    /// A commit wrote so many pages.
    mutating func wrote(pages: Int) {
        waiting += pages
        if pages > 0 { hasGrown = true }
    }

    /// What is to be done now, while no pass runs.
    mutating func next() -> Step {
        guard hasGrown, waiting >= due || isEnding else { return .nothing }
        if waiting <= few || isOverlong { return .pause }
        waiting = 0
        return .pass
    }

    /// A pass has ended: it copied all `pagesInLog` that it found, or what the readers allowed.
    mutating func passEnded(isComplete: Bool, pagesInLog: Int) {
        hasGrown = false
        isEnding = isComplete
        isOverlong = isComplete && pagesInLog > due * Self.patience
        if !isComplete { waiting = due * 3 / 4 }
    }

    /// A copy between two batches has ended. What a reader kept back is tried again a quarter of the way later.
    mutating func pauseEnded(isComplete: Bool) {
        waiting = isComplete ? 0 : due * 3 / 4
        hasGrown = !isComplete
        (isEnding, isOverlong) = (false, false)
    }

    /// It failed, and is tried again a quarter of the way later.
    mutating func failed() { pauseEnded(isComplete: false) }

    /// All is copied.
    mutating func allCopied() { pauseEnded(isComplete: true) }
}
