public import Configuration
public import PostgresStore
public import SQLiteStore
public import Sessions

/// An open database of one of the two kinds.
public enum Database: Sendable {
    /// A file that only this process has open.
    case sqlite(SQLiteStore)
    /// A PostgreSQL database, which other nodes may use too.
    case postgres(PostgresStore)

    /// The store, as the domain uses it.
    public var store: any Store {
        switch self {
        case .sqlite(let store): store
        case .postgres(let store): store
        }
    }

    /// The time: that of the environment, or of the database that all nodes share.
    var clock: WallClock {
        switch self {
        case .sqlite(let store): store.clock
        case .postgres(let store): store.clock
        }
    }

    /// The time for what the command line does without the database: the machine's, or that of a database that all nodes share,
    /// if it answers.
    public static func clock(_ configuration: ServerConfiguration, _ environment: Environment) -> WallClock {
        guard case .postgres(let url) = configuration.database.location else { return environment.clock }
        return (try? PostgresStore.time(of: url, options: .init(clock: environment.clock))) ?? environment.clock
    }

    /// The number of waiting changes.
    var waitingChanges: Int {
        switch self {
        case .sqlite(let store): store.waitingChanges
        case .postgres(let store): store.waitingChanges
        }
    }

    /// Builds the indexes that the start has left, while the database serves. One process alone has a file open, so that a start
    /// leaves none there.
    func beginBuildingIndexes() {
        if case .postgres(let store) = self { store.beginBuildingIndexes() }
    }

    /// Waits for pending work and closes the database.
    func close() async {
        switch self {
        case .sqlite(let store): await store.close()
        case .postgres(let store): await store.close()
        }
    }

    /// Returns if the server of a PostgreSQL database takes connections. A database in a file has no server.
    static func reach(_ configuration: ServerConfiguration, clock: WallClock) throws(StartError) {
        guard case .postgres(let url) = configuration.database.location else { return }
        do throws(PostgresStore.OpenError) {
            try PostgresStore.reach(url: url, options: PostgresStore.Options(clock: clock))
        } catch { throw .postgres(error) }
    }

    /// Opens the database of the configuration, and runs missing migrations.
    static func open(
        _ configuration: ServerConfiguration, _ environment: Environment, _ observation: StoreObservation
    ) throws(StartError) -> Database {
        switch configuration.database.location {
        case .sqlite(let path):
            var options = SQLiteStore.Options(clock: environment.clock)
            options.observer = observation.sqlite
            do throws(OpenError) {
                return .sqlite(try SQLiteStore(path: path, options: options))
            } catch { throw .database(error) }
        case .postgres(let url):
            var options = PostgresStore.Options(clock: environment.clock)
            options.followsDatabaseClock = environment.followsDatabaseClock
            options.testClock = environment.testClock
            options.observer = observation.postgres
            do throws(PostgresStore.OpenError) {
                return .postgres(try PostgresStore(url: url, options: options))
            } catch { throw .postgres(error) }
        }
    }
}
