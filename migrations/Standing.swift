extension Migration {
    /// A step that a database has applied, as its table `schema_migrations` records it.
    public struct Record: Hashable, Sendable {
        /// The number of the step.
        public let version: Int
        /// Its name.
        public let name: String
        /// The SHA-256 digest of its text.
        public let digest: [UInt8]
        /// The step that a program must know to work on the schema from this step on.
        public let readableBy: Int
        /// The newest step that the program knew which applied this one.
        public let newestKnown: Int

        /// A record.
        public init(version: Int, name: String, digest: [UInt8], readableBy: Int, newestKnown: Int) {
            self.version = version
            self.name = name
            self.digest = digest
            self.readableBy = readableBy
            self.newestKnown = newestKnown
        }
    }

    /// The steps of a database beside those of a program.
    ///
    /// Programs of two neighbouring releases work on one schema. The older one may start on a schema with steps that it does not
    /// know, as long as it knows the step that each of them names as `readable by`.
    public struct Standing: Sendable {
        /// The reason for which the program cannot use the database.
        public enum Problem: Error, Hashable, Sendable {
            /// A step of a newer program is not readable by this one.
            case newer(version: Int, readableBy: Int, newestKnown: Int)
            /// The step has another text in this program, or was left out.
            case changed(version: Int)
        }

        /// The steps that the database has not applied, in order.
        public let missing: [Migration]
        /// The applied steps that the program does not know, in order.
        public let newer: [Record]
        /// The step that a program must know to work on the schema; 1 for an empty database.
        public let readableBy: Int
        private let applied: [Int: Record]

        /// Compares `records` with the steps that a program knows. An index that is built concurrently may be missing before
        /// applied steps, because later ones need not wait for it.
        public init(
            of records: [Record], known: [Migration], digest: (Migration) -> [UInt8]
        ) throws(Problem) {
            let newestKnown = known.last?.version ?? 0
            let newest = records.map(\.version).max() ?? 0
            readableBy = records.map(\.readableBy).max() ?? 1
            if newest > newestKnown, readableBy > newestKnown {
                throw .newer(version: newest, readableBy: readableBy, newestKnown: newestKnown)
            }
            applied = Dictionary(records.map { ($0.version, $0) }, uniquingKeysWith: { first, _ in first })
            var missing: [Migration] = []
            for migration in known {
                if let record = applied[migration.version] {
                    guard record.digest == digest(migration) else { throw .changed(version: migration.version) }
                } else if migration.version < newest, !migration.postgres.isConcurrent {
                    throw .changed(version: migration.version)
                } else {
                    missing.append(migration)
                }
            }
            self.missing = missing
            newer = records.filter { $0.version > newestKnown }
        }

        /// Whether the database has applied no step.
        public var isEmpty: Bool { applied.isEmpty }

        /// The numbers and names of the steps that the program does not know.
        public var newerNames: [String] { newer.map { "\($0.version) \($0.name)" } }

        /// The value of `readable by` in the record of `migration`, which comes after all applied steps.
        public func readableBy(after migration: Migration) -> Int {
            max(readableBy, migration.postgres.readableBy ?? 1)
        }

        /// Whether programs may still run that use what `migration` drops. They may not if the step that retired the dropped parts
        /// was applied by a program that did not know `migration`, because that was a release between, or if a program that knew
        /// `migration` made the database.
        func mayBeInUse(_ migration: Migration) -> Bool {
            guard migration.postgres.contracts, !applied.isEmpty else { return false }
            if let first = applied[1], first.newestKnown >= migration.version { return false }
            guard let readable = applied[migration.postgres.readableBy ?? migration.version] else { return true }
            return readable.newestKnown >= migration.version
        }
    }

    /// How far a run goes.
    public enum Run: Hashable, Sendable {
        /// The start of a node: indexes that can be built beside nodes are left for later.
        case start
        /// A command: indexes are built, too.
        case command
        /// A command that vouches for it that no earlier program runs: parts are dropped, whichever programs used them.
        case contraction
    }
}

extension Migration.Standing {
    /// The next work of a run.
    public enum Next: Sendable {
        /// Nothing is missing that the run applies.
        case nothing
        /// The step is applied in a transaction.
        case apply(Migration)
        /// The indexes of the step are built.
        case build(Migration)
        /// The step waits, because programs may run that use what it drops. With `isRetired`, the step that retired the dropped
        /// parts is applied, by a program that knew both.
        case waits(Migration, isRetired: Bool)
    }

    /// The next work of `run` on PostgreSQL. A step that drops something comes after all steps before it.
    public func next(in run: Migration.Run) -> Next {
        if run != .contraction, let early = missing.first(where: mayBeInUse) {
            return .waits(early, isRetired: applied[early.postgres.readableBy ?? early.version] != nil)
        }
        let lastContract = missing.last { $0.postgres.contracts }?.version ?? 0
        for migration in missing {
            guard migration.postgres.isConcurrent else { return .apply(migration) }
            if run != .start || migration.version < lastContract { return .build(migration) }
        }
        return .nothing
    }
}

extension Migration {
    /// The faults in `migrations`: steps after which a neighbouring release could not go on. Empty if there are none.
    public static func faults(in migrations: [Migration]) -> [String] {
        migrations.flatMap { migration in migration.faults(after: migrations.filter { $0.version < migration.version })
        }
    }

    private func faults(after earlier: [Migration]) -> [String] {
        var faults: [String] = []
        if sqlite.readableBy != postgres.readableBy { faults.append("\(name): the scripts differ in 'readable by'") }
        if let readable = postgres.readableBy, readable > version {
            faults.append("\(name): no program could read it")
        }
        if sqlite.isConcurrent { faults.append("\(name): SQLite builds no index concurrently") }
        if postgres.isConcurrent, postgres.effects.count != 1 || postgres.indexes == nil {
            faults.append("\(name): a concurrent step has CREATE INDEX CONCURRENTLY IF NOT EXISTS alone")
        }
        for script in [sqlite, postgres] where script.contracts {
            guard let readable = script.readableBy, readable < version else {
                faults.append("\(name): a step that drops something says which earlier step retired it ('readable by')")
                continue
            }
            let retired = earlier.filter { $0.version <= readable }.flatMap(\.postgres.effects)
                .filter { $0.kind == .retires }.flatMap(\.tables)
            for table in script.effects.filter({ $0.side == .contract }).flatMap(\.tables)
            where !retired.contains(table) {
                faults.append("\(name): no step up to \(readable) retires parts of \(table)")
            }
        }
        return faults
    }
}
