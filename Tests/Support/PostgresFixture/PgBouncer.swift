import Glibc
import Synchronization

/// A PgBouncer in transaction mode in front of a server, in a temporary folder; it ends with this process however that ends.
public final class PgBouncer: Sendable {
    /// The one that all tests of this process share, in front of the server that they share.
    public static var shared: PgBouncer {
        get throws { try starting.get() }
    }

    private static let starting = Result { try PgBouncer(before: PostgresServer.shared) }

    private let folder: String
    private let server: PostgresServer
    private let pipe: Int32
    private let shell: pid_t
    private let lastDatabase = Atomic<Int>(0)
    private static let databasesMax = 400

    /// Starts one that has fewer connections to `server` than a store asks it for.
    public init(before server: PostgresServer) throws {
        var template = Array("/tmp/sojourn-bouncer-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PostgresServer.NotStarted(description: "no temporary folder") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.server = server
        let ends = try Command.connectedPair()
        pipe = ends[1]
        shell = try PostgresServer.spawn(Self.script, [folder, Self.configuration(folder, server)], input: ends[0])
        Glibc.close(ends[0])
        let deadline = ContinuousClock.now + .seconds(30)
        while access(folder + "/state", F_OK) != 0, ContinuousClock.now < deadline { usleep(10_000) }
        guard PostgresServer.text(folder + "/state").hasPrefix("ready") else {
            throw PostgresServer.NotStarted(
                description: "PgBouncer did not start (pgbouncer): \(PostgresServer.text(folder + "/log"))")
        }
    }

    /// Waits for the shell, as a server does.
    deinit {
        Glibc.close(pipe)
        var status: Int32 = 0
        waitpid(shell, &status, 0)
    }

    /// It knows no `options` of a connection, so that each schema is a database here, and its connections begin with a search path.
    private static func configuration(_ folder: String, _ server: PostgresServer) -> String {
        let databases = (1...databasesMax).map { number in
            "b\(number) = host=\(server.folder) dbname=postgres user=sojourn connect_query='SET search_path TO b\(number)'"
        }
        return """
            [databases]
            \(databases.joined(separator: "\n"))
            [pgbouncer]
            pool_mode = transaction
            default_pool_size = 3
            server_idle_timeout = 1
            max_client_conn = 1000
            auth_type = any
            listen_port = 6432
            listen_addr =
            unix_socket_dir = \(folder)
            logfile = \(folder)/log
            pidfile = \(folder)/pid
            """
    }

    /// Runs as the user `postgres` when started by root, because PgBouncer does not run as root. `$0` is the folder.
    private static let beginning = """
        cd /
        PATH=$(echo /usr/lib/postgresql/*/bin | tr ' ' ':'):$PATH:/usr/sbin
        as() { if [ "$(id -u)" = 0 ]; then chown -R postgres "$0"; setpriv --reuid postgres --regid postgres --init-groups "$@"; else "$@"; fi; }
        begin() {
            as pgbouncer -q -d "$0/pgbouncer.ini" || return 1
            for try in $(seq 300); do pg_isready -q -h "$0" -p 6432 -d b1 && return 0; sleep 0.1; done
            return 1
        }
        kill_it() {
            pid=$(cat "$0/pid") && kill -KILL "$pid"
            while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
            rm -f "$0/pid" "$0/.s.PGSQL.6432" "$0/.s.PGSQL.6432.lock"
        }

        """
    private static let script =
        beginning + """
            exec >"$0/log" 2>&1
            echo "$1" >"$0/pgbouncer.ini"
            if begin; then echo ready >"$0/new"; else echo failed >"$0/new"; fi
            mv "$0/new" "$0/state"
            cat >/dev/null
            kill_it
            rm -rf "$0"
            """

    /// Kills it and starts it again.
    public func restart() throws {
        let result = try Command.run(["sh", "-c", Self.beginning + "kill_it; begin", folder])
        guard result.status == 0 else { throw PostgresServer.NotStarted(description: result.text) }
    }

    /// The URL of a new, empty schema for one test alone.
    public func newDatabase() throws -> String {
        let number = lastDatabase.wrappingAdd(1, ordering: .relaxed).newValue
        guard number <= Self.databasesMax else { throw PostgresServer.NotStarted(description: "too many databases") }
        try server.run("CREATE SCHEMA b\(number)")
        return "postgres://sojourn@/b\(number)?host=\(folder)&port=6432"
    }
}
