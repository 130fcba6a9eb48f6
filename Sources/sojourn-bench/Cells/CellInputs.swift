/// What the model of cells is given: figures that were measured, and assumptions about users.
struct CellInputs: Encodable {
    /// The devices of all regions.
    var devices = 1e9
    var regions = 3.0
    /// Sessions that one primary is to hold at most.
    var cellDevices = 100e6
    /// The hours of a day in which a device is used. It refreshes once in each.
    var usedHours = 8.0
    /// The busiest second of a region's day, beside the mean of that day.
    var peakToMean = 2.0
    /// Phones and tablets that a user has, on average.
    var devicesPerUser = 1.6
    /// Logins of a device in a year: one for each longest life of a session, lost phones, new apps.
    var loginsPerYear = 4.0

    /// Microseconds of PostgreSQL for a refresh, and of a node.
    var postgresMicroseconds = 57.0
    var nodeMicroseconds = 70.0
    /// Cores of a primary, and the share of them that the peak may take.
    var primaryCores = 8.0
    var busyShare = 0.5
    /// Bytes of a session with its indexes, and sessions that ended in the last 30 days, for each that lives.
    var sessionBytes = 424.0
    var endedShare = 0.3
    /// Bytes of WAL for a refresh, with the pages that are written whole, compressed, once in 15 minutes.
    var walBytes = 860.0
    /// Logins that a primary commits in a second.
    var primaryLogins = 1300.0
    /// Seconds without a primary when one fails.
    var failOver = 20.0
    /// Seconds without a whole region.
    var regionOutage = 3600.0
    /// The longest pause before a phone asks again, in seconds.
    var retryMax = 30.0
    /// Bytes of a name in the directory, and names of one user: username, mailbox, identities, passkeys.
    var nameBytes = 100.0
    var namesPerUser = 3.0
    /// Microseconds of each primary for a user that moves, and the share of its cores that moves may take.
    var moveMicroseconds = 2000.0
    var moveShare = 0.1

    /// Every input by its name of the command line.
    static var names: [(name: String, path: WritableKeyPath<CellInputs, Double>)] {
        [
            ("devices", \.devices), ("regions", \.regions), ("cell_devices", \.cellDevices),
            ("used_hours", \.usedHours), ("peak_to_mean", \.peakToMean), ("devices_per_user", \.devicesPerUser),
            ("logins_per_year", \.loginsPerYear), ("postgres_us", \.postgresMicroseconds),
            ("node_us", \.nodeMicroseconds),
            ("primary_cores", \.primaryCores), ("busy_share", \.busyShare), ("session_bytes", \.sessionBytes),
            ("ended_share", \.endedShare), ("wal_bytes", \.walBytes), ("primary_logins", \.primaryLogins),
            ("fail_over", \.failOver), ("region_outage", \.regionOutage), ("retry_max", \.retryMax),
            ("name_bytes", \.nameBytes), ("names_per_user", \.namesPerUser), ("move_us", \.moveMicroseconds),
            ("move_share", \.moveShare),
        ]
    }

    init() {}

    /// Reads `name=value,name=value` over the defaults.
    init(_ text: String) throws {
        for pair in text.split(separator: ",") {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, let known = Self.names.first(where: { $0.name == parts[0] }),
                let value = Double(parts[1]), value.isFinite, value > 0
            else {
                throw UsageError(
                    "--with takes NAME=NUMBER, parted by commas: \(Self.names.map(\.name).joined(separator: ", "))")
            }
            self[keyPath: known.path] = value
        }
        guard regions == regions.rounded(), regions <= 24, usedHours <= 24, busyShare <= 1, devices <= 1e12,
            regionOutage <= 21_600, failOver <= regionOutage, retryMax >= 1, retryMax <= 7200
        else { throw UsageError("--with: a number is out of range; regions is a whole one, and shares are at most 1") }
    }

    /// Refreshes a second of one primary that does nothing else, with all of its cores.
    var primaryRefreshes: Double { primaryCores / postgresMicroseconds * 1e6 }
}

/// The cells of one region, and what each of them has to do.
struct RegionPlan {
    /// The share of all devices: the second region has half of the first one's, the third a third of it.
    let share: Double
    let devices: Double
    /// Refreshes a second, the mean of a day and the busiest second.
    let mean: Double
    let peak: Double
    /// The cells that each limit asks for: sessions, refreshes, logins.
    let limits: (sessions: Double, refreshes: Double, logins: Double)

    init(region: Int, devices all: Double, _ inputs: CellInputs) {
        let weights = (1...Int(inputs.regions)).map { 1 / Double($0) }
        share = weights[region] / weights.reduce(0, +)
        devices = all * share
        mean = devices * inputs.usedHours / 86_400
        peak = mean * inputs.peakToMean
        let logins = devices * inputs.loginsPerYear / (365 * 86_400) * inputs.peakToMean
        limits = (
            devices / inputs.cellDevices, peak / (inputs.primaryRefreshes * inputs.busyShare),
            logins / (inputs.primaryLogins * inputs.busyShare)
        )
    }

    var cells: Double {
        max(1, limits.sessions.rounded(.up), limits.refreshes.rounded(.up), limits.logins.rounded(.up))
    }
}
