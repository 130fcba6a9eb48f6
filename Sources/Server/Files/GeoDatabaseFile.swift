internal import Calendar
internal import Configuration
internal import Endpoints
internal import Geolocation
internal import Locks
internal import Telemetry

/// The geo database, which its publisher renews every week. A new file is loaded while the server runs. An unusable file is
/// logged, and the old database remains in use.
final class GeoDatabaseFile: Sendable {
    /// The time between two checks of the file.
    static let period = Duration.seconds(5)

    private struct State {
        var database: GeoDatabase
        /// The version of the file at the last check.
        var seen: FileVersion?
        /// True if the log has an entry that this version cannot be used.
        var isRefused = false
        /// True if the log has an entry that the database is damaged.
        var isDoubted = false
    }

    private let path: String
    private let folder: String
    private let logger: Logger
    private let state: Locked<State>

    /// Opens the file for the first time. Every problem of the file prevents the start. Copies are made in `folder`.
    init(path: String, copyingTo folder: String, logger: Logger) throws(StartError) {
        do throws(GeoDatabaseError) {
            let database = try GeoDatabase(path: path, copyingTo: folder)
            state = Locked(State(database: database, seen: database.version))
        } catch { throw .geoDatabase(path: path, error) }
        (self.path, self.folder, self.logger) = (path, folder, logger)
        log(state.withLock { $0.database })
    }

    /// The build time of the database in use, in seconds since 1970.
    var builtAt: Int64 { state.withLock { $0.database }.builtAt }

    /// The location of `address`; nil for an unknown or private one. May wait for the disk.
    func location(of address: String, language: String = "en") -> Location? {
        let database = state.withLock { $0.database }
        do throws(GeoDatabaseError) {
            return try database.location(of: address, language: language)
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

    /// City and country of an address as a page shows them; nil for an unknown or private one. May wait for the disk.
    func place(of address: String, language: String) -> Place? {
        location(of: address, language: language).map {
            let name = [$0.city, $0.countryName ?? $0.countryCode].compactMap(\.self).joined(separator: ", ")
            return Place(name: name, countryCode: $0.countryCode)
        }
    }

    /// Checks the file regularly until the task is cancelled.
    @concurrent func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.period)
            if Task.isCancelled { return }
            look()
        }
    }

    /// Checks the file once. A new version is loaded when the next check finds the same version, because the file may still
    /// be written at the first one.
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
            // The file is still being written: the next check finds another version.
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
                "built_at": .string(UTCTime(secondsSinceEpoch: database.builtAt).rfc3339),
            ])
    }
}

extension ServerConfiguration {
    /// What a device has to share with the phone that lets it in, by the places of `database`.
    func remoteLogins(_ database: GeoDatabaseFile?) -> Proximity {
        var logins = Proximity()
        (logins.same, logins.ipv6PrefixBits) = (limits.remoteLoginSame, limits.ipv6PrefixBits)
        if let database { logins.place = { database.place(of: $0, language: $1) } }
        return logins
    }

    /// Opens the geo database of the configuration; nil without one.
    func geoDatabase(logger: Logger) throws(StartError) -> GeoDatabaseFile? {
        try geo.database.map { path throws(StartError) in
            try GeoDatabaseFile(path: path, copyingTo: database.folder, logger: logger)
        }
    }
}

extension MetricsRegistry {
    /// Shows the build time of the geo database.
    func showGeoDatabase(_ file: GeoDatabaseFile) { showGeoDatabase { Double(file.builtAt) } }

    /// Shows the build time of a geo database, as `readTime` returns it.
    func showGeoDatabase(builtAt readTime: @escaping @Sendable () -> Double) {
        gauge(
            "sojourn_geo_database_build_seconds", help: "When the geo database was made, in seconds since 1970.",
            reading: readTime)
    }
}
