internal import Configuration
public import PostgresStore
public import SQLiteStore
public import Sessions

/// The database that is open: one of the two kinds.
public enum Database: Sendable {
    /// A file that this process alone has open.
    case sqlite(SQLiteStore)
    /// A server that other nodes may use, too.
    case postgres(PostgresStore)

    /// What the domain sees of it.
    public var store: any Store {
        switch self {
        case .sqlite(let store): store
        case .postgres(let store): store
        }
    }

    /// How many changes wait.
    var waitingChanges: Int {
        switch self {
        case .sqlite(let store): store.waitingChanges
        case .postgres(let store): store.waitingChanges
        }
    }

    /// Waits for what was asked and lets go of the database.
    func close() async {
        switch self {
        case .sqlite(let store): await store.close()
        case .postgres(let store): await store.close()
        }
    }

    /// Opens the database that the configuration names, and brings it up to date.
    static func open(
        _ configuration: ServerConfiguration, clock: WallClock, _ observation: StoreObservation
    ) throws(StartError) -> Database {
        switch configuration.database.location {
        case .sqlite(let path):
            var options = SQLiteStore.Options(clock: clock)
            options.observer = observation.sqlite
            do throws(OpenError) {
                return .sqlite(try SQLiteStore(path: path, options: options))
            } catch { throw .database(error) }
        case .postgres(let url):
            var options = PostgresStore.Options(clock: clock)
            options.observer = observation.postgres
            do throws(PostgresStore.OpenError) {
                return .postgres(try PostgresStore(url: url, options: options))
            } catch { throw .postgres(error) }
        }
    }
}
