internal import Locks
internal import Sessions
internal import StoreFoundation

/// Caches settings and clients with the revision at which they were read. Every use compares that revision with the database's,
/// because another node may have changed them.
final class CatalogueCache: Sendable {
    struct Entry: Sendable {
        let revision: Int64
        let catalogue: Catalogue
    }

    private let entry = Locked<Entry?>(nil)
    /// The newest migration that the program knows.
    private let newestKnown: Int

    init(newestKnown: Int) { self.newestKnown = newestKnown }

    /// The statement for the revision and the migration that a program must know.
    static let revisionAndReadableBy = Statement(
        Template("SELECT revision, (SELECT max(readable_by) FROM schema_migrations) FROM catalogue_revision"))

    /// Refuses once a newer program has dropped what this one needs. Takes the result of `revisionAndReadableBy`.
    func check(_ rows: Rows) throws(DatabaseError) {
        let needed = try rows.first { row in
            row.skip(1)
            return Int(row.integer())
        }
        if let needed, needed > newestKnown { throw .outgrown(readableBy: needed, newestKnown: newestKnown) }
    }

    /// The cause of an error on that connection: `.outgrown` if the schema has become too new for the program. Statements name
    /// dropped columns, so that they fail before their answers are checked.
    func cause(
        of error: DatabaseError, on connection: Connection, until deadline: ContinuousClock.Instant
    ) -> DatabaseError {
        guard error.canComeFromNewerSchema else { return error }
        do throws(DatabaseError) {
            for rows in try connection.read([Self.revisionAndReadableBy], until: deadline) { try check(rows) }
        } catch { if case .outgrown = error { return error } }
        return error
    }

    /// The statement for the revision that `current(_:on:until:)` takes.
    static let revision = Statement(Template("SELECT revision FROM catalogue_revision"))

    /// The statement for the revision and the server's clock, in microseconds since 1970.
    static let revisionAndTime = Statement(
        Template("SELECT revision, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM catalogue_revision"))

    /// The revision that was read last; 0 before the first read.
    var lastRevision: Int64 { entry.withLock { $0?.revision ?? 0 } }

    /// The catalogue of the given revision, or of a later one.
    func current(
        _ revision: Rows, on connection: Connection, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> Entry {
        guard let present = try revision.first({ row in row.integer() }) else {
            throw .contradiction("the catalogue has no revision")
        }
        let held = entry.withLock { $0 }
        if let held, held.revision == present { return held }
        let loaded = try load(on: connection, until: deadline)
        entry.withLock { known in
            // A catalogue that was read after `held` is the later one, whatever its revision, because a standby that lagged
            // behind may have become the server.
            if loaded.revision >= known?.revision ?? .min || known?.revision == held?.revision { known = loaded }
        }
        return loaded
    }

    /// The catalogue of the given revision, inside a transaction with one snapshot. A later one may be known already, so that only
    /// a newer one is kept.
    func catalogue(
        ofSnapshot revision: Rows, on connection: Connection, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> Catalogue {
        let present = try revision.first { row in row.integer() }
        if let held = entry.withLock({ $0 }), held.revision == present { return held.catalogue }
        let loaded = try load(on: connection, until: deadline)
        entry.withLock { known in if loaded.revision > known?.revision ?? .min { known = loaded } }
        return loaded.catalogue
    }

    /// Reads the whole catalogue, and repeats until no change comes in between.
    private func load(
        on connection: Connection, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> Entry {
        while true {
            let rows = try connection.read(
                [
                    Self.revisionAndReadableBy, CatalogueSQL.selectSettings, CatalogueSQL.selectClients, Self.revision,
                ], until: deadline)
            try check(rows[0])
            let before = try Self.entry(rows[0], rows[1], rows[2])
            let after = try Self.entry(rows[3], rows[1], rows[2])
            if before.revision == after.revision { return before }
        }
    }

    /// The catalogue of the results of three statements.
    static func entry(_ revision: Rows, _ settings: Rows, _ clients: Rows) throws(DatabaseError) -> Entry {
        guard let revision = try revision.first({ row in row.integer() }),
            let settings = try settings.first(SettingsColumns.read)
        else { throw .contradiction("the settings are missing") }
        let all = try clients.map { (row) throws(CorruptRow) in try ClientColumns.read(&row) }
        return Entry(
            revision: revision,
            catalogue: Catalogue(
                settings: settings,
                clients: Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })))
    }
}
