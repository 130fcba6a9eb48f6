import Synchronization

extension PostgresServer {
    private static let emptied = Mutex<[String]>([])

    /// Gives `body` the URL of a schema that holds what a new one holds after `prepare`, which makes the tables.
    ///
    /// A schema is emptied for the next test when `body` returns, because that takes a quarter of the time of making the tables
    /// again. Only for what leaves the tables as they are, and has closed its connections; on `shared` alone.
    public func withPreparedDatabase(
        _ prepare: (_ url: String) async throws -> Void, _ body: (_ url: String) async throws -> Void
    ) async throws {
        let schema: String
        if let used = Self.emptied.withLock({ $0.popLast() }) {
            schema = used
            try run(Self.emptying(schema))
        } else {
            schema = try newSchema()
            try await prepare(url(schema: schema))
            try run(Self.keeping(schema))
        }
        try await body(url(schema: schema))
        Self.emptied.withLock { $0.append(schema) }
    }

    /// Copies every table that has rows to a schema beside it.
    private static func keeping(_ schema: String) -> String {
        """
        DO $$ DECLARE name text; found boolean; BEGIN
            CREATE SCHEMA \(schema)_first;
            FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '\(schema)' LOOP
                EXECUTE format('SELECT EXISTS (SELECT FROM \(schema).%I)', name) INTO found;
                IF found THEN EXECUTE format('CREATE TABLE \(schema)_first.%I AS TABLE \(schema).%1$I', name); END IF;
            END LOOP;
        END $$
        """
    }

    /// Deletes every row, puts back the kept ones, and lets every number begin anew. Foreign keys are not looked at meanwhile.
    private static func emptying(_ schema: String) -> String {
        """
        DO $$ DECLARE name text; BEGIN
            SET LOCAL session_replication_role = replica;
            SET LOCAL lock_timeout = '10s';
            FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '\(schema)' LOOP
                EXECUTE format('DELETE FROM \(schema).%I', name);
            END LOOP;
            FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '\(schema)_first' LOOP
                EXECUTE format(
                    'INSERT INTO \(schema).%I OVERRIDING SYSTEM VALUE TABLE \(schema)_first.%1$I', name);
            END LOOP;
            FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = '\(schema)' LOOP
                PERFORM setval(format('\(schema).%I', name)::regclass, 1, false);
            END LOOP;
        END $$
        """
    }
}
