public import Sessions

/// Receives figures and failures of the store, for metrics. The store calls it on its own threads, so it must return quickly.
public struct Observer: Sendable {
    /// One batch of changes, which is committed or refused as a whole.
    public struct Batch: Sendable {
        /// The number of changes.
        public var changes: Int
        /// Whether the batch wrote rows. Only then was there an fsync.
        public var wrote: Bool
        /// The time from the begin of the transaction to the end of the commit.
        public var duration: Duration
        /// The part of `duration` that the commit took, which is mostly the fsync.
        public var commitDuration: Duration
        /// Whether the batch was committed. Otherwise every change in it was refused.
        public var isCommitted: Bool
        /// The beginnings and the ends of sessions that the batch recorded.
        public var transitions: [SessionTransition] = []
    }

    /// Called after every batch.
    public var batchEnded: @Sendable (Batch) -> Void
    /// Called after every checkpoint, with its duration.
    public var checkpointEnded: @Sendable (Duration) -> Void
    /// Called when a reader keeps the write-ahead log from restarting, with its length in bytes: when it passes
    /// `SQLiteStore.Options.logWarningBytes`, and again each time it has doubled.
    public var logGrew: @Sendable (Int64) -> Void
    /// Called after an error that the caller did not cause, with a sentence for the log.
    public var failed: @Sendable (String) -> Void
    /// Called with a sentence for the log about a step of a newer program in the schema.
    public var noted: @Sendable (String) -> Void

    /// An observer. An omitted callback does nothing.
    public init(
        batchEnded: @escaping @Sendable (Batch) -> Void = { _ in },
        checkpointEnded: @escaping @Sendable (Duration) -> Void = { _ in },
        logGrew: @escaping @Sendable (Int64) -> Void = { _ in },
        failed: @escaping @Sendable (String) -> Void = { _ in },
        noted: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.batchEnded = batchEnded
        self.checkpointEnded = checkpointEnded
        self.logGrew = logGrew
        self.failed = failed
        self.noted = noted
    }
}
