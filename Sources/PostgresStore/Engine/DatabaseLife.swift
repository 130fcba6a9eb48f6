public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// Which server answers, and since when it runs.
    public struct DatabaseLife: Hashable, Sendable {
        /// The identity of the cluster's files, which standbys and physical copies share; nil if the role may not read it.
        public var system: Int64?
        /// The number of the last switch to another primary; nil if the role may not read it.
        public var timeline: Int64?
        /// The identity of the tables, because a restored dump makes them anew.
        public var tables: Int64
        /// The start of the server, in microseconds since 1970 by its own clock.
        public var startedAt: Int64
        /// How long the server has run, by its own clock.
        public var upFor: Duration

        /// Whether `other` is read from the same server since the same start, or from one that has lost nothing.
        public func isSame(as other: Self) -> Bool {
            (system, timeline, tables, startedAt) == (other.system, other.timeline, other.tables, other.startedAt)
        }

        /// Whether the server of `next` was a standby that has become the primary after this one, and no restored copy.
        ///
        /// A standby has the same files, and its promotion begins a timeline. A copy that was restored to an earlier point has
        /// and does the same, but its server is started for it: a standby has run already when the primary was last seen.
        ///
        /// - Parameter ago: the time since this one was last seen.
        public func isFollowed(by next: Self, seen ago: Duration) -> Bool {
            guard let system, let timeline, let nextTimeline = next.timeline else { return false }
            return next.system == system && next.tables == tables && nextTimeline > timeline && next.upFor > ago
        }

        /// A life of the given values.
        public init(system: Int64?, timeline: Int64?, tables: Int64, startedAt: Int64, upFor: Duration) {
            self.system = system
            self.timeline = timeline
            self.tables = tables
            self.startedAt = startedAt
            self.upFor = upFor
        }
    }

    /// Which server answers now.
    public func life() async throws(StoreError) -> DatabaseLife {
        guard let life = try await perform(on: reads, DatabaseLife.read) else {
            throw .corrupted("the database does not say since when it runs")
        }
        return life
    }
}

extension PostgresStore.DatabaseLife {
    @Sendable fileprivate static func read(
        _ connection: Connection, _ limit: TimeLimit
    ) throws(DatabaseError) -> Self? {
        let rows: Rows
        do throws(DatabaseError) {
            rows = try connection.read([asking], until: limit.deadline)[0]
        } catch {
            guard case .refused(state: let state, _) = error, withoutFunctions.contains(state) else { throw error }
            rows = try connection.read([askingWithoutRights], until: limit.deadline)[0]
        }
        return try rows.first { row in Self(&row) }
    }

    /// No privilege, no such function, no such feature: not every engine has what PostgreSQL has.
    private static let withoutFunctions = ["42501", "42883", "0A000"]

    /// The timeline is in the name of the current file of the write-ahead log: the control file has it only after the next
    /// checkpoint.
    fileprivate static let asking = Statement(
        """
        SELECT (SELECT system_identifier FROM pg_control_system()),
            CASE WHEN NOT pg_is_in_recovery()
                THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END, \(always)
        """)
    /// A function is refused when the statement begins, even in a branch that is not taken.
    fileprivate static let askingWithoutRights = Statement("SELECT NULL::bigint, NULL::bigint, \(always)")

    private static let always = """
        'provider_checks'::regclass::oid::bigint,
        (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
        (extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000000)::bigint
        """

    fileprivate init(_ row: inout Row) {
        self.init(
            system: row.optional { row in row.integer() }, timeline: row.optional { row in row.integer() },
            tables: row.integer(), startedAt: row.integer(), upFor: .microseconds(row.integer()))
    }
}
