/// What the store tells of its work, for metrics. Called on the store's own threads: it must be quick.
public struct Observer: Sendable {
    /// One batch of changes, committed or refused together.
    public struct Batch: Sendable {
        /// How many changes were run.
        public var changes: Int
        /// Whether anything had to be written: only then was there an fsync.
        public var wrote: Bool
        /// From the begin of the transaction to the end of the commit.
        public var duration: Duration
        /// The end of it: the commit alone, mostly the fsync.
        public var commitDuration: Duration
        /// Whether it was committed; else every change in it was refused.
        public var isCommitted: Bool
    }

    /// After every batch.
    public var batchEnded: @Sendable (Batch) -> Void
    /// After every checkpoint, with the time that it took.
    public var checkpointEnded: @Sendable (Duration) -> Void
    /// After an error that is not the caller's, with a sentence for the log.
    public var failed: @Sendable (String) -> Void

    /// An observer; what is left out is not observed.
    public init(
        batchEnded: @escaping @Sendable (Batch) -> Void = { _ in },
        checkpointEnded: @escaping @Sendable (Duration) -> Void = { _ in },
        failed: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.batchEnded = batchEnded
        self.checkpointEnded = checkpointEnded
        self.failed = failed
    }
}
