public import Sessions

extension PostgresStore {
    /// Receives figures and failures of the store, for metrics. The store calls it on its own threads, so it must return
    /// quickly.
    public struct Observer: Sendable {
        /// Called after every batch of session changes, with their number and the time from the start of the batch to its
        /// answers.
        public var batchEnded: @Sendable (_ changes: Int, Duration) -> Void
        /// Called after a commit that recorded beginnings and ends of sessions.
        public var sessionsChanged: @Sendable ([SessionTransition]) -> Void
        /// Called after every commit.
        public var committed: @Sendable () -> Void
        /// Called after an error that the caller did not cause, with a sentence for the log.
        public var failed: @Sendable (String) -> Void
        /// Called with a sentence for the log about the schema: a step of a newer program, the progress of an index.
        public var noted: @Sendable (String) -> Void

        /// An observer. An omitted callback does nothing.
        public init(
            batchEnded: @escaping @Sendable (_ changes: Int, Duration) -> Void = { _, _ in },
            sessionsChanged: @escaping @Sendable ([SessionTransition]) -> Void = { _ in },
            committed: @escaping @Sendable () -> Void = {},
            failed: @escaping @Sendable (String) -> Void = { _ in },
            noted: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.batchEnded = batchEnded
            self.sessionsChanged = sessionsChanged
            self.committed = committed
            self.failed = failed
            self.noted = noted
        }
    }
}
