import FoundationEssentials
import Glibc

/// The PostgreSQL database of several nodes.
struct ClusterDatabase {
    let url: String
    /// The folder in which each node has one of its own.
    let folder: String
    /// All nodes have the same keys.
    private let common: ServerProcess.Launch

    init(url: String, folder: String, program: String) throws {
        (self.url, self.folder) = (url, folder)
        common = try ServerProcess.Launch(program: program, folder: folder)
    }

    /// How the node of that name is started. Its commits wait for so many milliseconds.
    func launch(_ name: String, commitDelay: Int = 0) throws -> ServerProcess.Launch {
        var launch = common
        launch.url = commitDelay == 0 ? url : delayed(commitDelay)
        launch.folder = folder + "/" + name
        guard mkdir(launch.folder, 0o700) == 0 || errno == EEXIST else { throw Failure.system(launch.folder) }
        return launch
    }

    /// The URL with settings of the connection: the one that commits first waits for the others (`commit_delay`, in
    /// microseconds), even if there are none.
    private func delayed(_ milliseconds: Int) -> String {
        let settings = "-ccommit_delay%3D\(milliseconds * 1000)%20-ccommit_siblings%3D0"
        if let options = url.firstRange(of: "options=") {
            return url[..<options.upperBound] + settings + "%20" + url[options.upperBound...]
        }
        return url + (url.contains("?") ? "&" : "?") + "options=" + settings
    }

    /// What the server has done since its start.
    struct Work {
        var rows = 0.0
        var transactions = 0.0
        /// Of all processes of the server that run now; NaN if they are of another machine.
        var cpuSeconds = 0.0
    }

    func work() throws -> Work {
        let text = try PostgresCommand.sql(
            """
            SELECT sum(tup_returned + tup_fetched), sum(xact_commit), (SELECT string_agg(pid::text, ' ') FROM pg_stat_activity)
            FROM pg_stat_database WHERE datname = current_database()
            """, at: url, in: folder)
        let columns = text.split(whereSeparator: { $0 == "|" || $0.isNewline })
        guard columns.count == 3, let rows = Double(columns[0]), let transactions = Double(columns[1]) else {
            throw Failure("PostgreSQL's statistics are: \(text)")
        }
        let seconds = columns[2].split(separator: " ").compactMap { pid_t($0) }.map(Self.cpuSeconds)
        return Work(rows: rows, transactions: transactions, cpuSeconds: seconds.reduce(0, +))
    }

    /// The CPU seconds of a process; 0 if it has ended.
    private static func cpuSeconds(_ pid: pid_t) -> Double {
        let line = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Refuses every connection for that time. Returns the process that allows them again. It is connected to another database,
    /// because a database cannot be closed from within.
    func goAway(seconds: Int) throws -> pid_t {
        let script = """
            SELECT current_database() AS name \\gset
            \\connect template1
            ALTER DATABASE :"name" ALLOW_CONNECTIONS false;
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = :'name';
            SELECT pg_sleep(\(seconds));
            ALTER DATABASE :"name" ALLOW_CONNECTIONS true;

            """
        let file = folder + "/outage.sql"
        try Data(script.utf8).write(to: URL(filePath: file))
        return try PostgresCommand.startSQL(file: file, at: url, output: folder + "/outage.txt")
    }
}
