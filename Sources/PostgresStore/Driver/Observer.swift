public import Sessions

extension PostgresStore {
    /// Receives figures and failures of the store, for metrics. The store calls it on its own threads, so it must return
    /// quickly.
    public struct Observer: Sendable {
        /// Called after every batch of session changes, with their number and the time from the start of the batch to its
        /// answers.
        public var batchEnded: @Sendable (_ changes: Int, Duration) -> Void
        /// Called after a commit with the events that it recorded, if there are any.
        public var recorded: @Sendable ([AuditEvent]) -> Void
        /// Called after every commit.
        public var committed: @Sendable () -> Void
        /// Called after an error that the caller did not cause, with a sentence for the log.
        public var failed: @Sendable (String) -> Void
        /// Called with a sentence for the log about the schema: a step of a newer program, the progress of an index.
        public var noted: @Sendable (String) -> Void

        /// An observer. An omitted callback does nothing.
        public init(
            batchEnded: @escaping @Sendable (_ changes: Int, Duration) -> Void = { _, _ in },
            recorded: @escaping @Sendable ([AuditEvent]) -> Void = { _ in },
            committed: @escaping @Sendable () -> Void = {},
            failed: @escaping @Sendable (String) -> Void = { _ in },
            noted: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.batchEnded = batchEnded
            self.recorded = recorded
            self.committed = committed
            self.failed = failed
            self.noted = noted
        }
    }
}
