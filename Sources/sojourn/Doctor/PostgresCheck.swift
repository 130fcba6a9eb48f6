import PostgresStore
import Server
import Sessions

/// What `sojourn doctor` finds in a PostgreSQL database, whether nodes serve it or not. It is read, and not changed.
struct PostgresCheck {
    let configuration: Configuration
    let url: String
    /// In Unix seconds.
    let now: Int64

    /// Every check, in an order in which each explains the next.
    var findings: [Finding] {
        let survey: PostgresStore.DatabaseReport
        do throws(PostgresStore.OpenError) {
            survey = try PostgresStore.DatabaseReport(url: url, options: .init(clock: .system))
        } catch { return [Finding(.fail, "database", error.description)] }
        return findings(in: survey)
    }

    /// Every check of a database that was read.
    func findings(in survey: PostgresStore.DatabaseReport) -> [Finding] {
        var findings = [Self.server(survey), Self.clock(survey.clockSkew)]
        if survey.appliedCount == 0 {
            return findings + [Finding(.ok, "migrations", "the schema is empty: the first start makes its tables")]
        }
        let contents = ContentsCheck(configuration: configuration, now: now)
        findings.append(contents.migrations(survey.missing, appliedCount: survey.appliedCount))
        guard let held = survey.contents else {
            return findings + [contents.clock(survey.lastAppliedAt)].compactMap { $0 }
        }
        findings += contents.findings(held.settings, held.clients, held.keys, newest: survey.lastAppliedAt)
        return findings + contents.webhooks(held.webhooks)
    }

    /// What to do about a database in which a node finds what cannot be.
    static let damaged =
        "The PostgreSQL database is in a state that this program never leaves (the nodes' log has the details): "
        + "undo what was changed there by hand. If nothing was, 'pg_amcheck --heapallindexed' finds damage: REINDEX mends an "
        + "index; for all else promote a standby, or restore the newest backup, which ends no session."

    /// Whether this machine's clock agrees with the database's.
    static func clock(_ skew: ClockSkew) -> Finding {
        let lead = (skew.lead / .milliseconds(1)).rounded() / 1000
        let sentence = "this machine's is \(abs(lead)) s \(lead < 0 ? "behind" : "ahead of") the database's"
        if !skew.isTooLarge { return Finding(.ok, "clocks", sentence) }
        return Finding(
            .warn, "clocks",
            sentence + ": tokens can slip past an ending by that; let every node and the database keep time by NTP "
                + "(chrony, systemd-timesyncd)")
    }

    private static func server(_ survey: PostgresStore.DatabaseReport) -> Finding {
        let name = "PostgreSQL \(survey.serverVersion) at \(survey.host)"
        // A name of a host starts with neither; a folder with the one, an abstract socket with the other.
        let isSocket = survey.host.isEmpty || survey.host.hasPrefix("/") || survey.host.hasPrefix("@")
        if survey.isEncrypted || isSocket || ["localhost", "127.0.0.1", "::1"].contains(survey.host) {
            return Finding(.ok, "database", name + (survey.isEncrypted ? " answers, encrypted" : " answers"))
        }
        return Finding(
            .warn, "database",
            "\(name) answers, and all that goes there can be read on the way: ask for encryption "
                + "(?sslmode=verify-full&sslrootcert=FILE)")
    }
}
