public import Sessions

extension PostgresStore {
    /// What a fail-over can lose, and whether the locks between nodes work: settings that are allowed, and that an operator
    /// should know of.
    public struct DurabilityReport: Hashable, Sendable {
        /// `synchronous_commit`, as connections of this role have it.
        public var synchronousCommit: String
        /// `synchronous_standby_names`.
        public var synchronousStandbys: String
        /// The number of connections that stream the write-ahead log: standbys, and what archives it.
        public var standbyCount: Int64
        /// Whether a lock of one connection keeps another one out; nil: it could not be tried.
        public var locksWork: Bool?

        /// A report of the given values.
        public init(
            synchronousCommit: String, synchronousStandbys: String, standbyCount: Int64, locksWork: Bool?
        ) {
            self.synchronousCommit = synchronousCommit
            self.synchronousStandbys = synchronousStandbys
            self.standbyCount = standbyCount
            self.locksWork = locksWork
        }

        /// The sentences of the warnings, with their remedies; none if all is well.
        public var warnings: [String] {
            var warnings: [String] = []
            if standbyCount > 0, synchronousStandbys.isEmpty {
                warnings.append(
                    "the standby follows asynchronously, so that a fail-over to it loses what was acknowledged last: set "
                        + "synchronous_standby_names, or synchronous_mode in Patroni")
            }
            if ["off", "local"].contains(synchronousCommit) {
                warnings.append(
                    "synchronous_commit is \(synchronousCommit), so that an acknowledged change can be missing after a crash or a "
                        + "fail-over: let it be 'on' for this role and this database")
            }
            if locksWork == false {
                warnings.append(
                    "two connections hold the same advisory lock at once, so that several nodes overtake each other: use "
                        + "PostgreSQL itself, or run one node alone")
            }
            if locksWork == nil {
                warnings.append("it could not be tried whether advisory locks work: two connections are needed at once")
            }
            return warnings
        }
    }

    /// What a fail-over can lose. Makes two connections of its own.
    public func durability() async throws(StoreError) -> DurabilityReport {
        let (url, options) = (url, options)
        @Sendable func read(_: Connection, _ limit: TimeLimit) throws(DatabaseError) -> DurabilityReport {
            try DurabilityReport(of: try Connection(url: url, options), url: url, options, until: limit.deadline)
        }
        return try await perform(on: longReads, read)
    }
}

extension PostgresStore.DurabilityReport {
    /// Reads the settings by `connection`, and tries a lock with it and another one, also while nodes serve the database. Blocks
    /// the thread.
    init(
        of connection: Connection, url: String, _ options: PostgresStore.Options,
        until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) {
        let settings = try connection.read([Self.asking], until: deadline)[0].first { row in
            (row.text(), row.text(), row.integer(), row.integer())
        }
        guard let (commit, standbys, count, number) = settings else { throw .lost("an answer is missing") }
        // Fewer server connections than two, behind a pooler, are no reason to fail.
        let locksWork = try? Self.tryLock(
            number, connection, url, options, until: min(deadline, options.connectDeadline))
        self.init(
            synchronousCommit: commit, synchronousStandbys: standbys, standbyCount: count, locksWork: locksWork)
    }

    /// Whether a lock that `first` holds keeps another connection out.
    private static func tryLock(
        _ number: Int64, _ first: Connection, _ url: String, _ options: PostgresStore.Options,
        until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> Bool {
        // The second connection is made first, because a pooler may have to make one as well.
        let second = try Connection(url: url, options)
        let taking = Statement("SELECT pg_advisory_xact_lock($1::bigint)", number)
        let trying = Statement("SELECT pg_try_advisory_xact_lock($1::bigint)", number)
        _ = try first.run([Statement("BEGIN"), taking], commits: false, until: deadline)
        // The caller goes on with its connection, whatever came of this.
        defer { _ = try? first.run([Statement("ROLLBACK")], commits: false, until: options.connectDeadline) }
        return try second.read([trying], until: deadline)[0].first { row in row.bool() } == false
    }

    /// Every streaming connection counts, because nothing tells a standby's from an archive's; a role without rights sees no
    /// state. The last column is the number of a lock that nodes which start together do not share.
    private static let asking = Statement(
        """
        SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
            (SELECT count(*) FROM pg_stat_replication WHERE coalesce(state, 'streaming') = 'streaming'),
            pg_backend_pid()::bigint << 32
        """)
}
