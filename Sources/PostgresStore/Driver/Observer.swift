extension PostgresStore {
    /// What the store tells of its work, for metrics. Called on the store's own threads: it must be quick.
    public struct Observer: Sendable {
        /// After every batch of changes of sessions: how many, and the time from their turn to their answers.
        public var batchEnded: @Sendable (_ changes: Int, Duration) -> Void
        /// After an error that is not the caller's, with a sentence for the log.
        public var failed: @Sendable (String) -> Void

        /// An observer; what is left out is not observed.
        public init(
            batchEnded: @escaping @Sendable (_ changes: Int, Duration) -> Void = { _, _ in },
            failed: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.batchEnded = batchEnded
            self.failed = failed
        }
    }
}
