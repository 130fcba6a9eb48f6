internal import Calendar
internal import Configuration
internal import Geolocation
internal import Locks
internal import Telemetry

/// Where network addresses are, by a file that its publisher makes anew every week: a new one in its place is taken while the
/// server runs, and one that cannot be used changes nothing but the log.
final class GeoDatabaseFile: Sendable {
    /// How often the file is looked at.
    static let period = Duration.seconds(5)

    private struct State {
        var database: GeoDatabase
        /// What was found at the last look.
        var seen: FileVersion?
        /// Whether the log has told that this one cannot be used.
        var isRefused = false
        /// Whether the log has told that the database contradicts itself.
        var isDoubted = false
    }

    private let path: String
    private let folder: String
    private let logger: Logger
    private let state: Locked<State>

    /// Opens the file for the first time; whatever is wrong with it is a reason not to start. Copies are made in `folder`.
    init(path: String, copyingTo folder: String, logger: Logger) throws(StartError) {
        do throws(GeoDatabaseError) {
            let database = try GeoDatabase(path: path, copyingTo: folder)
            state = Locked(State(database: database, seen: database.version))
        } catch { throw .geoDatabase(path: path, error) }
        (self.path, self.folder, self.logger) = (path, folder, logger)
        log(state.withLock { $0.database })
    }

    /// When the publisher made what is in use, in seconds since 1970.
    var builtAt: Int64 { state.withLock { $0.database }.builtAt }

    /// Where `address` is; nil: unknown, or private. May wait for the disk.
    func location(of address: String) -> Location? {
        let database = state.withLock { $0.database }
        do throws(GeoDatabaseError) {
            return try database.location(of: address)
        } catch {
            let isNew = state.withLock { state in
                defer { state.isDoubted = true }
                return !state.isDoubted
            }
            if isNew {
                logger.warning(
                    "the geo database is damaged: some addresses have no place",
                    ["path": .string(path), "cause": .string(error.description)])
            }
            return nil
        }
    }

    /// Works until the task is cancelled.
    @concurrent func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.period)
            if Task.isCancelled { return }
            look()
        }
    }

    /// One look at the file. One that is new is taken when it has stayed as it is until the next look: it may take a while to
    /// be written.
    func look() {
        let found = FileVersion(path: path)
        let isDue = state.withLock { state in
            defer { if state.seen != found { (state.seen, state.isRefused) = (found, false) } }
            return state.seen == found && found != state.database.version && !state.isRefused
        }
        guard isDue else { return }
        do throws(GeoDatabaseError) {
            let database = try GeoDatabase(path: path, copyingTo: folder)
            state.withLock { $0 = State(database: database, seen: database.version) }
            log(database)
        } catch {
            // Who writes it is not ready: the next look sees another file.
            if error == .changing { return }
            state.withLock { $0.isRefused = true }
            logger.warning(
                "the new geo database cannot be used, the old one stays",
                ["path": .string(path), "cause": .string(error.description)])
        }
    }

    private func log(_ database: GeoDatabase) {
        logger.notice(
            "geo database loaded",
            [
                "path": .string(path), "kind": .string(database.kind),
                "built_at": .string(UTCTime(secondsSinceEpoch: Int64(database.builtAt)).rfc3339),
            ])
    }
}

extension ServerConfiguration {
    /// The file of places that the configuration names, opened; nil: it names none.
    func geoDatabase(logger: Logger) throws(StartError) -> GeoDatabaseFile? {
        try geo.database.map { path throws(StartError) in
            try GeoDatabaseFile(path: path, copyingTo: database.folder, logger: logger)
        }
    }
}

extension MetricsRegistry {
    /// Shows how old the file of places is.
    func showGeoDatabase(_ file: GeoDatabaseFile) { showGeoDatabase { Double(file.builtAt) } }

    /// Shows when a file of places was made, as `readTime` gives it.
    func showGeoDatabase(builtAt readTime: @escaping @Sendable () -> Double) {
        gauge(
            "sojourn_geo_database_build_seconds", help: "When the geo database was made, in seconds since 1970.",
            reading: readTime)
    }
}
