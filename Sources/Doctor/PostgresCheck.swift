internal import Configuration
internal import PostgresStore
internal import Server
internal import Sessions

/// The checks of a PostgreSQL database, with or without running nodes. They read and never write.
struct PostgresCheck {
    let contents: ContentsCheck
    let url: String

    /// Runs every check, in an order in which each explains the next.
    var findings: [Finding] {
        let report: PostgresStore.DatabaseReport
        do throws(PostgresStore.OpenError) {
            report = try PostgresStore.DatabaseReport(url: url, options: .init(clock: .system))
        } catch { return [Finding(.fail, "database", error.description)] }
        return findings(in: report) + (report.durability.map(Self.durability) ?? [])
    }

    /// What a fail-over can lose, as it was read.
    static func durability(_ report: PostgresStore.DurabilityReport) -> [Finding] {
        if report.warnings.isEmpty {
            let standbys = report.standbyCount == 0 ? "no standby follows" : "synchronous_standby_names is set"
            return [Finding(.ok, "fail-over", standbys + ", and locks of one connection keep another one out")]
        }
        return report.warnings.map { Finding(.warn, "fail-over", $0) }
    }

    /// Runs every check of a database that was read.
    func findings(in report: PostgresStore.DatabaseReport) -> [Finding] {
        var findings = [Self.server(report), Self.clock(report.clockSkew, report.contents?.settings)]
        // The rows have the database's time.
        let contents = ContentsCheck(
            configuration: contents.configuration, environment: contents.environment,
            now: contents.now - Int64((report.clockSkew.lead / .seconds(1)).rounded()))
        if report.appliedCount == 0 {
            return findings + [Finding(.ok, "migrations", "the schema is empty: the first start makes its tables")]
        }
        findings.append(
            contents.migrations(
                report.missing, appliedCount: report.appliedCount, newerNames: report.newerNames))
        guard let held = report.contents else {
            return findings + [contents.clock(report.lastAppliedAt)].compactMap { $0 }
        }
        findings += contents.findings(held.settings, held.clients, held.keys, newest: report.lastAppliedAt)
        return findings + contents.webhooks(held.deliveries)
    }

    /// The remedy for a database with rows that contradict each other.
    static let damaged =
        "The PostgreSQL database is in a state that this program never leaves (the nodes' log has the details): "
        + "undo what was changed there by hand. If nothing was, 'pg_amcheck --heapallindexed' finds damage: REINDEX mends an "
        + "index; for all else promote a standby, or restore the newest backup, which ends no session."

    /// The difference between the clocks of this machine and of the database.
    static func clock(_ skew: ClockSkew, _ settings: Settings?) -> Finding {
        let lead = (skew.lead / .milliseconds(1)).rounded() / 1000
        let sentence = "this machine's is \(abs(lead)) s \(lead < 0 ? "behind" : "ahead of") the database's"
        if !skew.exceeds(ClockSkew.allowed(for: settings?.sessions)) { return Finding(.ok, "clocks", sentence) }
        return Finding(
            .warn, "clocks",
            sentence
                + ": the node goes by the database's time, and is not ready while other nodes agree with that; let every "
                + "node and the database keep time by NTP (chrony, systemd-timesyncd)")
    }

    private static func server(_ report: PostgresStore.DatabaseReport) -> Finding {
        let name = "PostgreSQL \(report.serverVersion) at \(report.host)"
        // A folder begins with a slash, an abstract socket with an at sign; no host name begins with either.
        let isSocket = report.host.isEmpty || report.host.hasPrefix("/") || report.host.hasPrefix("@")
        if report.isEncrypted || isSocket || ["localhost", "127.0.0.1", "::1"].contains(report.host) {
            return Finding(.ok, "database", name + (report.isEncrypted ? " answers, encrypted" : " answers"))
        }
        return Finding(
            .warn, "database",
            "\(name) answers, and all that goes there can be read on the way: ask for encryption "
                + "(?sslmode=verify-full&sslrootcert=FILE)")
    }
}
