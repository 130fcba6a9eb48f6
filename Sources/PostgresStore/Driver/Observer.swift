public import Sessions

extension PostgresStore {
    /// Receives figures and failures of the store, for metrics. The store calls it on its own threads, so it must return
    /// quickly.
    public struct Observer: Sendable {
        /// Called after every batch of session changes, with their number and the time from the start of the batch to its
        /// answers.
        public var batchEnded: @Sendable (_ changes: Int, Duration) -> Void
        /// Called after a commit that recorded ends of sessions, with the reason of each.
        public var sessionsEnded: @Sendable ([EndReason]) -> Void
        /// Called after an error that the caller did not cause, with a sentence for the log.
        public var failed: @Sendable (String) -> Void

        /// An observer. An omitted callback does nothing.
        public init(
            batchEnded: @escaping @Sendable (_ changes: Int, Duration) -> Void = { _, _ in },
            sessionsEnded: @escaping @Sendable ([EndReason]) -> Void = { _ in },
            failed: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.batchEnded = batchEnded
            self.sessionsEnded = sessionsEnded
            self.failed = failed
        }
    }
}
